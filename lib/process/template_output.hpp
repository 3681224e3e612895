// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/task_group.hpp"
#include "process/output_capture.hpp"

#include <memory>
#include <string>
#include <vector>

namespace skep {

/// Reads what the templates of a pool print. A line names the worker whose start has made the template. Used
/// on the strand.
class template_output {
public:
    template_output(const strand& executor, const output_options& options, output_handler sink);
    ~template_output();
    template_output(const template_output&) = delete;
    template_output& operator=(const template_output&) = delete;

    /// Reads the pipes of a new template.
    void add(const worker_id& worker, unique_fd output, unique_fd errors);

    /// Returns the end of the output of the last template; empty without a template.
    std::string tail();

    /// Stops reading: children of a template may hold the pipes open.
    void close() noexcept;

    /// Returns when close() has taken effect.
    asio::awaitable<void> closed() { return readers_.join(); }

private:
    const strand executor_;
    const output_options options_;
    const output_handler sink_;
    task_group readers_;
    std::shared_ptr<output_capture> last_;
    std::vector<std::weak_ptr<output_capture>> earlier_;
};

} // namespace skep
