// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "simulation/call_record.hpp"
#include <skep/lease.hpp>

#include <boost/asio/cancellation_signal.hpp>

#include <optional>
#include <string>

namespace skep::simulation {

/// How a lease goes back.
enum class way_back { dropped, closed, kept_to_the_end };

/// One checkout, and what has come of it.
struct lease_record {
    std::string token;
    bool wants_one_place = false;
    std::string session;           ///< whose worker it wishes for; empty if none
    std::optional<worker_id> wish; ///< the worker that it wishes for by its id
    affinity_mode mode = affinity_mode::hint;
    duration queue_timeout{};
    std::size_t calls = 0; ///< that its holder makes
    way_back how = way_back::dropped;
    call_record* reset = nullptr;

    bool asked = false; ///< checkout() was called
    time_point submitted;
    std::optional<time_point> cancelled;
    std::optional<time_point> told; ///< what has become of the checkout
    bool has_failed = false;
    sim_worker* home = nullptr; ///< once it is granted
    bool is_given_back = false; ///< or about to be
    lease held;
    boost::asio::cancellation_signal cancel;

    bool insists() const noexcept { return mode != affinity_mode::hint; }
    bool waits() const noexcept { return asked && !has_failed && home == nullptr; }
    bool is_held() const noexcept { return home != nullptr && !is_given_back; }
};

} // namespace skep::simulation
