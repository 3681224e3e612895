// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/boundary.hpp"
#include "call/call.hpp"
#include "policy/worker_life.hpp"
#include "runtime/pool_context.hpp"
#include "runtime/runtime.hpp"
#include "worker/link.hpp"
#include "worker/worker_event.hpp"

#include <cstdint>
#include <memory>
#include <optional>

namespace skep {

/// Where the answers of a worker's calls go: straight to their callers, as events would cost time. The call is no longer
/// the worker's then.
class answer_handler {
public:
    virtual void on_result(worker& sender, call& answered_call, result_message& answer, time_point now) = 0;
    virtual void on_remote_error(worker& sender, call& answered_call, error_message& answer) = 0;

    /// A piece of a stream, which goes on.
    virtual void on_chunk(call& receiver, chunk_message& piece) = 0;

    /// Something that its code logs.
    virtual void on_log(const worker& sender, const log_message& record) noexcept = 0;

    /// Whether it may be at a probe now that nobody has asked for.
    virtual bool may_be_probed(const worker& one) const noexcept = 0;

    /// A call that was pipelined may have begun now, though its caller no longer waits.
    virtual void on_begun_in_vain(call& abandoned_call) = 0;

protected:
    ~answer_handler() = default;
};

/// What a worker is made of: its pool's.
struct worker_surroundings {
    const pool_context& context;
    const pool_config& config;
    runtime& starter;
    answer_handler& answers;
    boundary& limit; ///< where exceptions end that leave the worker's tasks
    event_queue& events;
    const tool_table& tools;
    std::weak_ptr<void> owner; ///< of all these: outlives the worker
};

/// What the parts of one worker share, and how they announce what happens to it: facts to its pool, changes of its state
/// to subscribers. Each change of state is announced once, in order, before any later fact; the worker's departure is
/// announced once. On the pool's strand.
class worker_core {
public:
    worker_core(const worker_surroundings& surroundings, worker& self, worker_id id,
                std::optional<worker_state_machine> initial_state);

    void announce(decltype(worker_event::fact) fact);

    /// Whether the worker takes calls may have changed, or somebody waits for what it has just done.
    void announce_room() { announce(room_changed{}); }

    /// The worker takes no more calls. Does nothing but for the first time.
    void announce_departure();

    /// Announces the changes of its state that are new.
    void announce_transitions() noexcept;

    const worker_surroundings& surroundings;
    const pool_context& context;
    const pool_config& config;
    worker& self;
    const worker_id id;
    worker_life life;
    std::optional<skep::link> link;          ///< once it is launched
    std::unique_ptr<worker_process> process; ///< likewise

private:
    std::uint64_t transitions_; ///< announced
    bool has_left_ = false;
};

/// An entry of the history of worker `id`, as an event.
events::worker_transition event_of(const transition& last_transition, const worker_id& id);

} // namespace skep
