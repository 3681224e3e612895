// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Sessions in this process: what a look-up and a touch cost among many, and how long a clean-up keeps others
// waiting.

#include "core/clock.hpp"
#include "modes.hpp"
#include <skep/session_store.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <random>
#include <stdexcept>
#include <string>

namespace skep::bench {

namespace {

namespace asio = boost::asio;

constexpr std::size_t turns = 1'000'000; // measured per round

/// As long as a UUID, so that it does not fit into a string itself.
std::string id_of(std::size_t number) {
    std::array<char, 40> text{};
    std::snprintf(text.data(), text.size(), "user-00000000-0000-0000-000-%09zu", number);
    return text.data();
}

session_options enough_for(std::size_t sessions) {
    session_options options;
    options.quota = sessions;
    return options;
}

void run(asio::awaitable<void> task) {
    asio::io_context context(1);
    asio::co_spawn(context, std::move(task), [](const std::exception_ptr& problem) {
        if (problem) {
            std::rethrow_exception(problem);
        }
    });
    context.run();
}

asio::awaitable<void> create(session_store& store, std::size_t first, std::size_t last) {
    for (auto i = first; i < last; ++i) {
        co_await store.create(id_of(i));
    }
}

/// CPU nanoseconds that `operation(id)` takes, for any of the sessions.
template <class Operation>
asio::awaitable<void> measure(std::size_t sessions, Operation operation, double& nanoseconds) {
    std::minstd_rand random(1);
    for (std::size_t i = 0; i < turns / 10; ++i) {
        co_await operation(id_of(random() % sessions));
    }
    const auto begin = cpu_time();
    for (std::size_t i = 0; i < turns; ++i) {
        co_await operation(id_of(random() % sessions));
    }
    nanoseconds = (cpu_time() - begin).count() * 1e9 / static_cast<double>(turns);
}

} // namespace

figures measure_sessions(const arguments& args) {
    const auto sessions = args.number("sessions");
    session_store store(enough_for(sessions));
    const auto begin = cpu_time();
    run(create(store, 0, sessions));
    const auto creating = (cpu_time() - begin).count() * 1e9 / static_cast<double>(sessions);
    double look_up = 0;
    double touch = 0;
    run(measure(
        sessions, [&](std::string id) { return store.get(std::move(id)); }, look_up));
    run(measure(
        sessions, [&](std::string id) { return store.touch(std::move(id)); }, touch));
    return {{"create_ns", creating}, {"look_up_ns", look_up}, {"touch_ns", touch}};
}

figures measure_session_cleanup(const arguments& args) {
    const auto expired = args.number("expired");
    const auto living = args.number("living");
    manual_time time;
    session_store store(enough_for(expired + living));
    run(create(store, 0, expired));
    time.advance(store.options().ttl + std::chrono::nanoseconds(1));
    run(create(store, expired, expired + living));

    asio::io_context context(1);
    std::size_t swept = 0;
    asio::co_spawn(context, store.cleanup_expired(),
                   [&](const std::exception_ptr&, std::size_t count) { swept = count; });
    seconds longest{};
    const auto begin = now();
    for (auto last = begin; context.run_one() > 0;) {
        const auto after = now();
        longest = std::max<seconds>(longest, after - last);
        last = after;
    }
    const seconds took = now() - begin;
    if (swept != expired) {
        throw std::runtime_error("not all were swept");
    }
    return {{"longest_us", longest.count() * 1e6},
            {"sweep_ns", took.count() * 1e9 / static_cast<double>(expired)}};
}

} // namespace skep::bench
