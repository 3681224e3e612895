// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/latch.hpp"
#include "policy/batching.hpp"
#include "pool/demand/lease_claim.hpp"
#include "pool/demand/wait_queue.hpp"
#include "worker/worker.hpp"

#include <string>
#include <unordered_map>
#include <vector>

namespace skep {

/// Makes batches of waiting calls: decides when a batch is sent, and which calls go together. Calls of one
/// command, batch key, and session or lease do. On the pool's strand.
class batch_maker {
public:
    batch_maker(const pool_context& context, wait_queue& queue);

    /// Returns true if the worker runs the call in a batch, perhaps of this call alone.
    bool is_batched(const call& subject, const worker& place) const noexcept {
        return place.calls().has_batches() && !subject.runs_alone &&
               place.calls().batches_of(subject.req.command()).most > 1;
    }

    /// Returns the pace of the call's batches.
    pace pace_of(const call& batched_call) {
        return history_of(batched_call).is_short() ? pace::brisk : pace::slow;
    }

    /// A call has arrived, or was answered.
    void arrived(const call& new_call, time_point now);
    void answered(const call& answered_call, const worker& sender, time_point now);

    /// Returns true if a new call had better wait, though `place` is free, until the calls that come with it
    /// have arrived, for example of callers that were answered together. The pool then serves its workers
    /// soon.
    bool gathers(const call& new_call, const worker& place);

    /// Returns true if a batch may be held back.
    bool is_holding() const noexcept { return due_ != time_point::max(); }

    /// Returns true if newer calls must not overtake the waiting calls: these are served soon.
    bool is_gathering() const noexcept { return due_ == time_point::min(); }

    /// Returns true if the claim is left waiting, though `place` has room for it: its batch is to grow. The
    /// pool serves its workers again when that time is over.
    bool is_held(claim& waiting_claim, const worker& place);

    /// Returns the calls in the queue that go to `place` together with `first`, a call without a lease.
    std::vector<call_ptr> companions(const call& first, const worker& place);

    /// Returns true if the calls, of one lease or of none, may go together.
    static bool may_go_together(const call& first, const call& other) noexcept;

    /// A batch is being sent.
    void formed(const call& first, std::size_t calls) { history_of(first).formed(calls); }

    /// Waits until waiting calls are due to be sent: the pool then serves its workers.
    asio::awaitable<void> wait();

private:
    bool has_place(const worker& place) const noexcept { return place.calls().accepts_call(); }
    batch_history& history_of(const call& subject);
    batch_history* known_history_of(const call& subject);
    batch_outlook outlook(const call& first, const worker& place);
    template <class Act>
    void for_each_companion(const call& first, const worker& place, Act act);
    void be_due(time_point moment);

    const pool_context& context_;
    wait_queue& queue_;
    std::unordered_map<std::string, batch_history> histories_; ///< of batch commands, by name
    time_point due_ = time_point::max();
    bool has_gathered_ = false; ///< the pool serves its workers after a gathering
    latch has_due_;
};

} // namespace skep
