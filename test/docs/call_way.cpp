// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Makes calls of a worker, one after the other: skep_call_way SCRIPT CALLS

#include <skep/skep.hpp>

#include <iostream>
#include <string>

int main(int argc, char** argv) {
    if (argc != 3) {
        std::cerr << "usage: skep_call_way SCRIPT CALLS\n";
        return 2;
    }
    auto config = skep::pool_config::python(argv[1]);
    config.workers = 1;
    config.wait = skep::wait_mode::block; // else the way depends on the number of processors
    const int calls = std::stoi(argv[2]);
    return skep::run(std::move(config), [calls](skep::pool& pool) -> boost::asio::awaitable<void> {
        for (int made = 0; made < calls; ++made) {
            auto call = skep::request("greet").arg("name", "Ada");
            co_await pool.execute(std::move(call));
        }
    });
}
