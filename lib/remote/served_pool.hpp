// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/link_message.hpp"
#include "wire/node_beacon.hpp"
#include <skep/call_interface.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>

namespace skep {

/// A pool that a node offers to clients.
class served_pool {
public:
    served_pool(call_interface& served_calls, std::function<node_beacon::pool_load()> load_of_calls)
        : calls(served_calls), load(std::move(load_of_calls)) {}

    call_interface& calls;                        ///< outlives the node
    std::function<node_beacon::pool_load()> load; ///< callable on the node's strand
    double queue_per_place = 2;                   ///< calls that may wait, for each place of the pool
    std::size_t running = 0;                      ///< calls of all clients that run or wait
    link_load told{};                             ///< in the messages of the links

    /// Returns the most calls of all clients at a time, and of each: 1..65,536.
    std::size_t most_calls() const {
        constexpr double most = 65'536;
        return static_cast<std::size_t>(std::clamp(load().places * (1 + queue_per_place), 1.0, most));
    }

    /// Counts a call of a client that begins (1) or ends (-1).
    void count(int change) {
        running = static_cast<std::size_t>(static_cast<std::ptrdiff_t>(running) + change);
        look();
    }

    /// Looks at the load, for `told`.
    void look() {
        const auto now = load();
        const auto calls = std::max<std::size_t>(running, std::size_t(now.in_flight) + now.queued);
        told = {limited(calls), limited(now.places), told.is_draining, running >= most_calls()};
    }

private:
    static std::uint16_t limited(std::size_t number) noexcept {
        return static_cast<std::uint16_t>(
            std::min<std::size_t>(number, std::numeric_limits<std::uint16_t>::max()));
    }
};

} // namespace skep
