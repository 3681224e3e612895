// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/boundary.hpp"
#include "call/call.hpp"
#include "core/relaxed_value.hpp"
#include "policy/worker_life.hpp"
#include "runtime/pool_context.hpp"
#include "runtime/runtime.hpp"
#include "worker/link.hpp"
#include "worker/worker_event.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace skep {

/// Takes the answers of a worker's calls. Answers go straight to their callers, because events would cost
/// time. An answered call no longer belongs to the worker.
class answer_handler {
public:
    virtual void on_result(worker& sender, call& answered_call, result_message& answer, time_point now) = 0;
    virtual void on_remote_error(worker& sender, call& answered_call, error_message& answer) = 0;

    /// The worker has not begun the recalled call, and gives it back.
    virtual void on_recalled(worker& sender, call& recalled_call, time_point now) = 0;

    /// Handles a chunk of a running stream.
    virtual void on_chunk(call& receiver, chunk_message& piece) = 0;

    /// Handles a log record of the worker's code.
    virtual void on_log(const worker& sender, const log_message& record) noexcept = 0;

    /// Returns true if the worker may begin a routine probe now.
    virtual bool may_be_probed(const worker& one) const noexcept = 0;

    /// A pipelined call may have begun now, though its caller no longer waits.
    virtual void on_begun_in_vain(call& abandoned_call) = 0;

protected:
    ~answer_handler() = default;
};

/// The parts of the pool that a worker uses.
struct worker_surroundings {
    const pool_context& context;
    const pool_config& config;
    runtime& starter;
    answer_handler& answers;
    boundary& limit; ///< ends exceptions that leave the worker's tasks
    event_queue& events;
    const tool_table& tools;
    relaxed_value<std::size_t>& places; ///< of the serving workers together
    std::weak_ptr<void> owner;          ///< owner of all these; outlives the worker
};

/// The shared state of one worker's parts. Announces facts to the pool, and changes of state to subscribers.
/// Each change of state is announced once, in order, before any later fact. The departure is announced once.
/// Used on the pool's strand.
class worker_core {
public:
    worker_core(const worker_surroundings& surroundings, worker& self, worker_id id,
                std::optional<worker_state_machine> initial_state);

    void announce(decltype(worker_event::fact) fact);

    /// Announces that the worker may now accept or refuse calls, or has done a step that a caller waits for.
    void announce_room() { announce(room_changed{}); }

    /// Announces, once, that the worker takes no more calls.
    void announce_departure();

    /// Announces the new changes of state.
    void announce_transitions() noexcept;

    const worker_surroundings& surroundings;
    const pool_context& context;
    const pool_config& config;
    worker& self;
    const worker_id id;
    worker_life life;
    std::optional<skep::link> link;          ///< set by the launch
    std::unique_ptr<worker_process> process; ///< set by the launch
    std::unique_ptr<memory_line> regions;    ///< set by the launch, until the hello; may be null
    std::string node;                        ///< set by the launch; see worker_link

private:
    /// Adds the worker's places to those of the serving workers, or removes them.
    void count_places() noexcept;

    std::uint64_t transitions_;      ///< number announced
    std::size_t counted_places_ = 0; ///< part of worker_surroundings::places
    bool has_left_ = false;
};

/// Returns an entry of the history of worker `id` as an event.
events::worker_transition event_of(const transition& last_transition, const worker_id& id);

} // namespace skep
