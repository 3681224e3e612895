// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "worker/call_table.hpp"
#include "worker/lending.hpp"
#include "worker/memory_intake.hpp"
#include "worker/tool_runner.hpp"
#include "worker/worker_core.hpp"
#include <skep/unanswered_calls.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace skep {

/// A call that was lost with its worker.
struct lost_call_notice {
    call_ptr lost;
    bool may_have_begun;
    /// The only call that the worker can have begun when it crashed, broke the protocol or outgrew its hard
    /// memory limit.
    bool is_to_blame;
    /// The worker can have begun only the calls of one batch, with this call, when it ended in such a way.
    bool is_suspect;
};

/// The calls of one worker, each from its frame to the answer or the loss; the places taken by calls and
/// leases; and the tool calls of the calls. While the worker serves, every change of the places updates its
/// life. Used on the pool's strand.
class worker_calls final : private call_table {
public:
    explicit worker_calls(worker_core& core);

    using call_table::capacity, call_table::common_load, call_table::empty, call_table::for_each,
        call_table::for_each_in_place, call_table::has_in_place, call_table::is_at_private,
        call_table::is_deserted, call_table::is_drained, call_table::is_full, call_table::is_pipelined,
        call_table::is_place_deserted, call_table::load, call_table::oldest, call_table::reserved,
        call_table::size;

    /// Returns true if calls can be sent to the worker at all.
    bool is_open() const noexcept {
        return core_.life.takes_calls() && core_.link->data().unsent() <= core_.config.limits.frame_bytes;
    }

    /// Returns true if the worker runs some command in batches.
    bool has_batches() const noexcept { return !batches_.empty(); }

    /// Returns the limits of the command's batches at this worker.
    const batch_limits& batches_of(std::string_view command) const noexcept;

    /// Returns true if the worker can begin another call or batch now.
    bool accepts_call() const noexcept { return is_open() && has_place(); }

    /// Returns true if the worker is at capacity, but accepts a call to begin as soon as possible.
    bool accepts_pipelined_call() const noexcept {
        return is_open() && reserved() == 0 && is_full() && load() < capacity() + most_ahead();
    }

    /// Recalls the pipelined calls if the running calls take longer than pipelining::patience. Returns true
    /// if that may come later: calls are pipelined, and not recalled.
    bool recall_if_late(time_point now);

    /// Recalls the pipelined calls, if the worker gives calls back.
    void recall();

    /// Returns the capacity that the worker has told, which a worker on trial does not get.
    std::size_t offered() const noexcept { return offered_; }

    /// Changes the number of calls that the worker runs at a time, to `most` or to the calls that it has.
    void change_capacity(std::size_t most);

    // Places kept by leases.
    void reserve(std::size_t places) noexcept;
    void release(std::size_t places) noexcept;
    bool is_leased() const noexcept { return reserved() > 0; }

    /// Sends the call. If assign() throws (out of memory), the worker stays intact, and has the call unless
    /// the call's `id` is 0.
    void assign(call& next, time_point now);

    /// Sends the calls as one batch, or none of them if assign_batch() throws (out of memory). Precondition:
    /// a worker that batches their command.
    void assign_batch(std::span<call* const> batch, time_point now);

    /// Sends a call that the pool does not know of. The answer goes straight to the call's sink. The call
    /// alone does not keep a leaving worker.
    void assign_private(call& next);

    /// Ends the wait for the call, and its tools. The worker learns of this only through cancel().
    void abandon_private(call& abandoned_call) noexcept;

    /// Tells the worker that no caller waits for the call. The call keeps its place until the worker answers.
    void cancel(const call& abandoned_call);

    /// Lets the worker send more chunks of a running stream, and names the released places of results.
    void grant(const call& running_call, stream_credit more);

    /// Returns true if the worker waits for a tool during that call.
    bool is_asking(const call& caller) const noexcept { return tools_.is_asked_by(caller); }

    /// Returns the request's correlation id, or the generated id.
    std::string correlation_id_of(const call& sent_call) const;

    /// Returns the correlation ids of the running calls, as far as known; see output_line.
    std::vector<std::string> correlation_ids() const;

    /// Returns the session of the running call with that correlation id, or an empty text without such a call
    /// or session.
    std::string session_of(std::string_view correlation_id) const;

    /// The worker has perhaps let the call fail. Returns true if this is news: no other call of its batch
    /// failed before.
    bool record_failure(const call& failed_call) noexcept {
        return std::exchange(failed_place_, failed_call.place_id) != failed_call.place_id;
    }

    /// Return the answer in the form for the caller.
    reply reply_to(const call& answered_call, result_message& answer, time_point now) const;
    error_info failure_of(const call& answered_call, error_message& answer) const;

    /// Returns the calls that the worker may have begun and has not answered: now, or when they were lost.
    unanswered_calls unanswered() const;

    /// Takes a call that gets no answer, last sent first. For use after calls_lost.
    std::optional<lost_call_notice> take_lost();

    /// The memory of attachments to the worker, and of attachments from the worker.
    const lending& memory() const noexcept { return memory_; }
    const memory_intake& received_memory() const noexcept { return received_; }

    /// Figures of the calls known to the pool: the calls answered, the errors among the answers, and the time
    /// of the last call sent.
    std::uint64_t completed() const noexcept { return completed_; }
    std::uint64_t errors() const noexcept { return errors_; }
    time_point last_assigned() const noexcept { return last_assigned_; }

private:
    friend class worker;        // opens and closes
    friend class answer_intake; // takes answered calls

    /// The lost calls: how many the worker may have begun, and whether one call is to blame.
    struct loss {
        std::size_t may_have_begun;
        bool is_one_to_blame;
        bool is_batch_suspect;
    };

    /// The worker gets one call at a time until change_capacity().
    void set_on_trial(bool is_on_trial) noexcept { is_on_trial_ = is_on_trial; }

    /// Opens the calls after the worker's hello. Returns the capacity.
    std::size_t open(hello_message& hello);
    const std::string& correlation() const noexcept { return correlation_; }

    /// `facts`: of the node; may be null.
    void describe_node_in(reply& new_reply, const node_answer* facts) const;

    void send(std::span<call* const> batch, time_point now);
    void append_releasing(std::uint64_t id, const call& sent_call, call_dispatch& facts);
    std::vector<std::string> tools_of(const call& sent_call) const;

    /// Called after every possible change of the places. `subject`: the call that took or freed a place.
    void follow_load(time_point now, const call* subject = nullptr) noexcept {
        const bool is_full = !has_place();
        if (is_full != core_.life.readiness().is_full() && core_.life.set_full(is_full, now)) {
            announce_flip(now, subject);
        }
    }
    void announce_flip(time_point now, const call* subject) noexcept;

    /// Takes the call that an answer belongs to, also an abandoned call. Throws protocol_violation if the
    /// call does not exist.
    call_ptr take_answered(std::uint64_t id, time_point now);

    /// Takes a recalled call that the worker gives back. Throws protocol_violation if there is no such call.
    call_ptr take_recalled(std::uint64_t id, time_point now);
    void begin_tool(const call_ptr& caller, tool_call_message& message);

    tool_runner& tools() noexcept { return tools_; }
    lending& memory() noexcept { return memory_; }
    memory_intake& received_memory() noexcept { return received_; }

    /// Ends the shared memory. Precondition: all messages of the worker have been read.
    void close_memory() noexcept {
        received_.end();
        memory_.close();
    }

    std::size_t most_ahead() const noexcept;

    /// Returns true if the running calls take longer than a call may lie behind them.
    bool is_late(time_point now) const noexcept {
        const auto& newest = last_begun();
        return now - newest.begun >= pipelining::patience_with(newest.batch_size);
    }

    /// Ends all calls without an answer.
    void lose();
    void record_lost(std::size_t count) noexcept;
    unanswered_calls name_first(std::size_t count) const;
    bool is_end_by_call() const noexcept;

    worker_core& core_;
    std::string correlation_; ///< the prefix of generated ids
    batch_commands batches_;
    tool_runner tools_;
    lending memory_;
    memory_intake received_;
    bool gives_back_ = false; ///< calls that it has not begun
    bool is_on_trial_ = false;
    std::size_t offered_ = 0;
    std::uint64_t completed_ = 0;
    std::uint64_t errors_ = 0;
    std::uint64_t failed_place_ = 0; ///< place of the last recorded failure
    time_point last_assigned_;
    std::optional<loss> loss_;
    unanswered_calls lost_calls_; ///< at the first loss
};

} // namespace skep
