// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "call/call.hpp"
#include "policy/poison.hpp"
#include "policy/recovery.hpp"
#include "policy/retry_budget.hpp"
#include "runtime/pool_context.hpp"
#include <skep/pool_config.hpp>
#include <skep/retry_policy.hpp>

#include <optional>

namespace skep {

struct lost_call_notice;

/// Decides about calls that were lost with their worker, and about inputs that crash workers.
class lost_call_policy {
public:
    struct verdict {
        call_fate fate;
        duration wait{};              ///< before the retry
        bool budget_is_spent = false; ///< the only obstacle to a retry
    };

    lost_call_policy(const pool_config& config, const pool_context& context);

    /// A call that may not go elsewhere is not retried, and takes nothing from the budget.
    verdict judge(const lost_call_notice& notice, bool may_go_elsewhere, const error& cause, time_point now);

    /// Makes room in the budget for the loss of so many calls at once.
    void provide_for(std::size_t calls) noexcept { budget_.provide(losses_in_budget * calls); }

    /// The call's worker has crashed, after the caller had abandoned the call.
    void blame(const call& abandoned_call, time_point now);

    /// Returns true if workers crashed on that input of that session. Crashes in a lease do not count: the
    /// lease has ended with its worker.
    bool is_poison(const call& suspect, time_point now);
    void succeeded() noexcept { budget_.succeeded(); }
    double tokens() const noexcept { return budget_.tokens(); }

private:
    static constexpr std::size_t losses_in_budget = 4;

    static retry_options with_room_for_one_loss(retry_options options, std::size_t capacity);
    int crashes_of(const call& lost_call, time_point now);
    poison_list::input input_of(const call& subject);

    retry_policy policy_;
    retry_budget budget_;
    poison_list poison_;
    int poison_crashes_;
    std::optional<keyed_digest::key> secret_; ///< made for the first blamed input
    const pool_context& context_;
};

} // namespace skep
