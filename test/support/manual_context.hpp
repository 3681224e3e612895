// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/clock.hpp"

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>

namespace skep::test {

/// An io_context whose time the test moves by hand.
class manual_context {
public:
    /// Runs everything that can run without time passing.
    void run_until_idle() {
        while (run_what_is_due() > 1) {}
    }

    /// Lets time pass, in steps small enough that no timer is noticed late.
    void advance(duration span, duration step = std::chrono::milliseconds(10)) {
        run_until_idle();
        while (span > duration::zero()) {
            const auto next = std::min(span, step);
            time.advance(next);
            run_until_idle();
            after_step();
            span -= next;
        }
    }

    manual_time time;
    boost::asio::io_context context{1};

protected:
    ~manual_context() = default;

    /// Time has passed.
    virtual void after_step() {}

private:
    /// Returns how many handlers have run, with that of a timer that is due at once: it makes the reactor
    /// look at the clock, though perhaps not in the first poll, as the kernel may tell of it a little later.
    std::size_t run_what_is_due() {
        // Shared, as a handler that throws leaves the one of the timer behind.
        const auto has_looked = std::make_shared<bool>(false);
        boost::asio::basic_waitable_timer<skep::clock> due_at_once(context, time_point::min());
        due_at_once.async_wait([has_looked](const boost::system::error_code&) { *has_looked = true; });
        std::size_t handlers = 0;
        while (!*has_looked) {
            context.restart();
            handlers += context.poll();
        }
        return handlers;
    }
};

} // namespace skep::test
