// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Makes calls, one after the other, of a worker that is the far end of a socket: skep_call_way CALLS

#include "bench/fake_workers.hpp"

#include <boost/asio/co_spawn.hpp>

#include <chrono>
#include <exception>
#include <iostream>
#include <string>

namespace {

boost::asio::awaitable<void> make_calls(skep::pool& pool, int& left) {
    for (; left > 0; --left) {
        auto call = skep::request("greet").arg("name", "Ada");
        co_await pool.execute(std::move(call));
    }
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::cerr << "usage: skep_call_way CALLS\n";
        return 2;
    }
    skep::pool_config config;
    config.launch.program = "fake";
    config.workers = 1;
    config.stop.drain_timeout = config.stop.shutdown_grace = std::chrono::seconds(0);
    skep::bench::fake_pool pool(config);
    int left = std::stoi(argv[1]);
    boost::asio::co_spawn(pool.context(), make_calls(pool.facade(), left),
                          [](const std::exception_ptr& problem) {
                              if (problem) {
                                  std::rethrow_exception(problem);
                              }
                          });
    while (left > 0) {
        pool.context().restart();
        pool.context().poll();
        pool.answer();
    }
}
