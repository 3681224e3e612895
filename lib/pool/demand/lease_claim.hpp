// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "call/call.hpp"
#include "call/claim_list.hpp"
#include <skep/completion.hpp>
#include <skep/lease.hpp>

#include <atomic>
#include <memory>
#include <source_location>
#include <utility>

namespace skep {

/// State of a lease.
enum class lease_state : std::uint8_t {
    fresh,    ///< not yet seen by the pool
    queued,   ///< waits for a worker
    draining, ///< has a worker that still has calls of others
    held,
    returning, ///< the last calls end, and the worker is reset
    lost,      ///< the worker has left
    over
};

/// One lease, from checkout() to its return. On the strand, unless stated otherwise.
struct lease_claim final : claim {
    lease_claim(checkout_options checkout, const std::source_location& place)
        : options(std::move(checkout)), location(place) {
        is_pipelinable = false;
        wants_whole_worker = !options.wants_one_place();
    }

    claim_view view() const noexcept override { return {}; }

    void forget() noexcept override {
        const claim_ptr self(this);
        is_forgotten = true;
        caller = {};
        held = {};
        closing = {};
        closer = {};
        while (!waiting.empty()) {
            const auto each = waiting.pop_front();
            each->forget();
        }
    }

    /// Returns the number of places that the lease's calls and batches take at the worker.
    std::size_t places_taken() const noexcept;

    /// Returns true if the worker can take another call of the lease.
    bool can_begin_call() const noexcept;

    /// Returns true if calls that can only end after `inner` hold all places of the lease.
    bool is_full_until(const call& inner) const noexcept;

    /// Completes checkout().
    void answer() noexcept { caller.end(lazy_error(failure), std::move(held)); }

    /// Lets close() wait. The lease stays alive until close() is completed.
    void attach_closer(completion<void>&& new_closer) noexcept {
        closer = std::move(new_closer);
        closing = this;
    }

    /// Completes close(), with or without an error.
    void answer_closer(lazy_error&& problem = {}) noexcept {
        const auto self = std::move(closing);
        closer.end(std::move(problem), {});
    }

    checkout_options options;
    std::source_location location;
    lease_state state = lease_state::fresh;
    worker_id assigned_id;    ///< read by the user, too, after checkout()
    std::size_t places = 0;   ///< number of places at the worker
    time_point granted;       ///< when the caller received the lease
    claim_list<call> waiting; ///< calls that wait for a place of the lease
    call_ptr reset;           ///< runs at the return; null if there is none, or after its begin
    completion<lease> caller;
    lease held; ///< for the caller; keeps this lease alive until then
    completion<void> closer;
    boost::intrusive_ptr<lease_claim> closing; ///< this lease, while the closer waits
    lazy_error failure;                        ///< error of checkout()
    std::atomic<bool> is_dropped{false};       ///< the user's lease was destroyed; used on any thread
    std::atomic<bool> is_forgotten{false};     ///< the execution context has ended; used on any thread
};

using lease_ptr = boost::intrusive_ptr<lease_claim>;

/// Returns null if the call has no lease.
inline lease_claim* lease_of(const call& leased_call) noexcept {
    return leased_call.ties && leased_call.ties->lease
               ? static_cast<lease_claim*>(leased_call.ties->lease.get())
               : nullptr;
}

} // namespace skep
