// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/task_group.hpp"
#include "core/clock.hpp"
#include "policy/restart_intensity.hpp"
#include "policy/taint.hpp"
#include "pool/worker_waiters.hpp"
#include "runtime/runtime.hpp"
#include "telemetry/log.hpp"
#include "worker/worker.hpp"
#include <skep/pool_config.hpp>
#include <skep/pool_status.hpp>

#include <boost/container/flat_set.hpp>

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace skep {

/// Supervises the workers of a pool, slot by slot: starts them, replaces those that are lost, with backoff where a slot
/// keeps failing, recycles those that are due, and has as many as it is told to. On the pool's strand.
class supervisor {
public:
    supervisor(const worker_surroundings& around, const pool_log& log);

    /// How many workers there are to be, and may now take calls, and are on their way up.
    std::size_t desired() const noexcept { return desired_; }
    std::size_t ready() const noexcept { return ready_; }
    std::size_t starting() const noexcept { return starting_; }

    /// Has every vacant slot started, batch by batch.
    void begin_launch();
    bool is_launching() const noexcept { return !to_launch_.empty(); }

    /// Starts the next batch if it is time; returns when the one after that is due, at the latest.
    time_point launch_due(time_point now, const std::shared_ptr<void>& owner);

    /// No more batches; what was not started is left to reconcile().
    void end_launch() noexcept;

    // What its workers tell.
    void on_ready(worker& which);
    void on_out_of_service(worker& which);
    void on_ended(worker& which);
    void on_suspended(worker& which) {
        suspensions_.done(which.id());
        pool_suspensions_.done(which.id());
    }
    void on_used_up(worker& which);
    void on_missed_pings(int count) noexcept { past_.missed_pings += static_cast<std::uint64_t>(count); }

    /// Opens whenever a worker becomes ready or ends.
    gate& changed() noexcept { return changed_; }

    /// Keeps every slot filled, and recycles, until close().
    asio::awaitable<void> reconcile(std::shared_ptr<void> owner);
    void close();
    void reopen();

    /// Has that many workers from now on. Fewer: those that wait to be started go first, then the idle ones, the
    /// longest idle first, then, unless `idle_only`, the others. Returns how many there are to be now.
    std::size_t set_desired(std::size_t count, bool idle_only);

    /// Has another take its place, which is ready before it leaves.
    void recycle(worker& which, std::string reason);

    /// Replaces workers, the new one before the old one, and completes `caller` when the old ones are gone.
    void restart(const worker_id& which, worker_waiters::caller_ptr caller);
    void restart_all(worker_waiters::caller_ptr caller);

    /// Completes `caller` when they are drained.
    void suspend(const worker_id& which, worker_waiters::caller_ptr caller);
    void suspend_all(worker_waiters::caller_ptr caller);
    void resume(const worker_id& which, const worker_waiters::caller_ptr& caller);
    void resume_all();

    /// Ends every wait for a change.
    void fail_waiters(const error& why);
    bool is_suspended() const noexcept { return suspended_; }

    /// Whether any of the workers there are now can be expected to take calls, at once or later.
    bool will_serve() const noexcept;

    /// Wanted workers that take no calls: degraded, suspended, held back or on their way up.
    std::size_t out_of_rotation() const noexcept;

    /// Calls at a time of a worker that is up, as it offered itself; else as configured.
    std::size_t capacity() const noexcept;

    /// True if too many failed of late and none is left.
    bool is_unavailable() { return ready_ == 0 && intensity_.state(clock::now()) != circuit_state::closed; }

    /// Takes every worker through the stop sequence, beginning at `first`.
    void stop_all(stop_stage first);

    /// Ends every worker, blocking, and lets go of callers. For when no coroutine will ever run again.
    void end_now() noexcept;

    /// True if no worker is left, not even one on its way out.
    bool is_empty() const noexcept { return leaving_.empty() && ready_ == 0 && starting_ == 0; }

    /// Returns when the last trace of every worker is gone.
    asio::awaitable<void> join() { return lives_.join(); }

    /// The failure of the worker that failed last; empty detail if none did.
    const error_info& last_failure() const noexcept { return last_failure_; }
    errc last_failure_code() const noexcept { return last_failure_code_; }

    /// Adds what is known about the workers to a picture of the pool.
    void report(pool_status& status, time_point now);

private:
    struct slot_state {
        bool wanted = false;
        std::shared_ptr<worker> current;
        std::shared_ptr<worker> successor; ///< takes the place of `current` once it is ready
        std::string why_recycled;
        bool restart_requested = false;
        std::optional<circuit_breaker::attempt> trial; ///< the permission that `current` was started with
        std::uint64_t generation = 0;
        std::uint64_t vacated_by = 0; ///< the generation that was the last to leave the slot
        std::optional<exit_class> vacated_as;
        int failure_streak = 0;
        bool to_launch = false;      ///< its turn in the launch is to come
        time_point due;              ///< when a vacant slot may be filled
        bool awaits_verdict = false; ///< it is not known yet how its last worker ended
        taint tainted;
        std::string last_failure;
        std::uint64_t failed_generation = 0;
        int previous_streak = 0;
    };

    void start_slot(std::size_t index, const std::shared_ptr<void>& owner);
    std::shared_ptr<worker> make_worker(std::size_t index, const std::shared_ptr<void>& owner);
    std::vector<std::shared_ptr<worker>> everyone() const;
    worker* find(const worker_id& which) const noexcept;
    std::vector<worker_id> serving() const;
    error no_such_worker(const worker_id& which) const;
    error resumed() const;

    // Replacement; see supervisor.cpp.
    void vacate(worker& leaver);
    void reconsider(const worker& gone);
    void note_failure(const worker& failed);
    void count_end(const worker& gone);
    void tell_end(const worker& gone);
    void warn_of_other_reapers(const worker& gone);
    void hand_over(const worker& gone);
    void judge_taint(const worker& gone, time_point now);
    void on_start_failed(worker& which);
    void on_successor_failed(worker& which, time_point now);
    void start_due(std::size_t at_least, time_point now, const std::shared_ptr<void>& owner);
    time_point next_due(time_point now);
    time_point due_at(const slot_state& slot) const noexcept;
    duration backoff_after(int streak);

    // Size and recycling; see supervisor_changes.cpp.
    void grow_to(std::size_t count);
    bool drop_one(bool idle_only);
    bool drop_unstarted();
    worker* most_dispensable(bool idle_only) const noexcept;
    void drop(std::size_t index);
    void look_for_recycling(time_point now);
    void want_recycling(std::size_t index, std::string reason);
    void want_restart(std::size_t index, std::string reason);
    void break_off_restarts(const worker& because_of);
    void judge_memory_of_leavers(time_point now);
    void forget_recycling(std::size_t index);
    void begin_recycling(time_point now, const std::shared_ptr<void>& owner);
    bool may_recycle(const slot_state& slot, time_point now) const;
    void succeed(slot_state& slot);
    std::size_t recycling() const noexcept;
    time_point next_recycling(time_point now) const;
    bool limits_memory() const noexcept;

    worker_status status_of_vacant(std::size_t index, time_point now) const;
    void count(pool_counters& counters) const;

    const worker_surroundings& around_;
    const pool_context& context_;
    const pool_config& config_;
    const pool_log& log_;
    std::vector<slot_state> slots_;
    std::size_t desired_ = 0;
    boost::container::flat_set<std::size_t> vacant_; ///< wanted slots without a worker
    std::deque<std::size_t> to_launch_;
    time_point batch_due_;
    std::deque<std::size_t> to_recycle_;
    std::vector<std::shared_ptr<worker>> leaving_;
    worker_waiters restarts_;
    worker_waiters suspensions_;
    worker_waiters pool_suspensions_;
    restart_intensity intensity_;
    task_group lives_;
    gate changed_;
    gate work_;
    bool closed_ = true;
    bool suspended_ = false;
    bool warned_of_reapers_ = false;
    std::size_t ready_ = 0;
    std::size_t starting_ = 0;
    time_point next_memory_look_;
    error_info last_failure_;
    errc last_failure_code_ = errc::worker_lost;
    pool_counters past_;
};

} // namespace skep
