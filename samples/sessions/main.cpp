// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Visitors with conversations in the memory of one worker each, and the loss of these workers.

#include <skep/skep.hpp>

#include <iostream>
#include <string>

namespace asio = boost::asio;

namespace {

asio::awaitable<void> say(skep::pool& pool, std::string visitor, std::string text, skep::affinity_mode mode) {
    auto call = skep::request("say").arg("text", text).session(visitor).affinity(mode);
    try {
        const auto answer = co_await pool.execute(std::move(call));
        std::cout << visitor << " has said " << answer.value << " to " << to_string(answer.worker) << '\n';
    } catch (const skep::error& problem) {
        std::cout << visitor << ": " << problem.code().message() << '\n';
    }
}

asio::awaitable<void> crash_worker_of(skep::pool& pool, std::string visitor) {
    auto call = skep::request("crash").session(std::move(visitor));
    try {
        co_await pool.execute(std::move(call));
    } catch (const skep::error&) {} // the crash is intended
}

asio::awaitable<void> chat(skep::pool& pool) {
    const auto hint = skep::affinity_mode::hint;
    const auto strict = skep::affinity_mode::strict_queue;
    for (const auto* text : {"hello", "how are you?", "fine"}) {
        co_await say(pool, "Ada", text, hint);
        co_await say(pool, "Bob", text, strict);
    }
    std::cout << "\ntheir workers crash\n\n";
    co_await crash_worker_of(pool, "Ada");
    co_await crash_worker_of(pool, "Bob");
    co_await say(pool, "Ada", "still there?", hint);
    co_await say(pool, "Bob", "still there?", strict);

    std::cout << "\nBob is told, and begins anew\n\n";
    co_await pool.forget_session("Bob");
    co_await say(pool, "Bob", "hello again", strict);
}

} // namespace

int main() try {
    auto config = skep::pool_config::python(SAMPLE_DIR "/worker.py");
    config.workers = 2;
    config.min_ready = 2;
    config.log_level = skep::log_level::off; // hides the crashes
    return skep::run(std::move(config), chat);
} catch (const std::exception& problem) {
    std::cerr << problem.what() << '\n';
    return 1;
}
