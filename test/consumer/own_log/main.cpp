// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Prints the level and the pool of the first record that a pool logs; its worker cannot be started.

#include <skep/skep.hpp>

#include <exception>
#include <iostream>
#include <string>

int main() {
    std::string first;
    skep::pool_config config;
    config.launch.program = "/bin/false";
    config.workers = 1;
    config.start.timeout = std::chrono::seconds(10);
    config.log_handler = [&first](const skep::log_record& record) {
        if (first.empty()) {
            first = std::string(to_string(record.level)) + " of " + record.pool;
        }
    };
    try {
        skep::run(std::move(config), [](skep::pool&) -> boost::asio::awaitable<void> { co_return; });
    } catch (const std::exception&) {} // the worker has ended
    std::cout << first << '\n';
}
