// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/boundary.hpp"
#include "async/condition_variable.hpp"
#include "async/task_group.hpp"
#include "core/relaxed_value.hpp"
#include "policy/worker_budget.hpp"
#include "pool/autoscaler.hpp"
#include "pool/demand/dispatcher.hpp"
#include "pool/demand/lease_manager.hpp"
#include "pool/pool_hooks.hpp"
#include "pool/supply/supervisor.hpp"
#include "pool/supply/suspension.hpp"
#include "pool/user_waits.hpp"
#include "runtime/pool_context.hpp"
#include "runtime/runtime.hpp"
#include "telemetry/log.hpp"
#include <skep/load_view.hpp>
#include <skep/pool_config.hpp>
#include <skep/pool_status.hpp>

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>

namespace skep {

/// Makes the runtime of a pool. `sink` receives the workers' output.
using runtime_factory =
    std::function<std::unique_ptr<runtime>(const pool_context&, const pool_config&, output_handler sink)>;

/// The phase of a pool, and its failures.
struct pool_state {
    relaxed_value<pool_phase> phase = pool_phase::created; ///< any thread may read it
    std::atomic<unsigned> started_in = 0; ///< the process_generation() of the start; 0 unless started
    bool was_available = true;            ///< as last published
    std::optional<error> broken;          ///< the pool's failure
    std::optional<error> failed_start;    ///< error of the last start, from its undoing until the next start
    std::unique_ptr<std::byte[]> spare;   ///< reserve, freed before callers learn of the pool's failure

    bool is_ending() const noexcept { return phase == pool_phase::stopping || phase == pool_phase::stopped; }

    /// Returns why there are no workers: the pool or its last start has failed. Null otherwise.
    const error* problem() const noexcept {
        return phase == pool_phase::failed ? &*broken : failed_start ? &*failed_start : nullptr;
    }
};

/// The tasks of a pool, besides its workers and its users' waits.
struct pool_tasks {
    task_group supply;  ///< supervision and scaling, until the shutdown begins
    task_group demand;  ///< deadlines and the expiry of sessions, until the workers have ended
    task_group phases;  ///< start and shutdown
    task_group retries; ///< next attempt after a failed start, until the shutdown begins
    task_group delays;  ///< log of operations that take long, until the shutdown ends
};

/// The parts of a pool, except its phases, and the operations on several parts at once: on calls and leases,
/// or on workers and calls. On the strand.
class pool_parts {
public:
    pool_parts(pool_context context_of_pool, pool_config config_of_pool, const runtime_factory& make_runtime,
               output_handler sink, answer_handler& answers, boundary limit_of_tasks, event_queue queue,
               worker_share share);

    error failure(errc code, error_info info = {}) const;

    /// Runs `body` in `group`. The pool stays alive until the end of `body`.
    void run_in(task_group& group, asio::awaitable<void> body) {
        group.spawn(surroundings.owner.lock(), std::move(body));
    }

    /// Returns true if a further worker may come for waiting calls.
    bool may_get_more_workers() const noexcept;

    /// If no more workers are coming, fails the calls of tools that wait only for each other.
    void refuse_cycles();

    // End every waiting call and checkout, or in addition every running call, with `code`. Return the number
    // of calls.
    std::size_t fail_queue(errc code, const error_info& info);
    std::size_t abort_all(errc code);

    /// Stops every worker, ends the loops, and gives back the runtime's thread.
    asio::awaitable<void> stop_workers(stop_stage first);

    /// Thread safety: may be called from any thread.
    load_view load() const noexcept;

    pool_status status();
    pool_metrics metrics();

    pool_context context;
    pool_config config;
    pool_log log;
    std::unique_ptr<runtime> starter;
    boundary limit;
    event_queue events;
    tool_table tools;
    relaxed_value<std::size_t> places; ///< of the serving workers
    worker_surroundings surroundings;
    condition_variable changed; ///< notified when the phase or a worker changes
    pool_state state;
    dispatcher calls;
    lease_manager leases;
    roster workers;
    supervisor supervision;
    suspension suspensions;
    autoscaler scaling;
    pool_hooks hooks;
    pool_tasks tasks;
    user_waits waits;
};

} // namespace skep
