// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// A service with an admin port: service PYTHON SCRIPT TOKEN. Prints the URL, and runs until its stdin ends.

#include <skep/admin.hpp>
#include <skep/skep.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <array>
#include <exception>
#include <iostream>
#include <unistd.h>

namespace asio = boost::asio;

namespace {

asio::awaitable<void> end_of_input(asio::io_context& context) {
    asio::posix::stream_descriptor input(context, ::dup(STDIN_FILENO));
    std::array<char, 1> byte{};
    boost::system::error_code ec;
    while (!ec) {
        auto token = asio::redirect_error(asio::use_awaitable, ec);
        co_await input.async_read_some(asio::buffer(byte), token);
    }
}

asio::awaitable<void> serve(asio::io_context& context, skep::pool& pool, skep::admin_options options) {
    co_await pool.start();
    skep::admin_server admin(context.get_executor(), pool, std::move(options));
    std::cout << admin.url() << std::endl;
    co_await end_of_input(context);
    co_await admin.stop();
    co_await pool.shutdown();
}

} // namespace

int main(int, char** argv) {
    auto config = skep::pool_config::python(argv[2], argv[1]);
    config.min_ready = 2;
    config.workers = 2;
    skep::admin_options options;
    options.token = argv[3];
    asio::io_context context(1);
    skep::pool pool(context, std::move(config));
    asio::co_spawn(context, serve(context, pool, std::move(options)), [](const std::exception_ptr& problem) {
        if (problem) {
            std::rethrow_exception(problem);
        }
    });
    context.run();
}
