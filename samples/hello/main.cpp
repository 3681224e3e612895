// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include <skep/skep.hpp>

#include <iostream>
#include <string>

using namespace std::chrono_literals;

boost::asio::awaitable<void> greet(skep::pool& pool) {
    auto call = skep::request("greet").arg("name", "Ada").timeout(2s);
    const auto answer = co_await pool.execute(std::move(call));
    std::cout << answer.as<std::string>() << ", says " << to_string(answer.worker) << '\n';
}

int main() try {
    auto config = skep::pool_config::python("worker.py");
    config.workers = 2;
    return skep::run(std::move(config), greet);
} catch (const std::exception& problem) {
    std::cerr << problem.what() << '\n';
    return 1;
}
