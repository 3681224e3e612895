// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/clock.hpp"
#include "simulation/dice.hpp"
#include "simulation/faults.hpp"
#include "simulation/run_queue.hpp"
#include "simulation/timed_event.hpp"
#include "simulation/virtual_timers.hpp"

#include <boost/asio/io_context.hpp>

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <queue>
#include <string>
#include <utility>
#include <vector>

namespace skep::simulation {

class pipe;

/// What can happen, and the choice of what happens next: a task of the pool or of a caller, a timer or a
/// hand-over in the io_context, bytes that arrive, an event whose time has come. Time stands still until none
/// of them is left.
class world {
public:
    static constexpr std::size_t callers = 3;
    static constexpr std::size_t most_pools = 3;

    world(std::uint64_t seed, bool tracing);
    ~world();
    world(const world&) = delete;
    world& operator=(const world&) = delete;

    dice chance;

    asio::io_context& context() noexcept { return *context_; }
    bool has_context() const noexcept { return context_ != nullptr; }
    run_queue& pool_run_queue(std::size_t which = 0) noexcept {
        return run_queues_[which == 0 ? 0 : callers + which];
    }
    run_queue& caller_run_queue(std::size_t which) noexcept { return run_queues_[1 + which % callers]; }

    time_point now() const noexcept { return clock::now(); }
    duration age() const noexcept { return clock::now() - origin_; }
    time_point origin() const noexcept { return origin_; }

    /// Events: each happens once its time has come, in no certain order among those of the same time.
    void at(time_point moment, std::function<void()> what);
    void after(duration span, std::function<void()> what) { at(now() + span, std::move(what)); }
    void soon(std::function<void()> what) { at(now(), std::move(what)); }

    /// Lets one of the things happen that can happen now. False if the world is at rest.
    bool step();

    /// Moves time to the next thing that can happen. False if nothing ever will.
    bool advance();

    /// Nothing of the simulation's own is to come any more.
    bool is_out_of_events() const noexcept { return due_.empty() && events_.empty(); }

    /// The host stands still for so long: everything that comes due meanwhile is late.
    void stall(duration span);

    /// Whether something that was due at `due` may still be seen at `moment`: late by the host's own fault
    /// alone.
    bool is_in_time(time_point due, time_point moment) const noexcept;

    /// How long the host has stood still in all.
    duration stalled() const noexcept { return stalled_; }

    /// In so many of the tasks, of the pool and of callers, an allocation is to fail.
    void fail_allocations(double share) noexcept { faults_ = share; }

    /// Whether an allocation has failed, in the present task or earlier.
    bool has_lacked_memory() const noexcept { return lacked_memory_ || allocation_faults::has_failed(); }

    /// Destroys the execution context, and with it everything that waits.
    void destroy_context();

    /// Whether the io_context has nothing to do any more, at any time.
    bool is_context_idle();

    /// What broke a promise; the first one counts.
    void violated(std::string what);
    const std::optional<std::string>& violation() const noexcept { return violation_; }

    bool is_tracing() const noexcept { return tracing_; }
    void trace(std::string_view text) const;
    std::uint64_t steps() const noexcept { return steps_; }

private:
    friend class pipe;

    /// What a real executor does with its tasks when its context is shut down: destroys them.
    class run_queue_keeper : public asio::execution_context::service {
    public:
        explicit run_queue_keeper(asio::execution_context& owner) : service(owner) {}
        std::deque<run_queue>* run_queues = nullptr;

        static inline asio::execution_context::id id;

    private:
        void shutdown() noexcept override;
    };

    void run(run_queue& which);
    void poll();
    void collect_due();

    bool tracing_;
    std::uint64_t steps_ = 0;
    manual_time time_;
    time_point origin_;
    std::unique_ptr<asio::io_context> context_;
    std::optional<virtual_timers> timers_;
    std::deque<run_queue> run_queues_;
    bool may_poll_ = true; ///< the io_context may have something
    std::vector<pipe*> flowing_;
    std::priority_queue<timed_event> events_;
    std::vector<std::function<void()>> due_;
    std::uint64_t next_event_ = 0;
    std::vector<std::pair<time_point, time_point>> stalls_;
    duration stalled_{};
    double faults_ = 0;
    std::uint64_t doomed_allocation_ = 0;
    bool lacked_memory_ = false;
    std::optional<std::string> violation_;
};

} // namespace skep::simulation
