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

/// What waits for a place at a worker: a call, a stream or a lease. Valid during scheduler::pick().
struct claim_view {
    std::string_view command; ///< what is called
    std::string_view session; ///< empty if it belongs to none
    int attempts = 0;         ///< workers it was sent to before, and lost with
};

/// Picks the worker for the next call. A pool tells its scheduler which slots can take a call, and asks it for one. A
/// worker that becomes free while calls wait takes the one that has waited longest, and nobody is asked.
/// All calls come from the pool's strand. A scheduler must neither block nor throw. A scheduler that throws, or picks a
/// slot that is not on offer, ends its pool as the lack of memory does (see pool), with errc::invalid_config. A claim waits if the
/// scheduler picks no slot for it, whatever is on offer.
class SKEP_API scheduler {
public:
    virtual ~scheduler() = default;

    /// `slot` can take another call and has `load` calls now. Called again whenever its load changes.
    virtual void offer(std::uint32_t slot, std::size_t load) = 0;

    /// `slot` can take no call: at capacity, unhealthy or gone. Withdrawing a slot not on offer does nothing.
    virtual void withdraw(std::uint32_t slot) = 0;

    /// The slot for `claim`, or nothing if none is on offer. The slot stays on offer: the pool follows up with offer()
    /// or withdraw().
    virtual std::optional<std::uint32_t> pick(const claim_view& claim) = 0;
};

/// The built-in schedulers. Every operation of each is O(1) in the number of workers (round_robin: one
/// machine word per 64 slots, and one per 4,096).
enum class scheduling {
    least_loaded, ///< fewest running calls; among equals the one used last, whose caches are warm (default)
    round_robin,  ///< the next slot in circular order
    lifo,         ///< the slot that became free last: a warm few do the work, the rest stay idle
    fifo          ///< the slot that has been free longest
};

/// Makes the scheduler of one pool.
using scheduler_factory = std::function<std::unique_ptr<scheduler>()>;

/// One of the built-in schedulers.
SKEP_API std::unique_ptr<scheduler> make_scheduler(scheduling kind);

} // namespace skep
