// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/latch.hpp"
#include "async/task_group.hpp"
#include "otlp/collector.hpp"
#include <skep/otlp.hpp>

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace skep {

/// Implementation of otlp_exporter: collects spans, and sends them in batches. Used on its strand, except for
/// the constructor, begin(), end(), executor() and counts().
class otlp_exporter::core : public std::enable_shared_from_this<core> {
public:
    core(const boost::asio::any_io_executor& executor, otlp_options options);

    void begin(event_bus& bus);

    /// Ends the collection of spans.
    void end();

    /// Disables reports of lost spans.
    void abort() noexcept { is_aborted_ = true; }

    const strand& executor() const noexcept { return executor_; }
    otlp_counts counts() const noexcept;

    /// Sends the collected spans, and ends. Preconditions: end() was called.
    asio::awaitable<void> finish();

    /// Ends at once.
    void cancel() { tasks_.cancel(); }

private:
    asio::awaitable<void> receive();
    void add(events::span span);
    asio::awaitable<void> send_all();
    asio::awaitable<void> send_next();
    asio::awaitable<void> wait_a_moment(time_point limit);
    asio::awaitable<void> wait_for_batch();
    std::vector<events::span> take_batch();
    asio::awaitable<void> send(std::vector<events::span> batch);
    asio::awaitable<void> deliver(std::string body);
    void lose(std::size_t count, const std::string& reason);
    void lose_batch(const std::string& reason);

    strand executor_;
    const otlp_options options_;
    collector collector_;
    task_group tasks_;
    latch changed_; ///< a full batch, the first span, the last span, or the end of all delays
    event_stream<events::span> spans_;
    std::deque<events::span> waiting_; ///< oldest first
    std::size_t sending_ = 0;          ///< number of spans in transit
    bool has_all_ = false;             ///< no more spans will arrive
    bool is_hurried_ = false;          ///< no retries
    std::atomic<bool> is_aborted_ = false;
    std::atomic<std::uint64_t> sent_ = 0;
    std::atomic<std::uint64_t> lost_ = 0;
    std::atomic<std::uint64_t> dropped_ = 0;
};

} // namespace skep
