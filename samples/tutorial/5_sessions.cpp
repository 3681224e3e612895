// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Step 5: sessions.

#include <skep/skep.hpp>

#include <iostream>
#include <string>

namespace asio = boost::asio;

/// The HTTP status that tells a client of an error.
int status_of(const skep::error& failure) {
    const auto code = failure.kind();
    if (is_callers_fault(failure)) return 400;
    if (code == skep::errc::timeout) return 504;
    return retryable(code) || code == skep::errc::shutting_down ? 503 : 500;
}

/// Makes one call and prints a status, with the result or the cause.
asio::awaitable<void> answer(skep::pool& pool, skep::request call) {
    try {
        const auto reply = co_await pool.execute(std::move(call));
        std::cout << "200 " << reply.value << '\n';
    } catch (const skep::error& failure) {
        std::cout << status_of(failure) << ' ' << failure.what() << '\n';
    }
}

/// Prints a stream piece by piece. The client leaves after `patience` words.
asio::awaitable<void> listen(skep::pool& pool, int patience) {
    auto call = skep::request("read").arg("text", "the bee sees a flower");
    auto stream = co_await pool.stream(std::move(call));
    while (const auto word = co_await stream.next()) {
        std::cout << word->as<std::string>() << ' ' << std::flush;
        if (--patience == 0) {
            std::cout << "... the client leaves\n";
            co_return; // destroys the stream and ends the command in the worker
        }
    }
    std::cout << "- " << stream.result().value << " words\n";
}

/// The work of the service.
asio::awaitable<void> serve(skep::pool& pool) {
    for (const auto* word : {"bee", "flower", "bear"}) {
        auto call = skep::request("translate").arg("word", word);
        co_await answer(pool, std::move(call));
    }
    auto slow = skep::request("ponder").arg("seconds", 5);
    co_await answer(pool, std::move(slow));
    co_await listen(pool, 10);
    co_await listen(pool, 3);
    for (const auto* visitor : {"Ada", "Bob", "Ada"}) {
        auto call = skep::request("learn").arg("word", "hive").session(visitor);
        co_await answer(pool, std::move(call));
    }
}

int main() try {
    return skep::run(skep::pool_config::from_file("pool.json"), serve);
} catch (const std::exception& problem) {
    std::cerr << problem.what() << '\n';
    return 1;
}
