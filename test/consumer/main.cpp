// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include <skep/pool.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <cstdlib>
#include <exception>
#include <iostream>

namespace asio = boost::asio;

asio::awaitable<void> greet(skep::pool& pool) {
    co_await pool.start();
    skep::request call = skep::request("greet").arg("name", "consumer");
    const skep::reply answer = co_await pool.execute(std::move(call));
    std::cout << answer.value.as_string().c_str() << std::endl;
    co_await pool.shutdown();
}

int main(int, char** argv) {
    asio::io_context context;
    auto config = skep::pool_config::python(argv[1]);
    config.workers = 1;
    skep::pool pool(context.get_executor(), std::move(config));
    int status = EXIT_SUCCESS;
    asio::co_spawn(context, greet(pool), [&status](std::exception_ptr problem) {
        if (problem) {
            status = EXIT_FAILURE;
            try {
                std::rethrow_exception(problem);
            } catch (const std::exception& e) {
                std::cerr << e.what() << std::endl;
            }
        }
    });
    context.run();
    return status;
}
