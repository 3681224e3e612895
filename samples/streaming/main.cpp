// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Stories that arrive word by word: one to the terminal, one for a slow reader, three concurrently. Ctrl-C
// ends the streams and their generators.

#include <skep/skep.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <iostream>
#include <string>
#include <tuple>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

skep::request story(int seed, int words, double pause) {
    return skep::request("tell").arg("seed", seed).arg("words", words).arg("pause", pause);
}

asio::awaitable<void> pause(skep::duration length) {
    const auto executor = co_await asio::this_coro::executor;
    asio::steady_timer timer(executor, length);
    co_await timer.async_wait(asio::use_awaitable);
}

/// Prints each word on arrival.
asio::awaitable<void> listen(skep::pool& pool) {
    auto call = story(1, 60, 0.05);
    auto stream = co_await pool.stream(std::move(call));
    while (const auto word = co_await stream.next()) {
        std::cout << word->as<std::string>() << ' ' << std::flush;
    }
    std::cout << "\n\n"
              << stream.result().value.at("sentences") << " sentences, told by "
              << to_string(stream.result().worker) << "\n\n";
}

/// The worker could yield 10,000 words at once, but pauses a window ahead of its listener.
asio::awaitable<void> listen_slowly(skep::pool& pool) {
    std::string told;
    auto call = story(2, 10'000, 0).on_progress([&](const skep::progress& report) { told = report.text; });
    auto stream = co_await pool.stream(std::move(call));
    for (int heard = 0; heard < 20; ++heard) {
        const auto word = co_await stream.next();
        std::cout << word->as<std::string>() << ' ' << std::flush;
        co_await pause(100ms);
    }
    std::cout << "...\n\nleft after 20 of 10,000 words, when the worker was at word " << told << "\n\n";
}

asio::awaitable<int> count_words(skep::pool& pool, int seed) {
    auto call = story(seed, 200, 0.005);
    auto stream = co_await pool.stream(std::move(call));
    int words = 0;
    while (const auto word = co_await stream.next()) {
        ++words;
    }
    co_return words;
}

asio::awaitable<void> listen_to_three(skep::pool& pool) {
    using namespace asio::experimental::awaitable_operators;
    const auto began = std::chrono::steady_clock::now();
    auto all = count_words(pool, 3) && count_words(pool, 4) && count_words(pool, 5);
    const auto words = co_await std::move(all);
    const auto took =
        std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - began);
    std::cout << "three at once: " << std::get<0>(words) << ", " << std::get<1>(words) << " and "
              << std::get<2>(words) << " words in " << took.count() << " ms\n";
}

asio::awaitable<void> tell_stories(skep::pool& pool) {
    co_await listen(pool);
    co_await listen_slowly(pool);
    co_await listen_to_three(pool);
}

} // namespace

int main() try {
    auto config = skep::pool_config::python(SAMPLE_DIR "/worker.py");
    config.name = "stories";
    config.workers = 3;
    config.log_level = skep::log_level::info; // shows the output of workers
    return skep::run(std::move(config), tell_stories);
} catch (const std::exception& problem) {
    std::cerr << problem.what() << '\n';
    return 1;
}
