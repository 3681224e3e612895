// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Code of lib/command/README.md; typed_worker.inc is made by `skep describe --cpp typed_worker.py`.

#include "typed_worker.inc"
#include <skep/skep.hpp>

#include <iostream>

namespace command_guide {

skep::pool_config for_debugging(skep::pool_config config) {
    config.debugging(); // one worker, no timeouts, no heartbeat
    config.launch.prefix = {"valgrind", "--error-exitcode=1"};
    return config;
}

boost::asio::awaitable<void> call(skep::pool& pool, std::string text, skep::ndarray image) {
    const auto labels = co_await typed_worker::predict(pool, text, 3); // std::map<std::string, double>
    const auto embedding = co_await typed_worker::embed(pool, image);
    auto numbers = co_await typed_worker::numbers(pool, 3);
    const auto chunk = co_await numbers.next();
    auto deleting = typed_worker::new_delete(pool, "a", std::nullopt, 2.5);
    const auto rest = co_await std::move(deleting);
    std::cout << labels.size() << embedding.value << chunk.has_value() << rest.value << '\n';
}

} // namespace command_guide
