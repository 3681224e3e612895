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

/// The tool calls of one worker, each from its asking to the answer. On the pool's strand; each tool runs on a strand of
/// its own, and refers to nothing of this.
class tool_runner {
public:
    explicit tool_runner(worker_core& core) : core_(core), all_ended_(core.context.executor) {}

    /// The worker can be answered from now on.
    void open() noexcept { answers_ = &core_.link->control(); }

    /// The worker asks for something while it is at `caller`. Throws protocol_violation if it may not.
    void start(const call_ptr& caller, tool_call_message& message, std::string correlation_id);

    /// The call has been answered: nobody waits for its tools.
    void drop(const call& answered_call) noexcept;

    /// Nobody waits for the call: its tools are cancelled, and the worker is told.
    void cancel(const call& abandoned_call) noexcept;

    /// The worker has taken some of its answers.
    void go_on();

    /// Ends all.
    void close() noexcept;

    /// Returns when no tool runs, or at `limit`.
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
    std::vector<tool_run_ptr> open_; ///< not answered yet, in the order asked
    std::size_t running_ = 0;
    latch all_ended_;
};

} // namespace skep
