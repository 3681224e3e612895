// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/export.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

namespace skep {

/// A claim: a call, a stream or a lease that waits for a place at a worker. Valid during scheduler::pick().
struct claim_view {
    std::string_view command; ///< the command
    std::string_view session; ///< the session; empty if the claim has none
    int attempts = 0;         ///< workers that the claim was sent to before, and lost with
};

/// Picks the worker for the next call. The pool tells its scheduler which slots can take a call, and asks the
/// scheduler for one of them. Exception: a worker that becomes free while calls wait takes the call that has
/// waited longest, without a question to the scheduler. If pick() returns no slot, the claim waits, even if
/// slots are on offer.
///
/// Executor: all functions are called on the pool's strand. They must not block or throw.
/// Errors: a scheduler that throws, or picks a slot that is not on offer, ends its pool with
/// errc::invalid_config, in the same way as a lack of memory (see pool).
class SKEP_API scheduler {
public:
    virtual ~scheduler() = default;

    /// Announces that `slot` can take another call, and now has `load` calls. Called again whenever the load
    /// changes.
    virtual void offer(std::uint32_t slot, std::size_t load) = 0;

    /// Announces that `slot` can take no call: it is at capacity, unhealthy or gone. Must do nothing for a
    /// slot that is not on offer.
    virtual void withdraw(std::uint32_t slot) = 0;

    /// Returns the slot for `claim`, or an empty optional if no slot is on offer. The slot stays on offer:
    /// the pool then calls offer() or withdraw().
    virtual std::optional<std::uint32_t> pick(const claim_view& claim) = 0;
};

/// The built-in schedulers. Complexity: O(1) in the number of workers for every operation (round_robin: one
/// machine word per 64 slots, and one per 4,096).
enum class scheduling {
    least_loaded, ///< fewest running calls; among equals the slot used last, whose caches are warm (default)
    round_robin,  ///< the next slot in circular order
    lifo,         ///< the slot that became free last: a warm few do the work, the rest stay idle
    fifo,         ///< the slot that has been free longest
    pack          ///< most running calls: fills a worker before the next, the rest stay idle
};

/// Makes the scheduler of one pool.
using scheduler_factory = std::function<std::unique_ptr<scheduler>()>;

/// Returns a new built-in scheduler.
SKEP_API std::unique_ptr<scheduler> make_scheduler(scheduling kind);

} // namespace skep
