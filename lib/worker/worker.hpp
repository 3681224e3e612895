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

/// The sessions that one worker serves, or has served: what they know of the worker. Lives as long as any of them.
struct served_sessions : boost::intrusive_ref_counter<served_sessions, boost::thread_unsafe_counter> {
    served_sessions(worker& one, const worker_id& id) noexcept
        : serving_worker(&one), slot(id.slot), generation(id.generation) {}

    worker* serving_worker; ///< null once it has left service
    std::uint32_t slot;
    std::uint64_t generation;
    bool has_moved_on = false; ///< it has left as planned, and its sessions are to go elsewhere
    std::size_t sessions = 0;  ///< while it serves
    std::size_t bound = 0;     ///< of these: strictly
};

/// One incarnation of a slot: a process, what connects it, and its parts, from launch to reaping. It wires its parts
/// together; what is to be done when is up to its worker_life. It announces `ended` once, last, and only when nothing of
/// it runs any more. run() is that life; every other function is called on the pool's strand meanwhile.
class worker final : public std::enable_shared_from_this<worker>, private link_user {
public:
    /// `initial_state`: its life while its slot was vacant, if there was one.
    worker(const worker_surroundings& surroundings, worker_id id,
           std::optional<worker_state_machine> initial_state = {});

    asio::awaitable<void> run();

    const worker_id& id() const noexcept { return core_.id; }

    /// When it was asked for.
    time_point asked_for() const noexcept { return origin_.asked_for; }

    /// The generation whose place it takes, and how that one ended if that is known: for its welcome. Of no effect
    /// afterwards.
    void follow(std::uint64_t generation, std::optional<exit_class> ended_as) noexcept {
        origin_.predecessor = generation;
        origin_.predecessor_ended_as = ended_as;
    }
    std::uint64_t follows() const noexcept { return origin_.predecessor; }

    // Its parts.
    const worker_life& life() const noexcept { return core_.life; }
    health_check& health() noexcept { return health_; }
    const health_check& health() const noexcept { return health_; }
    worker_calls& calls() noexcept { return calls_; }
    const worker_calls& calls() const noexcept { return calls_; }
    recycling_watch& recycling() noexcept { return recycling_; }
    const recycling_watch& recycling() const noexcept { return recycling_; }
    worker_pulse& pulse() noexcept { return pulse_; }
    const boost::intrusive_ptr<served_sessions>& served() const noexcept { return served_; }

    /// Something went wrong with it: the recovery policy decides what follows.
    void report(failure new_failure) override;

    /// Takes it out of service for good; it ends once nobody waits for a call on it.
    void retire(departure_cause cause, std::string detail);

    /// No more calls; suspended once those it has are answered. Does nothing if it is or has left service.
    void suspend();
    void resume();

    /// Takes it through the stop sequence, beginning at `first`. A later call may begin further on.
    void stop(stop_stage first);

    /// SIGKILL to its process, before end_now().
    void kill() noexcept;

    /// Ends its process, blocking, and closes its descriptors. For when no coroutine will ever run again.
    void end_now() noexcept;

    /// Whether it is to stay for the sake of a lease, or of sessions that are strictly bound to it.
    bool is_held() const noexcept {
        const bool waits_for_sessions = core_.config.affinity.on_recycle == affinity_on_recycle::wait;
        return calls_.is_leased() || (served_->bound > 0 && waits_for_sessions);
    }

    /// Up, and neither at a call nor leased nor suspended.
    bool is_idle() const noexcept {
        return core_.life.is_in_service() && calls_.empty() && !calls_.is_leased() &&
               !core_.life.readiness().has(obstacle::suspended);
    }
    std::uint64_t output_lines_dropped() const noexcept;

    /// What is known about its end, as the base of an error.
    error_info describe() const;

private:
    /// What it is begun with.
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

    moment present() const { return core_.context.present(); }

    /// To be called after whatever may have changed its life.
    void follow_life();

    void on_message(worker_message& message) override;
    void on_sign_of_life() override { pulse_.hear(); }
    void on_backlog_shrunk() override;
    void on_data_ended(std::string stray) override;
    void on_hello(hello_message& hello);
    void on_ready();
    asio::awaitable<void> warm_up();
    void begin_service();

    worker_core core_;
    origin origin_;
    guest_group guests_; ///< the user's coroutines that concern it
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
    latch wake_;         ///< something that live() waits for may have happened
    task_group tasks_;   ///< the launch, and what goes with the process and its channels
    task_group service_; ///< what looks after it while it serves
};

/// How the worker ended; to be asked once it has.
inline worker_exit exit_of(const worker& one) {
    const auto& life = one.life();
    return {one.id(), life.process().pid, life.state(), life.process().status, life.ending().stages()};
}

/// For messages about it.
inline log_subject subject_of(const worker& one) {
    log_subject subject;
    subject.worker = &one.id();
    subject.pid = one.life().process().pid;
    return subject;
}

} // namespace skep
