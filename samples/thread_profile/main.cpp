// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// The same work by one process, by four processes, and by four threads of one process: time and memory of
// each.

#include <skep/skep.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <iomanip>
#include <iostream>
#include <string>
#include <vector>

namespace asio = boost::asio;

namespace {

constexpr int calls = 40;
constexpr double seconds_each = 0.05;

asio::awaitable<void> one_call(skep::pool& pool) {
    auto call = skep::request("wait").arg("seconds", seconds_each);
    co_await pool.execute(std::move(call));
}

asio::awaitable<void> all_calls(skep::pool& pool) {
    const auto executor = co_await asio::this_coro::executor;
    using running = decltype(asio::co_spawn(executor, one_call(pool), asio::deferred));
    std::vector<running> all;
    for (int i = 0; i < calls; ++i) {
        all.push_back(asio::co_spawn(executor, one_call(pool), asio::deferred));
    }
    auto group = asio::experimental::make_parallel_group(std::move(all));
    co_await group.async_wait(asio::experimental::wait_for_all(), asio::use_awaitable);
}

/// Makes the calls and prints one row of the table.
asio::awaitable<void> measure(skep::pool& pool) {
    const auto began = std::chrono::steady_clock::now();
    co_await all_calls(pool);
    const auto took = std::chrono::steady_clock::now() - began;
    const auto status = co_await pool.status();
    std::uint64_t bytes = 0;
    for (const auto& worker : status.workers) {
        bytes += worker.resident_bytes;
    }
    std::cout << std::setw(7) << std::chrono::duration_cast<std::chrono::milliseconds>(took).count() << " ms"
              << std::setw(7) << (bytes >> 20) << " MiB\n";
}

int row(const std::string& title, std::size_t workers, std::size_t threads) {
    std::cout << std::left << std::setw(28) << title << std::right << std::flush;
    auto config = skep::pool_config::python(SAMPLE_DIR "/worker.py");
    config.workers = workers;
    config.min_ready = workers;
    config.threads_per_worker = threads;
    return skep::run(std::move(config), measure);
}

} // namespace

int main() try {
    std::cout << calls << " calls of 50 ms by\n";
    int status = row("1 process", 1, 1);
    if (status == 0) { // 130 after Ctrl-C
        status = row("4 processes", 4, 1);
    }
    if (status == 0) {
        status = row("1 process of 4 threads", 1, 4);
    }
    return status;
} catch (const std::exception& problem) {
    std::cerr << problem.what() << '\n';
    return 1;
}
