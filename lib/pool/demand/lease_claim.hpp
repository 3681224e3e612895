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

/// Where a lease is on its way.
enum class lease_state : std::uint8_t {
    fresh,    ///< not yet seen by the pool
    queued,   ///< waits for a worker
    draining, ///< has one, which is still at the calls of others
    held,
    returning, ///< its last calls end, and the worker is reset
    lost,      ///< its worker is gone
    over
};

/// One lease, from checkout() to its return. On the strand, but for what is said otherwise.
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

    /// Its calls that the worker has.
    std::size_t calls_at_worker() const noexcept;

    /// Whether the worker can take another of its calls.
    bool can_begin_call() const noexcept;

    /// Whether calls that can only end after `inner` hold all of its places.
    bool is_full_until(const call& inner) const noexcept;

    /// Lets checkout() return.
    void answer() noexcept { caller.end(lazy_error(failure), std::move(held)); }

    /// Has close() wait. The lease lives until then, whoever lets go of it.
    void attach_closer(completion<void>&& new_closer) noexcept {
        closer = std::move(new_closer);
        closing = this;
    }

    /// Lets close() return, or fail.
    void answer_closer(lazy_error&& problem = {}) noexcept {
        const auto self = std::move(closing);
        closer.end(std::move(problem), {});
    }

    checkout_options options;
    std::source_location location;
    lease_state state = lease_state::fresh;
    worker_id assigned_id;    ///< for the user too, once checkout() has returned
    std::size_t places = 0;   ///< of the worker
    time_point granted;       ///< when it was handed over
    claim_list<call> waiting; ///< its calls that wait for each other
    call_ptr reset;           ///< to be run at its return; null if there is none, or no more
    completion<lease> caller;
    lease held; ///< for the caller; keeps this alive until then
    completion<void> closer;
    boost::intrusive_ptr<lease_claim> closing; ///< this, while the closer waits
    lazy_error failure;                        ///< of checkout()
    std::atomic<bool> is_dropped{false};       ///< nobody has it any more; from any thread
    std::atomic<bool> is_forgotten{false};     ///< the execution context is gone; from any thread
};

using lease_ptr = boost::intrusive_ptr<lease_claim>;

/// Null if the call is not made with a lease.
inline lease_claim* lease_of(const call& leased_call) noexcept {
    return leased_call.ties && leased_call.ties->lease
               ? static_cast<lease_claim*>(leased_call.ties->lease.get())
               : nullptr;
}

} // namespace skep
