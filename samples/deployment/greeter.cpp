// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// A service that greets once a second until SIGTERM: greeter CONFIG

#include <skep/skep.hpp>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <iostream>
#include <string>

namespace asio = boost::asio;
using namespace std::chrono_literals;

asio::awaitable<void> greet(skep::pool& pool) {
    auto call = skep::request("greet").arg("name", "Ada").timeout(2s);
    const auto answer = co_await pool.execute(std::move(call), skep::as_result);
    if (answer) {
        std::cout << answer->as<std::string>() << std::endl;
    } else {
        std::cerr << answer.error().what() << '\n'; // the service lives on
    }
}

asio::awaitable<void> serve(skep::pool& pool) {
    const auto executor = co_await asio::this_coro::executor;
    asio::steady_timer pause(executor);
    for (;;) { // SIGTERM ends it: each co_await throws from then on
        co_await greet(pool);
        pause.expires_after(1s);
        co_await pause.async_wait(asio::use_awaitable);
    }
}

int main(int count, char** words) try {
    if (count != 2) {
        std::cerr << "usage: greeter CONFIG\n";
        return 2;
    }
    return skep::run(skep::pool_config::from_file(words[1]), serve);
} catch (const std::exception& problem) {
    std::cerr << "greeter: " << problem.what() << '\n';
    return 1;
}
