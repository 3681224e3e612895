// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/timer.hpp"
#include "core/clock.hpp"
#include <skep/errc.hpp>
#include <skep/event_bus.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace skep {

/// The environment of a pool: its executor, clocks and randomness. Each pool has a context of its own; a
/// simulation supplies a virtual one. Used on the strand, except the executors.
struct pool_context {
    strand executor;
    asio::any_io_executor user_executor; ///< that the pool was constructed with
    std::function<std::chrono::system_clock::time_point()> wall_now;
    std::function<double()> random;                       ///< uniform in [0, 1)
    std::function<std::string()> make_token;              ///< must be unguessable
    std::function<void(std::string_view)> write_log_line; ///< must not throw; callable from any thread

    std::shared_ptr<event_bus> events = nullptr;           ///< null: no subscribers possible
    std::function<std::uint64_t()> make_span_id = nullptr; ///< callable from any thread; null: no tracing

    /// The workers are nodes, which pass failures of their own pools on.
    bool has_nodes = false;

    /// The process_generation() of the process that has the strand's own thread; 0 if users run the strand.
    unsigned thread_owner = 0;

    /// Return the code of a call whose worker was lost, and of a call that no worker was up for.
    errc lost_code() const noexcept { return has_nodes ? errc::node_lost : errc::worker_lost; }
    errc absent_code() const noexcept { return has_nodes ? errc::no_node : errc::no_worker; }

    /// Publishes an event if it has subscribers; see event_bus::emit.
    template <class E, class Make>
    void publish(Make&& make) const noexcept {
        if (events && events->wants<E>()) {
            events->emit<E>(std::forward<Make>(make));
        }
    }

    /// The clock of every timer; see skep::clock.
    time_point now() const noexcept { return clock::now(); }

    moment present() const { return {now(), wall_now()}; }
};

} // namespace skep
