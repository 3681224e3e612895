// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Makes calls of a worker, one after the other, and has what runs for them counted: skep_call_way SCRIPT
// CALLS

#include <skep/skep.hpp>

extern "C" {
#include <gcov.h>
}

#include <iostream>
#include <string>

namespace {

boost::asio::awaitable<void> make_calls(skep::pool& pool, int calls) {
    for (int made = 0; made < calls; ++made) {
        auto call = skep::request("greet").arg("name", "Ada");
        co_await pool.execute(std::move(call));
    }
}

} // namespace

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
        constexpr int first_calls = 10; // what runs for these alone is no part of each call's way
        co_await make_calls(pool, first_calls);
        __gcov_reset();
        co_await make_calls(pool, calls);
        __gcov_dump();
    });
}
