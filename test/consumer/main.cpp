// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Prints what one call to a worker answers: consumer SCRIPT

#include <skep/skep.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <exception>
#include <iostream>

namespace asio = boost::asio;

asio::awaitable<void> greet(skep::pool& pool) {
    co_await pool.start();
    auto call = skep::request("greet").arg("name", "consumer");
    const skep::reply answer = co_await pool.execute(std::move(call));
    std::cout << answer.value.as_string().c_str() << std::endl;
    co_await pool.shutdown();
}

int main(int, char** argv) try {
    asio::io_context context;
    auto config = skep::pool_config::python(argv[1]);
    config.workers = 1;
    skep::pool pool(context.get_executor(), std::move(config));
    std::exception_ptr problem;
    const auto on_end = [&problem](std::exception_ptr result) { problem = result; };
    asio::co_spawn(context, greet(pool), on_end);
    context.run();
    if (problem) {
        std::rethrow_exception(problem);
    }
} catch (const skep::error& problem) { // the library's type must be the program's
    std::cerr << problem.what() << std::endl;
    return 1;
}
