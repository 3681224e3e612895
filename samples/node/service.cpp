// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// A service that makes one call on a node: service SERVER [PASSWORD]

#include <skep/remote_pool.hpp>
#include <skep/skep.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>

#include <iostream>
#include <string>

namespace asio = boost::asio;
using namespace std::chrono_literals;

/// Returns the exit code of the program.
asio::awaitable<int> greet(skep::remote_pool& pool) {
    co_await pool.start(skep::as_result); // without a node, the call fails as well
    auto call = skep::request("greet").arg("name", "Ada").timeout(10s);
    const auto answer = co_await pool.execute(std::move(call), skep::as_result);
    if (answer) {
        std::cout << answer->as<std::string>() << '\n';
    } else {
        std::cerr << answer.error().what() << '\n';
    }
    co_await pool.shutdown();
    co_return answer ? 0 : 1;
}

int main(int count, char** words) try {
    if (count < 2 || count > 3) {
        std::cerr << "usage: service SERVER [PASSWORD]\n";
        return 2;
    }
    skep::remote_options options;
    options.nats.servers = {words[1]};
    if (count == 3) { // as nats.conf has it
        options.nats.user = "shop";
        options.nats.password = words[2];
        options.nats.inbox = "_INBOX.shop";
    }
    asio::io_context context(1);
    skep::remote_pool pool(context, options);
    auto code = asio::co_spawn(context, greet(pool), asio::use_future);
    context.run();
    return code.get();
} catch (const std::exception& problem) {
    std::cerr << "service: " << problem.what() << '\n';
    return 1;
}
