// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/boundary.hpp"
#include "async/condition_variable.hpp"
#include "async/task_group.hpp"
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
#include <skep/pool_config.hpp>
#include <skep/pool_status.hpp>

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>

namespace skep {

/// Makes the runtime of a pool. `sink` takes the workers' output.
using runtime_factory =
    std::function<std::unique_ptr<runtime>(const pool_context&, const pool_config&, output_handler sink)>;

/// How far a pool is.
struct pool_state {
    pool_phase phase = pool_phase::created;
    std::atomic<unsigned> started_in = 0; ///< the process_generation(); 0 unless started
    bool was_available = true;            ///< when last told
    std::optional<error> broken;          ///< what the pool has failed with
    std::optional<error> failed_start;    ///< of the last start, from its undoing until the next one
    std::unique_ptr<std::byte[]> spare;   ///< given back before callers are told that the pool has failed

    bool is_ending() const noexcept { return phase == pool_phase::stopping || phase == pool_phase::stopped; }

    /// Why there are no workers, if that is what the pool has come to.
    const error* problem() const noexcept {
        return phase == pool_phase::failed ? &*broken : failed_start ? &*failed_start : nullptr;
    }
};

/// What runs in a pool, beside its workers and its users' waits.
struct pool_tasks {
    task_group supply;     ///< what has workers started and replaced, until the shutdown begins
    task_group demand;     ///< the deadlines, until it ends
    task_group phases;     ///< start and shutdown
    task_group retries;    ///< the next try of a start that has failed, until the shutdown begins
    task_group stragglers; ///< what names those that a shutdown waits for, until nobody is left
};

/// What a pool is made of, but for its phases; and what concerns its calls and leases, or its workers and its calls, alike.
/// On the strand.
class pool_parts {
public:
    pool_parts(pool_context context_of_pool, pool_config config_of_pool, const runtime_factory& make_runtime,
               output_handler sink, answer_handler& answers, boundary limit_of_tasks, event_queue queue,
               worker_share share);

    error failure(errc code, error_info info = {}) const;

    /// Runs `body` in one of the groups. The pool stays alive meanwhile.
    void run_in(task_group& group, asio::awaitable<void> body) {
        group.spawn(surroundings.owner.lock(), std::move(body));
    }

    /// Whether calls that wait may hope for a worker more.
    bool may_get_more_workers() const noexcept;

    /// Workers that were to come may not: tools' calls that have waited for them may wait for each other alone.
    void refuse_cycles();

    // Ends every claim that waits, or every one that is open, with `code`; returns how many calls there were.
    std::size_t fail_queue(errc code, const error_info& info);
    std::size_t abort_all(errc code);

    /// Stops every worker, ends the loops, and gives back the thread.
    asio::awaitable<void> stop_workers(stop_stage first);

    pool_status status();
    pool_metrics metrics();

    pool_context context;
    pool_config config;
    pool_log log;
    std::unique_ptr<runtime> starter;
    boundary limit;
    event_queue events;
    tool_table tools;
    worker_surroundings surroundings;
    condition_variable changed; ///< the phase, or something about a worker
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
