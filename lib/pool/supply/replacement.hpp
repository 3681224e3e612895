// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/condition_variable.hpp"
#include "pool/supply/roster.hpp"
#include "telemetry/log.hpp"

#include <deque>
#include <functional>
#include <optional>
#include <string>

namespace skep {

/// Replaces workers as planned: workers due for recycling, and workers restarted by the user. The new worker
/// is up before the old worker leaves. On the pool's strand.
class replacement {
public:
    /// Starts a worker for the slot with that number.
    using starter = std::function<std::shared_ptr<worker>(std::size_t)>;

    replacement(const pool_context& context, const pool_config& config, const pool_log& log, roster& workers,
                condition_variable& change_signal, starter start_successor);

    /// Plans a successor for the worker.
    void recycle(const worker& used_worker, std::string reason);

    /// Operations of users: replace one worker, or all, and return when the last old worker has ended. Throw
    /// error(restart_failed) when a successor does not come up. Cancelling ends the wait only.
    asio::awaitable<void> restart(worker_id id);
    asio::awaitable<void> restart_all();

    /// Finds due replacements, and begins as many as may run at a time.
    void plan(time_point now);

    /// Returns the time of the next check.
    time_point next_check(time_point now) const;

    /// The successor of a slot is up, or has failed to come up.
    void succeed(slot& worker_slot);
    void on_successor_failed(worker& failed_worker, double random, time_point now);

    /// Returns why the worker of a slot is to be replaced, while it cannot leave; empty otherwise.
    std::string why_it_waits(std::size_t index) const;

    /// The worker of a slot has left: drops its replacement.
    void forget(std::size_t index);

private:
    void plan_due(time_point now);
    recycle_plan::verdict judge(slot& worker_slot, time_point now, bool with_memory);
    void judge_memory_of_leavers(time_point now);
    void begin_due(time_point now);
    void want(std::size_t index, std::string reason);
    template <class MakeText>
    void warn_once(bool& has_warned, const worker& about, MakeText&& make_text);
    void compare_age_with_start(const worker& new_worker);
    static void dismiss_successor(slot& worker_slot, std::string reason);
    void break_off_restarts(std::size_t index, const worker& failed_worker);
    bool may_begin(const slot& worker_slot, time_point now) const;
    void log_wait(slot& worker_slot) const;
    bool limits_memory() const noexcept;
    std::size_t under_way() const noexcept;
    asio::awaitable<void> replace_all(std::vector<worker_id> workers, std::string reason);

    const pool_context& context_;
    const pool_config& config_;
    const pool_log& log_;
    roster& roster_;
    condition_variable& changed_;
    starter start_successor_;
    std::deque<std::size_t> wanted_; ///< slots, in the order of their turns
    time_point next_memory_look_;
    /// Warnings already given, once in a pool's life.
    struct warnings {
        bool unmeasured = false;
        bool in_vain = false;
        bool short_age = false;
    } warned_;
    std::uint64_t last_restart_ = 0;
    std::optional<error> restart_problem_; ///< of the successor that failed last
};

} // namespace skep
