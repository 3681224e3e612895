// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/timer.hpp"

#include <boost/asio/io_context.hpp>

namespace skep::simulation {

/// The library's timers in one io_context, looked at from outside: Asio would wait for them in real time, and
/// tells nobody when the next is due.
class virtual_timers {
public:
    explicit virtual_timers(asio::io_context& context);

    /// When the earliest is due, to the microsecond; time_point::max() if none ever is.
    time_point next() const;

    /// Hands those that are due to the io_context. Without that it would notice them at a moment of its own.
    void release_due();

private:
    asio::io_context& context_;
};

} // namespace skep::simulation
