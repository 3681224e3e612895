// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "pool/demand/lost_call_policy.hpp"

#include "worker/worker.hpp"

#include <algorithm>

namespace skep {

/// The loss of a single worker must not use up the budget.
retry_options lost_call_policy::with_room_for_one_loss(retry_options options, std::size_t capacity) {
    options.budget = options.budget == 0 ? 0 : std::max(options.budget, losses_in_budget * capacity);
    return options;
}

lost_call_policy::lost_call_policy(const pool_config& config, const pool_context& context)
    : budget_(with_room_for_one_loss(config.retry, config.capacity)),
      poison_(config.crash_barrier),
      poison_crashes_(config.crash_barrier.poison_crashes),
      context_(context) {
    policy_.attempts(config.retry.attempts).backoff(config.retry.backoff).jitter(config.retry.jitter);
}

lost_call_policy::verdict lost_call_policy::judge(const lost_call_notice& notice, bool may_go_elsewhere,
                                                  const error& cause, time_point now) {
    auto& lost = *notice.lost;
    lost_call facts;
    facts.may_have_begun = notice.may_have_begun;
    facts.idempotent =
        may_go_elsewhere && lost.req.idempotent() && (lost.stream == nullptr || !lost.stream->has_begun);
    if (notice.may_have_begun && notice.is_to_blame && poison_crashes_ > 0) {
        facts.poisonous = crashes_of(lost, now) >= poison_crashes_;
    }
    lost.runs_alone = lost.runs_alone || notice.is_suspect; // to show whether it is to blame
    const int crashed_batches = lost.runs_alone ? 1 : 0;
    auto wait = policy_.wait_after(lost.attempts - crashed_batches, cause, context_.random());
    if (notice.is_suspect) {
        wait = duration::zero();
    }
    facts.within_attempts = wait.has_value();
    const bool would_retry = recover_call(facts) == call_fate::retry;
    facts.within_budget = !would_retry || budget_.spend();
    return {recover_call(facts), wait.value_or(duration::zero()), !facts.within_budget};
}

bool lost_call_policy::is_poison(const call& suspect, time_point now) {
    const bool may_be =
        poison_.refuses_any() && !suspect.is_leased() && poison_.may_refuse(outline_of(suspect.req));
    return may_be && poison_.is_poison(input_of(suspect), now);
}

void lost_call_policy::blame(const call& abandoned_call, time_point now) {
    if (poison_crashes_ > 0) {
        crashes_of(abandoned_call, now);
    }
}

/// Returns the number of worker crashes on this input, including this one. A lease has had one worker only.
int lost_call_policy::crashes_of(const call& lost_call, time_point now) {
    return lost_call.is_leased() ? 1 : poison_.blame(input_of(lost_call), now);
}

poison_list::input lost_call_policy::input_of(const call& subject) {
    if (!secret_) {
        secret_ = keyed_digest::key_from(context_.make_token());
    }
    return {outline_of(subject.req), digest_of(subject.body, subject.req, *secret_)};
}

} // namespace skep
