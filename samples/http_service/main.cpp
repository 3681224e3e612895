// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// A service: HTTP in front of a pool. http_service [PORT [WORKER_SCRIPT]]

#include "server.hpp"
#include <skep/run.hpp>

#include <cstdlib>
#include <iostream>

int main(int count, char** values) try {
    const int port = count > 1 ? std::atoi(values[1]) : 8080;
    auto config =
        skep::pool_config::python(count > 2 ? values[2] : SAMPLE_DIR "/worker.py", "/usr/bin/python3");
    config.name = "models";
    config.log = skep::log_level::info; // what workers print, too
    return skep::run(std::move(config), [port](skep::pool& pool) {
        return http_service::serve(pool, static_cast<unsigned short>(port));
    });
} catch (const std::exception& problem) {
    std::cerr << "http_service: " << problem.what() << '\n';
    return 1;
}
