// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// A client of nodes: remote_call URL COMMAND ARGUMENTS. Prints the result as JSON.

#include <skep/remote_pool.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <exception>
#include <iostream>

namespace asio = boost::asio;

namespace {

asio::awaitable<void> print_result(skep::remote_pool& nodes, skep::request call) {
    co_await nodes.start();
    auto running = nodes.execute(std::move(call));
    const auto answer = co_await std::move(running);
    std::cout << boost::json::serialize(answer.value) << std::endl;
    co_await nodes.shutdown();
}

} // namespace

int main(int, char** argv) {
    skep::remote_options options;
    options.nats.servers = {argv[1]};
    options.queue.timeout = std::chrono::seconds(20);
    skep::request call(argv[2], boost::json::parse(argv[3]));
    asio::io_context context(1);
    skep::remote_pool nodes(context, std::move(options));
    asio::co_spawn(context, print_result(nodes, std::move(call)), [](const std::exception_ptr& problem) {
        if (problem) {
            std::rethrow_exception(problem);
        }
    });
    try {
        context.run();
    } catch (const std::exception& problem) {
        std::cerr << problem.what() << '\n';
        return 1;
    }
}
