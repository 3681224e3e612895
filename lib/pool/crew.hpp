// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/task_group.hpp"
#include "process/runtime.hpp"
#include "telemetry/log.hpp"
#include "worker/worker.hpp"
#include <skep/pool_config.hpp>
#include <skep/pool_status.hpp>

#include <boost/container/flat_set.hpp>

#include <memory>
#include <random>
#include <vector>

namespace skep {

/// The workers of a pool, slot by slot: starts them, and replaces those that are lost, with backoff where a
/// slot keeps failing. On the pool's strand.
class crew {
public:
    crew(const strand& executor, const pool_config& config, runtime& starter, worker_events& events,
         const pool_log& log);

    std::size_t size() const noexcept { return slots_.size(); }
    std::size_t ready() const noexcept { return ready_; }
    std::size_t starting() const noexcept { return starting_; }

    /// Starts a fresh worker in `slot`, which must be vacant.
    void start_slot(std::size_t slot, const std::shared_ptr<void>& owner);

    // To be told by the pool, in step with worker_events.
    void on_ready(worker& which);
    void on_out_of_service(worker& which);
    void on_ended(worker& which);

    /// Opens whenever a worker becomes ready or ends.
    gate& changed() noexcept { return changed_; }

    /// Keeps every slot filled until close().
    asio::awaitable<void> reconcile(std::shared_ptr<void> owner);
    void close();
    void reopen();

    /// Ends a worker that was retired, once nobody waits for a call on it.
    void stop_if_retired(worker& which);

    /// Takes every worker down the stop ladder, beginning at `first`.
    void stop_all(stop_rung first);

    /// Ends every worker, blocking. For when no coroutine will ever run again.
    void end_now() noexcept;

    /// True if no worker is left, not even one on its way out.
    bool is_empty() const noexcept { return leaving_.empty() && ready_ == 0 && starting_ == 0; }

    /// Returns when the last trace of every worker is gone.
    asio::awaitable<void> join() { return lives_.join(); }

    /// The failure of the worker that failed last; empty detail if none did.
    const error_info& last_failure() const noexcept { return last_failure_; }
    errc last_failure_code() const noexcept { return last_failure_code_; }

    std::vector<worker_status> status(time_point now) const;

    /// Adds the totals of living and past workers to `counters`.
    void count(pool_counters& counters) const;

private:
    struct slot_state {
        std::shared_ptr<worker> current;
        std::uint64_t generation = 0;
        int failure_streak = 0;
        time_point due; ///< when a vacant slot may be filled
        std::string last_failure;
        std::uint64_t failed_generation = 0;
        int previous_streak = 0;
    };

    std::vector<std::shared_ptr<worker>> everyone() const;
    void vacate(const worker& leaver);
    void reconsider(const worker& gone);
    void start_due(std::size_t at_least, const std::shared_ptr<void>& owner);
    time_point next_due() const noexcept;

    strand executor_;
    const pool_config& config_;
    runtime& runtime_;
    worker_events& events_;
    const pool_log& log_;
    std::vector<slot_state> slots_;
    boost::container::flat_set<std::size_t> vacant_;
    std::vector<std::shared_ptr<worker>> leaving_;
    task_group lives_;
    gate changed_;
    gate work_;
    bool closed_ = true;
    std::size_t ready_ = 0;
    std::size_t starting_ = 0;
    error_info last_failure_;
    errc last_failure_code_ = errc::worker_lost;
    pool_counters past_;
    std::minstd_rand random_;
};

} // namespace skep
