// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "worker/call_table.hpp"
#include "worker/tool_runner.hpp"
#include "worker/worker_core.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skep {

/// A call that is lost with its worker.
struct lost_call_notice {
    call_ptr lost;
    bool may_have_begun;
    bool
        is_to_blame; ///< the only one that the worker can have been at when it crashed, broke the protocol or outgrew its
                     ///< hard memory limit
};

/// The calls of one worker, each from the frame that sends it until it is answered or lost; the places that calls take
/// and leases keep; and what the calls ask tools for. While the worker serves, its life knows after each change whether a
/// place is free. On the pool's strand.
class worker_calls final : private call_table {
public:
    explicit worker_calls(worker_core& core);

    using call_table::capacity, call_table::common_load, call_table::empty, call_table::for_each,
        call_table::is_at_private, call_table::is_deserted, call_table::is_drained, call_table::is_full,
        call_table::is_pipelined, call_table::load, call_table::oldest, call_table::reserved;

    /// Whether the worker can be sent calls at all.
    bool is_open() const noexcept {
        return core_.life.takes_calls() && core_.link->data().unsent() <= core_.config.limits.frame_bytes;
    }

    /// Whether the worker can begin another call now.
    bool accepts_call() const noexcept { return is_open() && has_place(); }

    /// Whether it is at capacity, but a call may be sent all the same, to be begun as soon as it can.
    bool accepts_pipelined_call() const noexcept {
        return is_open() && reserved() == 0 && is_full() && load() < capacity() + core_.config.pipeline_depth;
    }

    // Places that leases keep.
    void reserve(std::size_t places) noexcept;
    void release(std::size_t places) noexcept;
    bool is_leased() const noexcept { return reserved() > 0; }

    /// Sends the call. If it throws (out of memory), the worker is none the worse for it, and has the call unless `id` of
    /// the call is 0.
    void assign(call& next, time_point now);

    /// The same for a call that the pool does not know of: its answer goes straight to its sink, and it keeps the worker
    /// from nothing.
    void assign_private(call& next);

    /// Nobody waits for that one any more: no tool works for it. The worker is not told, unless by cancel().
    void abandon_private(call& abandoned_call) noexcept;

    /// Tells the worker that nobody waits for the call any more. Its place stays taken until the worker answers.
    void cancel(const call& abandoned_call);

    /// Lets the worker send more chunks of a stream that it has.
    void grant(const call& stream, stream_credit more);

    /// Whether the worker waits for a tool during that call.
    bool is_asking(const call& caller) const noexcept { return tools_.is_asked_by(caller); }

    /// The request's, or the one made for it.
    std::string correlation_id_of(const call& sent_call) const;

    /// Of the calls that the worker is at, as far as can be known; see output_line.
    std::vector<std::string> correlation_ids() const;

    /// Of the call that it is at under that correlation id; empty if there is none, or it has none.
    std::string session_of(std::string_view correlation_id) const;

    /// What the worker has answered a call with, as its caller gets it.
    reply reply_to(const call& answered_call, result_message& answer, time_point now) const;
    error_info failure_of(const call& answered_call, error_message& answer) const;

    /// After calls_lost: the calls that get no answer, last sent first.
    std::optional<lost_call_notice> take_lost();

    /// Of those that the pool knows of: how many were answered, how many of these by an error, and when the last was sent.
    std::uint64_t completed() const noexcept { return completed_; }
    std::uint64_t errors() const noexcept { return errors_; }
    time_point last_assigned() const noexcept { return last_assigned_; }

private:
    friend class worker;        // opens and closes
    friend class answer_intake; // takes those that are answered

    /// How many of them the worker may have begun, once they are lost.
    struct loss {
        std::size_t may_have_begun;
        bool is_one_to_blame;
    };

    /// The worker has said hello. Returns its capacity.
    std::size_t open(std::size_t most);
    const std::string& correlation() const noexcept { return correlation_; }

    /// To be called after whatever may have taken a place or freed one. `subject`: the call that has.
    void follow_load(time_point now, const call* subject = nullptr) noexcept {
        const bool is_full = !has_place();
        if (is_full != core_.life.readiness().is_full() && core_.life.set_full(is_full, now)) {
            announce_flip(now, subject);
        }
    }
    void announce_flip(time_point now, const call* subject) noexcept;

    /// An answer has come. Throws protocol_violation if there is no such call. One that was given up by its caller is
    /// there until now.
    call_ptr take_answered(std::uint64_t id, time_point now);
    void begin_tool(const call_ptr& caller, tool_call_message& message);

    tool_runner& tools() noexcept { return tools_; }

    /// Those it has are not answered any more.
    void lose();
    bool is_end_by_call() const noexcept;

    worker_core& core_;
    std::string correlation_; ///< what the ids begin with that are made for them
    tool_runner tools_;
    std::uint64_t completed_ = 0;
    std::uint64_t errors_ = 0;
    time_point last_assigned_;
    std::optional<loss> loss_;
};

} // namespace skep
