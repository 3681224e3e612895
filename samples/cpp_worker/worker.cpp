// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// A worker in C++, for code that a service runs outside its own process.

#include "sky.hpp"
#include <skep/worker_server.hpp>

#include <boost/asio/awaitable.hpp>

#include <cmath>
#include <cstdint>
#include <numeric>

namespace asio = boost::asio;

namespace {

/// A typed command. Arguments that do not fit sky::sample are the caller's fault and do not reach this
/// function.
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

/// Streams primes, one by one, at most a window ahead of the reader.
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

/// Crashes, as old code may do.
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
