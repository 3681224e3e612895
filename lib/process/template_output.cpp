// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/template_output.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace skep {

template_output::template_output(const strand& executor, const output_options& options, output_handler sink)
    : executor_(executor),
      options_(options),
      sink_(std::move(sink)),
      readers_(executor, [](const std::exception_ptr&) {}) {}

template_output::~template_output() {
    close();
}

void template_output::add(const worker_id& worker, unique_fd output, unique_fd errors) {
    std::erase_if(earlier_, [](const auto& each) { return each.expired(); });
    earlier_.push_back(std::exchange(
        last_, std::make_shared<output_capture>(executor_, worker, options_, sink_, output, errors)));
    readers_.spawn(last_, last_->read_output());
    readers_.spawn(last_, last_->read_errors());
}

std::string template_output::tail() {
    if (!last_) {
        return {};
    }
    last_->drain();
    return last_->tail();
}

void template_output::close() noexcept {
    if (const auto last = std::exchange(last_, nullptr)) {
        last->drain();
        last->close();
    }
    for (const auto& each : earlier_) {
        if (const auto capture = each.lock()) {
            capture->close();
        }
    }
}

} // namespace skep
