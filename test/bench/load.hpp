// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "support.hpp"
#include <skep/context_group.hpp>
#include <skep/pool.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace skep::bench {

namespace asio = boost::asio;

/// What every benchmark calls unless it is about something else.
inline constexpr const char* small_value = "hello";

/// Its throughput with `callers` coroutines that each make one call after the other, from when the first few
/// have been answered.
struct call_rate {
    double calls_per_second;
    double host_cpu_per_call; ///< microseconds
    double switches_per_call; ///< from one thread of the host to another thread
};
/// Gives each caller its executor.
using place_of_callers = std::function<asio::any_io_executor()>;
asio::awaitable<call_rate> measure_rate(pool& workers, std::size_t callers, seconds span,
                                        place_of_callers next_place);

/// One call after the other, each made by `make_call`, until `span` is over, and what each took in
/// microseconds. Throws if `is_right` does not like an answer.
asio::awaitable<std::vector<double>> measure_latencies(pool& workers,
                                                       const std::function<request()>& make_call,
                                                       const std::function<bool(const reply&)>& is_right,
                                                       seconds span);

/// The same with a worker that sends back a text.
asio::awaitable<std::vector<double>> measure_echo(pool& workers, const std::string& text, seconds span);

/// What `callers` coroutines, one call after the other, are told by the worker's function of the time that it
/// took.
asio::awaitable<std::vector<double>> measure_function(pool& workers, std::size_t callers,
                                                      std::size_t mebibytes, seconds span);

/// Waits.
asio::awaitable<void> pause(duration span);

/// As many calls as given, by as many callers, each answered.
asio::awaitable<void> make_calls(pool& workers, std::size_t callers, std::uint64_t count);

template <class Body>
asio::awaitable<void> start_and_stop(pool& workers, Body body) {
    co_await workers.start();
    co_await body(workers);
    co_await workers.shutdown();
}

inline void rethrow(const std::exception_ptr& problem) {
    if (problem) {
        std::rethrow_exception(problem);
    }
}

/// Starts a pool, runs body(pool), a coroutine, and shuts the pool down, in the first context of a group.
template <class Body>
void with_pool_in(context_group& contexts, const pool_config& config, Body body) {
    pool workers(contexts.first(), config);
    asio::co_spawn(contexts.first(), start_and_stop(workers, body), [&](const std::exception_ptr& problem) {
        contexts.stop();
        rethrow(problem);
    });
    contexts.run();
}

/// The same on one thread, as skep::run() does it.
template <class Body>
void with_pool(const pool_config& config, Body body) {
    context_group contexts(threads(1), config.wait);
    with_pool_in(contexts, config, body);
}

/// The same in one context that several threads run.
template <class Body>
void with_pool_on_threads(int count, const pool_config& config, Body body) {
    asio::io_context context(count);
    pool workers(context.get_executor(), config);
    asio::co_spawn(context, start_and_stop(workers, body), rethrow);
    std::vector<std::jthread> others;
    for (int i = 1; i < count; ++i) {
        others.emplace_back([&context] { context.run(); });
    }
    context.run();
}

} // namespace skep::bench
