// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/guest_group.hpp"
#include "call/call.hpp"
#include "policy/health_monitor.hpp"
#include "worker/worker_core.hpp"
#include <skep/pool_status.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace skep {

/// Watches one worker's health: probes the worker, by a command or by the user's function, and judges the
/// results of calls. Reports failures to the worker. Used on the pool's strand.
class health_check final : private call_sink {
public:
    health_check(worker_core& core, guest_group& guests);

    /// Takes the means of probing from the worker's hello.
    void introduce(const hello_message& hello);

    /// Starts when the worker is up. Returns false if health checks are off or no probe exists.
    bool begin(time_point now);

    /// Sends probes until cancelled.
    asio::awaitable<void> run();

    /// Returns true if the probe checks more than whether the worker answers.
    bool is_own() const noexcept { return begun_ && own_; }
    bool can_probe() const noexcept { return begun_; }

    /// Returns true if a probe may begin now. A probe never waits behind a call. A routine probe that only
    /// shows that the worker answers needs an idle worker; any other probe needs a free place. A probe
    /// already sent is awaited.
    bool can_probe_now() const noexcept;

    /// Begins a probe as soon as possible. Returns the number that ended() reaches once the probe has ended.
    std::uint64_t ask() {
        asked_ = true;
        wake_.open();
        return begun_probes_ + 1;
    }
    std::uint64_t ended() const noexcept { return ended_probes_; }
    const std::optional<probe_result>& last() const noexcept { return last_; }
    bool is_well() const noexcept { return !begun_ || !monitor_.is_degraded(); }

    /// Wakes the loop after an event that may let a probe begin, or make the probe superfluous.
    void wake() { wake_.open(); }

    // Record the results of the worker's calls.
    void answered(time_point now) noexcept;
    void failed_call(const call& subject, const error_message& error, time_point now);

    /// Returns true while a routine probe is in flight.
    bool is_at_probe() const noexcept { return begun_probes_ != ended_probes_ && is_well(); }

    /// Returns true while the worker has not answered a probe.
    bool is_probing() const noexcept { return unanswered_ != nullptr; }

private:
    bool is_wanted() const noexcept;
    asio::awaitable<void> probe_and_judge();
    asio::awaitable<std::string> probe();
    asio::awaitable<std::string> probe_by_command();
    asio::awaitable<std::string> probe_by_function();
    void judge(const std::string& complaint);
    void put_answer(reply&& answer) override;
    void put_failure(lazy_error&& failure) override;
    void put_loss() noexcept override;
    void forget() noexcept override {}
    void report(std::string detail);

    /// Sets whether the worker's next free place is for a probe.
    void expect_probe(bool is_due);
    void restore();
    void dispel_doubt();

    worker_core& core_;
    guest_group& guests_; ///< for the user's function
    health_monitor monitor_;
    std::string command_;
    bool own_ = false;
    bool begun_ = false;
    bool asked_ = false; ///< for a probe, by the user
    std::uint64_t begun_probes_ = 0;
    std::uint64_t ended_probes_ = 0;
    std::optional<probe_result> last_;
    boost::json::value value_; ///< the result of the check
    call_ptr unanswered_;      ///< the probe in flight
    std::string complaint_;
    std::uint64_t failed_place_ = 0; ///< place of the last call that failed in a way that counts
    latch wake_;
    latch probe_over_;
};

} // namespace skep
