// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// A service in C++ with a worker in C++: a typed call, a stream that the service leaves in the middle, and a
// crash of the worker.

#include "sky.hpp"
#include <skep/skep.hpp>

#include <cstdint>
#include <iostream>

namespace asio = boost::asio;

namespace {

asio::awaitable<void> summarize(skep::pool& pool) {
    const sky::sample mira{"Mira", {2.1, 3.4, 9.3, 8.8, 4.0}};
    const auto summary = co_await pool.execute<sky::summary>("summarize", mira);
    std::cout << summary.star << ": " << summary.mean << " +- " << summary.deviation << '\n';
}

asio::awaitable<void> read_primes(skep::pool& pool) {
    auto call = skep::request("primes").arg("below", 1'000'000'000);
    auto stream = co_await pool.stream(std::move(call));
    for (int i = 0; i < 10; ++i) {
        const auto prime = co_await stream.next();
        std::cout << prime->as<std::int64_t>() << ' ';
    }
    std::cout << "... are the first primes\n"; // the worker stops looking for more
}

asio::awaitable<void> outlive_a_crash(skep::pool& pool) {
    try {
        co_await pool.execute("crash");
    } catch (const skep::error& problem) {
        std::cout << "the worker is lost: " << to_string(problem.info().exit_kind) << '\n';
    }
    co_await summarize(pool); // by the next worker
}

asio::awaitable<void> serve(skep::pool& pool) {
    co_await summarize(pool);
    co_await read_primes(pool);
    co_await outlive_a_crash(pool);
}

} // namespace

int main() try {
    skep::pool_config config;
    config.launch.program = WORKER_PROGRAM;
    config.workers = 1;
    return skep::run(std::move(config), serve);
} catch (const std::exception& problem) {
    std::cerr << problem.what() << '\n';
    return 1;
}
