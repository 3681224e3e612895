// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/task_group.hpp"
#include "policy/restart_intensity.hpp"
#include "policy/thread_watch.hpp"
#include "pool/supply/launch_queue.hpp"
#include "pool/supply/replacement.hpp"
#include "pool/supply/roster.hpp"
#include "telemetry/log.hpp"
#include <skep/histogram.hpp>
#include <skep/pool_config.hpp>
#include <skep/pool_status.hpp>

#include <memory>

namespace skep {

/// Keeps the slots of a pool filled: starts workers, and replaces lost workers, with backoff for a slot that
/// keeps failing. On the pool's strand.
class supervisor {
public:
    supervisor(const worker_surroundings& surroundings, const pool_log& log, roster& workers,
               condition_variable& change_signal);

    /// Resets the failure history, for a start.
    void reset();

    // Launch: every vacant slot, batch by batch.
    void begin_launch();
    bool is_launching() const noexcept { return !launch_.empty(); }

    /// Starts the next batch if it is due. Returns when the batch after that is due, at the latest.
    time_point launch_due(time_point now);

    /// Ends the batches. supervise() starts the remaining slots.
    void end_launch() noexcept;

    /// Keeps every slot filled, and has workers replaced, until cancelled.
    asio::awaitable<void> supervise();

    replacement& replacing() noexcept { return replacement_; }

    // Events of the workers.
    void on_up(worker& new_worker);
    void on_left_service(worker& leaver);
    void on_ended(worker& ended_worker);

    /// Counts the end of a worker. Called from outside if the end was lost, for lack of memory.
    void count_end(const worker& ended_worker);
    void on_missed_pings(int count) noexcept { counters_.missed_pings += static_cast<std::uint64_t>(count); }
    void on_unhealthy() noexcept { ++counters_.unhealthy_workers_terminated; }

    /// Opens when a worker comes up or ends: for the start and the end of the pool.
    latch& progress() noexcept { return progress_; }

    /// Returns true if too many workers failed of late, and no worker is in service.
    bool is_unavailable() {
        return roster_.ready() == 0 && intensity_.state(context_.now()) != circuit_state::closed;
    }

    /// The pool was stopped: vacant slots get no worker.
    void drop_vacancies();

    /// Takes every worker through the stop sequence, beginning at `first`.
    void stop_all(stop_stage first);

    /// The pool has failed: kills every worker with its group.
    void kill_all() noexcept;

    /// Ends every worker, blocking. Called when no coroutine will ever run again.
    void end_now() noexcept;

    /// Waits until every worker has ended completely.
    asio::awaitable<void> join() { return lives_.join(); }

    /// Records the cause that kept the pool from starting any worker.
    void record_failure(error cause) { last_failure_ = std::move(cause); }

    /// Unless a failure is known, records the failure of a worker that has failed and is leaving.
    void record_failure_under_way();

    /// Returns the failure of the worker that failed last; empty detail without a failure.
    bool has_failure() const noexcept { return last_failure_.kind() != errc(); }
    const error_info& last_failure() const noexcept { return last_failure_.info(); }
    errc last_failure_code() const noexcept { return last_failure_.kind(); }

    /// The same, worded as the cause of another error.
    error_info last_cause() const;

    /// Adds the state of the workers to `status`.
    void report(pool_status& status, time_point now);

    /// The times that workers took to become ready.
    const histogram& start_time() const noexcept { return start_time_; }

private:
    std::shared_ptr<worker> make_worker(std::size_t index);
    void start(std::size_t index);
    void start_due(std::size_t at_least, time_point now);
    time_point next_start(time_point now);

    void free_slot(worker& leaver);
    bool is_held(std::size_t index, time_point now) const;
    void hold_back(std::size_t index, time_point now);
    void hold_back_vacant(time_point now);
    void on_start_failed(worker& failed_worker);
    void judge(const worker& ended_worker, time_point now);
    void pass_on_slot_of(const worker& ended_worker);
    void draw_conclusions(worker& ended_worker);
    void remove(const worker& ended_worker);
    void record_end(const worker& ended_worker);
    bool record_fault(const worker& leaver);
    std::string what_failed(errc code, const error_info& info) const;
    void publish_circuit(time_point now);
    void watch_threads();

    worker_status status_of_vacant(std::size_t index, time_point now);

    const worker_surroundings& surroundings_;
    const pool_context& context_;
    const pool_config& config_;
    const pool_log& log_;
    roster& roster_;
    replacement replacement_;
    launch_queue launch_;
    restart_intensity intensity_;
    task_group lives_;
    latch progress_;
    bool warned_of_reapers_ = false;
    circuit_state reported_circuit_ = circuit_state::closed;
    thread_watch thread_watch_;
    error last_failure_; ///< default-constructed without a failure
    pool_counters counters_;
    histogram start_time_;
};

} // namespace skep
