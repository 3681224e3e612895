// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// A worker in C++: for code that a service needs and does not want in its own process.

#include "sky.hpp"
#include <skep/worker_server.hpp>

#include <boost/asio/awaitable.hpp>

#include <cmath>
#include <cstdint>
#include <numeric>

namespace asio = boost::asio;

namespace {

/// Typed: arguments that are no sky::sample are the caller's fault, and never get here.
sky::summary summarize(const sky::sample& of) {
    if (of.magnitudes.empty()) {
        throw skep::worker_error("empty_sample", "there is nothing to summarize");
    }
    const auto count = static_cast<double>(of.magnitudes.size());
    const auto mean = std::accumulate(of.magnitudes.begin(), of.magnitudes.end(), 0.0) / count;
    double squares = 0;
    for (const double each : of.magnitudes) {
        squares += (each - mean) * (each - mean);
    }
    return {of.star, mean, std::sqrt(squares / count)};
}

/// A stream: primes, one by one, no further ahead of their reader than a window.
asio::awaitable<std::int64_t> primes(skep::worker_call& call) {
    const auto limit = call.arg<std::int64_t>("below");
    std::int64_t count = 0;
    for (std::int64_t candidate = 2; candidate < limit; ++candidate) {
        bool is_prime = true;
        for (std::int64_t divisor = 2; is_prime && divisor * divisor <= candidate; ++divisor) {
            is_prime = candidate % divisor != 0;
        }
        if (is_prime) {
            ++count;
            co_await call.send(candidate);
        }
    }
    co_return count;
}

/// What old code does now and then.
void crash(skep::worker_call&) {
    volatile int* const nowhere = nullptr;
    *nowhere = 1;
}

} // namespace

int main() {
    skep::worker_server server;
    server.on<sky::sample>("summarize", summarize);
    server.on("primes", primes);
    server.on("crash", crash);
    return server.run();
}
