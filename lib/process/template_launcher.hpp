// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "process/guard.hpp"
#include "process/launch_recipe.hpp"
#include "process/nursery.hpp"
#include "process/template_port.hpp"
#include "process/template_supervision.hpp"

#include <memory>

namespace skep {

/// Launches templates. Used on the spawner; the strand reads their output and notices their ends.
class template_launcher {
public:
    template_launcher(launcher launch, std::shared_ptr<launch_recipe> recipe, const strand& executor,
                      const std::shared_ptr<template_supervision>& supervision);

    /// The result refers to this launcher and to the guard.
    template_maker with(guard& process_guard) const;

    /// The nurseries that have lost their last worker.
    const nursery_ends& ends() const noexcept { return *ends_; }

private:
    std::unique_ptr<template_port> launch(guard& process_guard, const worker_id& worker,
                                          launch_abort& abort) const;
    void supervise(const worker_id& worker, unique_fd output, unique_fd errors, unique_fd line) const;

    launcher launch_;
    std::shared_ptr<launch_recipe> recipe_;
    strand executor_;
    std::weak_ptr<template_supervision> supervision_;
    std::shared_ptr<const nursery_ends> ends_ = std::make_shared<const nursery_ends>();
};

/// The two sides of the templates on the spawner.
struct template_source {
    std::shared_ptr<preload> templates;
    template_launcher launch;
};

} // namespace skep
