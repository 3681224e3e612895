// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/timer.hpp"
#include "core/clock.hpp"
#include "core/moment.hpp"

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

namespace skep {

/// Everything that a pool does not decide but finds: where it runs, what time it is, and chance. One pool, one context;
/// a simulation brings its own. Used on the strand, but for `executor`.
struct pool_context {
    strand executor;
    std::function<std::chrono::system_clock::time_point()> wall_now;
    std::function<double()> random;                       ///< uniform in [0, 1)
    std::function<std::string()> make_token;              ///< that nobody can guess
    std::function<void(std::string_view)> write_log_line; ///< must not throw; from any thread

    /// The clock under every timer; see skep::clock.
    time_point now() const noexcept { return clock::now(); }

    moment present() const { return {now(), wall_now()}; }
};

} // namespace skep
