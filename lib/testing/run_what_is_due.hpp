// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/clock.hpp"

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>

#include <cstddef>
#include <memory>

namespace skep {

/// Runs every handler that can run without time passing. Returns their number, with that of a timer that is
/// due at once: it makes the reactor look at the clock, though perhaps not in the first poll, as the kernel
/// may tell of it a little later.
inline std::size_t run_what_is_due(boost::asio::io_context& context) {
    // Shared, as a handler that throws leaves the one of the timer behind.
    const auto has_looked = std::make_shared<bool>(false);
    boost::asio::basic_waitable_timer<clock> due_at_once(context, time_point::min());
    due_at_once.async_wait([has_looked](const boost::system::error_code&) { *has_looked = true; });
    std::size_t handlers = 0;
    while (!*has_looked) {
        context.restart();
        handlers += context.poll();
    }
    return handlers;
}

} // namespace skep
