// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/guest_group.hpp"
#include "async/task_group.hpp"
#include "telemetry/log.hpp"
#include "worker/answer_intake.hpp"
#include "worker/health_check.hpp"
#include "worker/initialization.hpp"
#include "worker/recycling_watch.hpp"
#include "worker/worker_calls.hpp"
#include "worker/worker_core.hpp"
#include "worker/worker_drain.hpp"
#include "worker/worker_pulse.hpp"
#include "worker/worker_records.hpp"
#include <skep/shutdown_report.hpp>

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace skep {

class worker;

/// The facts about one worker that its sessions share. Lives as long as any of the sessions.
struct served_sessions : boost::intrusive_ref_counter<served_sessions, boost::thread_unsafe_counter> {
    served_sessions(worker& one, const worker_id& id) noexcept
        : serving_worker(&one), slot(id.slot), generation(id.generation) {}

    worker* serving_worker; ///< null once the worker has left service
    std::uint32_t slot;
    std::uint64_t generation;
    bool has_moved_on = false; ///< the worker left as planned, and its sessions go elsewhere
    std::size_t sessions = 0;  ///< while the worker serves
    std::size_t bound = 0;     ///< sessions strictly bound to the worker
};

/// One incarnation of a slot: a process, its connection, and the parts of the worker, from launch to reaping.
/// Wires the parts together; worker_life decides the steps. Announces `ended` once, last, when no task of the
/// worker runs any more. run() is the life; every other function is called on the pool's strand meanwhile.
class worker final : public std::enable_shared_from_this<worker>, private link_user {
public:
    /// `initial_state`: the states of the vacant slot before, if any.
    worker(const worker_surroundings& surroundings, worker_id id,
           std::optional<worker_state_machine> initial_state = {});

    asio::awaitable<void> run();

    const worker_id& id() const noexcept { return core_.id; }

    /// Returns the name of the node that the worker is; empty for a process of this machine.
    const std::string& node() const noexcept { return core_.node; }

    /// Returns the time at which the worker was requested.
    time_point asked_for() const noexcept { return origin_.asked_for; }

    /// Sets the replaced generation and, if known, the way the replaced worker ended, for the welcome
    /// message. No effect after the welcome.
    void follow(std::uint64_t generation, std::optional<exit_class> ended_as) noexcept {
        origin_.predecessor = generation;
        origin_.predecessor_ended_as = ended_as;
    }
    std::uint64_t follows() const noexcept { return origin_.predecessor; }

    /// The code that receives the worker's calls, as its hello names it.
    const std::string& loop() const noexcept { return loop_; }

    // Parts of the worker.
    const worker_life& life() const noexcept { return core_.life; }
    health_check& health() noexcept { return health_; }
    const health_check& health() const noexcept { return health_; }
    worker_calls& calls() noexcept { return calls_; }
    const worker_calls& calls() const noexcept { return calls_; }
    recycling_watch& recycling() noexcept { return recycling_; }
    const recycling_watch& recycling() const noexcept { return recycling_; }
    worker_pulse& pulse() noexcept { return pulse_; }
    const boost::intrusive_ptr<served_sessions>& served() const noexcept { return served_; }

    /// Reports a failure of the worker. The recovery policy decides the reaction.
    void report(failure new_failure) override;

    /// Takes the worker out of service for good. The worker ends once no caller waits for its calls.
    void retire(departure_cause cause, std::string detail);

    /// Stops sending calls. The worker is suspended once its calls are answered. Does nothing if the worker
    /// is suspended or has left service.
    void suspend();
    void resume();

    /// Starts the stop sequence at `first`. A later call may begin at a later stage.
    void stop(stop_stage first);

    /// Makes the process print the stacks of its threads. Preconditions: process_facts::stack_signal is set.
    void print_stacks() noexcept;

    /// Sends SIGKILL to the process, before end_now().
    void kill() noexcept;

    /// Ends the process, blocking, and closes its descriptors. For use when no coroutine will run again.
    void end_now() noexcept;

    /// Returns true if a lease, or sessions strictly bound to the worker, keep the worker.
    bool is_held() const noexcept {
        const bool waits_for_sessions = core_.config.affinity.on_recycle == affinity_on_recycle::wait;
        return calls_.is_leased() || (served_->bound > 0 && waits_for_sessions);
    }

    /// Returns true if the worker is up and has no call, no lease and no suspension.
    bool is_idle() const noexcept {
        return core_.life.is_in_service() && calls_.empty() && !calls_.is_leased() &&
               !core_.life.readiness().has(obstacle::suspended);
    }
    std::uint64_t output_lines_dropped() const noexcept;

    /// Returns the known facts about the worker's end, as the base of an error.
    error_info describe() const;

    /// Return the end of the worker's output: as far as an error quotes it; and the account of a fatal error
    /// in it, empty without one.
    std::string last_output() const;
    std::string fatal_error() const;

private:
    /// The facts known at the start.
    struct origin {
        time_point asked_for;
        std::string token;
        std::uint64_t predecessor = 0; ///< generation
        std::optional<exit_class> predecessor_ended_as;
    };

    asio::awaitable<void> live();
    asio::awaitable<void> perform(life_step step);
    void on_task_failed(const std::exception_ptr& problem) noexcept;
    void end_with_pool(const std::exception_ptr& problem) noexcept;
    asio::awaitable<void> launch();
    asio::awaitable<void> watch_process();
    void collect();

    void describe_link_in(error_info& info) const;

    moment present() const { return core_.context.present(); }

    /// Called after every possible change of the life.
    void follow_life();

    void on_message(worker_message& message) override;
    void on_sign_of_life() override { pulse_.hear(); }
    void on_backlog_shrunk() override;
    void on_data_ended(std::string stray) override;
    void on_hello(hello_message& hello);
    void on_release(const release_message& message);
    void on_ready();
    asio::awaitable<void> warm_up();
    void begin_service();

    worker_core core_;
    origin origin_;
    guest_group guests_; ///< the user's coroutines for this worker
    initialization initialization_;
    health_check health_;
    worker_calls calls_;
    worker_records records_;
    recycling_watch recycling_;
    worker_pulse pulse_;
    worker_drain drain_;
    answer_intake answers_;
    const boost::intrusive_ptr<served_sessions> served_;
    std::string stacks_;
    std::string loop_;   ///< of the hello
    latch wake_;         ///< wakes live() after an event
    task_group tasks_;   ///< the launch, the process and its channels
    task_group service_; ///< the watches of a worker in service
};

/// Returns the way the worker ended. Precondition: the worker has ended.
inline worker_exit exit_of(const worker& one) {
    const auto& life = one.life();
    return {one.id(),
            life.process().pid,
            life.state(),
            life.process().status,
            life.ending().stages(),
            one.calls().unanswered()};
}

/// Returns the subject of log messages about the worker.
inline log_subject subject_of(const worker& one) {
    log_subject subject;
    subject.worker = &one.id();
    subject.pid = one.life().process().pid;
    return subject;
}

} // namespace skep
