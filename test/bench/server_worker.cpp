// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// What echo_worker does, by worker_server: for what that costs. Its arguments are the capacity it offers, and
// how its command is written: plain by default, or async.

#include <skep/worker_server.hpp>

#include <cstdlib>
#include <string_view>

int main(int count, char** values) {
    skep::worker_options options;
    options.capacity(count > 1 ? std::strtoul(values[1], nullptr, 10) : 1);
    skep::worker_server server(options);
    if (count > 2 && std::string_view(values[2]) == "async") {
        server.on("echo", [](skep::worker_call& call) -> boost::asio::awaitable<boost::json::value> {
            co_return call.args().at("value");
        });
    } else {
        server.on("echo", [](skep::worker_call& call) { return call.args().at("value"); });
    }
    return server.run();
}
