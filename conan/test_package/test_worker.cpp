// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include <skep/worker_server.hpp>

#include <cstdlib>

int main() {
    skep::worker_server server;
    server.on("greet", [](skep::worker_call&) { return "hello"; });
    const int status = server.run();
    return status == 64 ? EXIT_SUCCESS : EXIT_FAILURE; // as no pool has started the program
}
