// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/task_group.hpp"
#include "process/descriptors.hpp"

#include <boost/asio/posix/stream_descriptor.hpp>

#include <functional>
#include <memory>
#include <vector>

namespace skep {

/// Notices the ends of the templates of a pool. Used on the strand.
class template_watch {
public:
    /// `on_end` is called on the strand, and not after close(). It must not throw.
    template_watch(const strand& executor, std::function<void()> on_end);
    ~template_watch();
    template_watch(const template_watch&) = delete;
    template_watch& operator=(const template_watch&) = delete;

    /// Watches a template, by a copy of its connection.
    void add(unique_fd line);

    void close() noexcept;

    /// Returns when close() has taken effect.
    asio::awaitable<void> closed() { return watchers_.join(); }

private:
    struct watched {
        explicit watched(const strand& executor) : line(executor) {}
        asio::posix::stream_descriptor line;
        bool is_closed = false;
    };

    asio::awaitable<void> watch(std::shared_ptr<watched> one);

    const strand executor_;
    const std::function<void()> on_end_;
    task_group watchers_;
    std::vector<std::weak_ptr<watched>> watched_;
};

} // namespace skep
