// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/worker_server.hpp>

#include <string>

/// Serves the calls that ../both.cpp makes.
inline int serve() {
    skep::worker_server server;
    server.on("greet",
              [](skep::worker_call& call) { return "hello " + call.arg<std::string>("name") + " from C++"; });
    server.on("refuse", [](skep::worker_call&) { throw skep::worker_error("closed", "not today"); });
    return server.run();
}
