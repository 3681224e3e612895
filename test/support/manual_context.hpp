// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/clock.hpp"
#include "testing/run_what_is_due.hpp"

#include <boost/asio/io_context.hpp>

#include <algorithm>
#include <chrono>

namespace skep::test {

/// An io_context whose time the test moves by hand.
class manual_context {
public:
    /// Runs everything that can run without time passing.
    void run_until_idle() {
        while (run_what_is_due(context) > 1) {}
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
};

} // namespace skep::test
