// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/latch.hpp"
#include "core/tool_table.hpp"
#include "worker/worker_core.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace skep {

/// The tool calls of one worker, each from the request to the answer. Used on the pool's strand. Each tool
/// runs on its own strand and holds no reference to the tool_runner.
class tool_runner {
public:
    explicit tool_runner(worker_core& core) : core_(core), all_ended_(core.context.executor) {}

    /// Opens the way for answers to the worker.
    void open() noexcept { answers_ = &core_.link->control(); }

    /// Starts a tool on the worker's request during call `caller`. Throws protocol_violation if the request
    /// is not allowed.
    void start(const call_ptr& caller, tool_call_message& message, std::string correlation_id);

    /// Drops the tools of an answered call.
    void drop(const call& answered_call) noexcept;

    /// Cancels the tools of an abandoned call, and answers the worker.
    void cancel(const call& abandoned_call) noexcept;

    /// Continues after the worker has taken some of its answers.
    void go_on();

    /// Ends all tool calls.
    void close() noexcept;

    /// Waits until no tool runs, or until `limit`.
    asio::awaitable<void> join(time_point limit);

    bool is_asked_by(const call& caller) const noexcept;

private:
    struct tool_run;
    struct answer;
    using tool_run_ptr = std::shared_ptr<tool_run>;

    static asio::awaitable<answer> make_answer(tool_ptr handler, tool_call tool_request, std::uint64_t number,
                                               limit_options limits);

    void join_trace(tool_run& active_run, std::string parent_span) const;
    void publish_span(tool_run& ended_run, const std::string& outcome) const noexcept;
    bool is_clogged() const noexcept;
    void begin(const tool_run_ptr& active_run);
    void run(const tool_run_ptr& active_run, const tool_ptr& handler);
    void end(const tool_run_ptr& active_run, const answer& result);
    void refuse(const tool_run_ptr& active_run, const char* type, std::string_view message,
                std::string_view about = {}) noexcept;
    void submit_answer(const tool_run_ptr& active_run, const encoded_frame& frame);
    static void stop(const tool_run_ptr& active_run) noexcept;

    worker_core& core_;
    channel* answers_ = nullptr; ///< null before open() and after close()
    std::uint64_t last_number_ = 0;
    std::vector<tool_run_ptr> open_; ///< unanswered, in the order requested
    std::size_t running_ = 0;
    latch all_ended_;
};

} // namespace skep
