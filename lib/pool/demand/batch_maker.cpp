// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "pool/demand/batch_maker.hpp"

#include "async/checkpoint.hpp"

#include <algorithm>

namespace skep {

namespace {

// Workers name their commands, and a script may name them anew each time.
constexpr std::size_t most_histories = 1024;

// A caller that is answered in this turn resumes in the next, and its next call reaches the strand in the
// one after.
constexpr int hops_of_a_caller = 2;

// Waiting claims that a batch passes over to find its calls.
constexpr std::size_t most_looked_past = 64;

/// Returns true if the later calls of a session may not overtake the claim.
bool keeps_order(const call& first, const call* other) noexcept {
    return first.has_session() && other != nullptr && other->req.session() == first.req.session();
}

} // namespace

batch_maker::batch_maker(const pool_context& context, wait_queue& queue)
    : context_(context), queue_(queue), has_due_(context.executor) {}

void batch_maker::arrived(const call& new_call, time_point now) {
    if (auto* const past = known_history_of(new_call)) {
        past->arrived(now);
    }
}

void batch_maker::answered(const call& answered_call, const worker& sender, time_point now) {
    auto* const past = known_history_of(answered_call);
    if (past == nullptr) {
        return;
    }
    past->answered();
    if (answered_call.begun <= now && !sender.calls().has_in_place(answered_call)) {
        past->ran(now - answered_call.begun);
    }
}

bool batch_maker::gathers(const call& new_call, const worker& place) {
    if (!is_batched(new_call, place) || new_call.has_session()) {
        return false;
    }
    const auto& past = history_of(new_call);
    const auto& limits = place.calls().batches_of(new_call.req.command());
    const bool waits = past.is_crowded() || limits.wait > duration::zero();
    if (waits) {
        be_due(time_point::min());
    }
    return waits;
}

bool batch_maker::is_held(claim& waiting_claim, const worker& place) {
    auto* const first = waiting_claim.as_call();
    if (first == nullptr || !is_batched(*first, place)) {
        return false;
    }
    const auto& limits = place.calls().batches_of(first->req.command());
    if (first->has_session() && has_place(place)) {
        return false; // a newer call of the session must not find the place free
    }
    auto& past = history_of(*first);
    const bool may_gather = past.is_crowded() && !has_gathered_;
    if (has_place(place) && limits.wait == duration::zero() && !may_gather) {
        return false;
    }
    const auto next = outlook(*first, place);
    if (next.has_place && may_gather && next.calls < limits.most) {
        be_due(time_point::min());
        return true;
    }
    const auto until = time_to_send(next, past);
    const bool is_held = until > context_.now();
    if (is_held && until != time_point::max()) {
        past.held();
        be_due(until);
    }
    return is_held;
}

std::vector<call_ptr> batch_maker::companions(const call& first, const worker& place) {
    std::vector<call_ptr> found;
    for_each_companion(first, place, [&](call& each) { found.emplace_back(&each); });
    return found;
}

bool batch_maker::may_go_together(const call& first, const call& other) noexcept {
    return !other.runs_alone && first.req.command() == other.req.command() &&
           first.req.batch_key() == other.req.batch_key() && first.req.session() == other.req.session();
}

asio::awaitable<void> batch_maker::wait() {
    has_gathered_ = false;
    while (context_.now() < due_) {
        has_due_.close();
        co_await has_due_.wait_until(due_);
    }
    if (is_gathering()) {
        for (int hop = 0; hop < hops_of_a_caller; ++hop) {
            co_await end_turn();
        }
    }
    has_gathered_ = is_gathering();
    due_ = time_point::max();
}

batch_history& batch_maker::history_of(const call& subject) {
    if (histories_.size() >= most_histories) {
        histories_.clear();
    }
    return histories_[subject.req.command()];
}

batch_history* batch_maker::known_history_of(const call& subject) {
    if (histories_.empty()) {
        return nullptr;
    }
    const auto found = histories_.find(subject.req.command());
    return found == histories_.end() ? nullptr : &found->second;
}

batch_outlook batch_maker::outlook(const call& first, const worker& place) {
    batch_outlook next;
    next.limits = place.calls().batches_of(first.req.command());
    next.oldest = first.submitted;
    next.deadline = first.deadline;
    next.has_place = has_place(place);
    for_each_companion(first, place, [&](const call& each) {
        ++next.calls;
        next.deadline = std::min(next.deadline, each.deadline);
    });
    return next;
}

/// Calls `act` for the waiting calls that would be in a batch with `first`, in the order of arrival.
template <class Act>
void batch_maker::for_each_companion(const call& first, const worker& place, Act act) {
    auto room = place.calls().batches_of(first.req.command()).most - 1;
    auto patience = most_looked_past;
    const bool is_pipelined = !has_place(place);
    const auto visit = [&](claim& each) {
        auto* const other = each.as_call();
        const bool is_done = room == 0 || patience == 0;
        const bool may_go = other != nullptr && other != &first && may_go_together(first, *other) &&
                            (other->is_pipelinable || !is_pipelined);
        if (!is_done && may_go) {
            act(*other);
            --room;
            return false;
        }
        --patience;
        return is_done || (other != &first && keeps_order(first, other));
    };
    if (first.has_session()) {
        queue_.find_for(place.id().slot, visit);
    } else {
        queue_.find_unbound(visit);
    }
}

/// The pool serves its workers at that time.
void batch_maker::be_due(time_point moment) {
    if (moment < due_) {
        due_ = moment;
        has_due_.open();
    }
}

} // namespace skep
