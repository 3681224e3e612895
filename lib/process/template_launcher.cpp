// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/template_launcher.hpp"

#include "process/descriptors.hpp"
#include "process/worker_template.hpp"

#include <boost/asio/post.hpp>

#include <utility>

namespace skep {

template_launcher::template_launcher(launcher launch, std::shared_ptr<launch_recipe> recipe,
                                     const strand& executor,
                                     const std::shared_ptr<template_supervision>& supervision)
    : launch_(std::move(launch)),
      recipe_(std::move(recipe)),
      executor_(executor),
      supervision_(supervision) {}

template_maker template_launcher::with(guard& process_guard) const {
    return [this, &process_guard](const worker_id& worker, launch_abort& abort) {
        return launch(process_guard, worker, abort);
    };
}

std::unique_ptr<template_port> template_launcher::launch(guard& process_guard, const worker_id& worker,
                                                         launch_abort& abort) const {
    auto [spec, nursery_program] = recipe_->plan_for_template();
    auto output = make_pipe_to_here(launch_);
    auto errors = make_pipe_to_here(launch_);
    spec.descriptors[1] = output.there.get();
    spec.descriptors[2] = errors.there.get();
    auto made =
        std::make_unique<worker_template>(launch_, process_guard, nursery_program, std::move(spec), abort);
    made->count_end(ends_);
    supervise(worker, std::move(output.here), std::move(errors.here), made->copy_of_line());
    return made;
}

void template_launcher::supervise(const worker_id& worker, unique_fd output, unique_fd errors,
                                  unique_fd line) const {
    asio::post(executor_, [supervision = supervision_, worker, output = std::move(output),
                           errors = std::move(errors), line = std::move(line)]() mutable {
        if (const auto target = supervision.lock()) {
            target->output.add(worker, std::move(output), std::move(errors));
            target->watch.add(std::move(line));
            target->news.publish(); // of the template before
        }
    });
}

} // namespace skep
