// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// The code that lib/server/README.md quotes.

#include <skep/worker_server.hpp>

int main() {
    skep::worker_server server;
    server.on("greet", [](skep::worker_call& call) { return "Hello, " + call.arg<std::string>("name"); });
    server.on("generate", [](skep::worker_call& call) -> boost::asio::awaitable<void> {
        for (int i = 0; i < 3; ++i) {
            co_await call.send("token");
        }
    });
    return server.run();
}
