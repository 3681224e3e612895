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

/// Looks after one worker's health: probes it, by a command or by the user's function, and judges what its calls say.
/// What it finds it reports to the worker. On the pool's strand.
class health_check final : private call_sink {
public:
    health_check(worker_core& core, guest_group& guests);

    /// From the worker's hello: what probes it.
    void introduce(const hello_message& hello);

    /// The worker is up. False if there is nothing to look after it with.
    bool begin(time_point now);

    /// Probes, until it is cancelled.
    asio::awaitable<void> run();

    /// Whether it looks at more than that the worker answers.
    bool is_own() const noexcept { return begun_ && own_; }
    bool can_probe() const noexcept { return begun_; }

    /// A probe never waits behind a call. A routine one that shows only that the worker answers comes when it has nothing to
    /// do, any other as soon as a place is free. One that was sent is waited for.
    bool can_probe_now() const noexcept;

    /// Begins a probe as soon as one can begin. Returns its number: how many probes have ended once it has.
    std::uint64_t ask() {
        asked_ = true;
        wake_.open();
        return begun_probes_ + 1;
    }
    std::uint64_t ended() const noexcept { return ended_probes_; }
    const std::optional<probe_result>& last() const noexcept { return last_; }
    bool is_well() const noexcept { return !begun_ || !monitor_.is_degraded(); }

    /// Something has happened that may let a probe begin, or make it superfluous.
    void wake() { wake_.open(); }

    // What the worker's calls say of it.
    void answered(time_point now) noexcept;
    void failed_call(const error_message& error, time_point now);

    /// A routine probe of it is under way.
    bool is_at_probe() const noexcept { return begun_probes_ != ended_probes_ && is_well(); }

    /// The worker has a probe that it has not answered.
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

    /// The worker's next place that becomes free is for a probe, or for calls again.
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
    boost::json::value value_; ///< what the check returned
    call_ptr unanswered_;      ///< a probe
    std::string complaint_;
    latch wake_;
    latch probe_over_;
};

} // namespace skep
