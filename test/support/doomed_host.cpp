// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// A host to be killed: starts two workers, the first of which computes without end (holding the interpreter's lock) and
// the second has a child of its own; prints their pids on one line, then serves until it is killed.

#include <skep/skep.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <iostream>

namespace asio = boost::asio;

namespace {

asio::awaitable<void> busy_for_ever(skep::pool& pool) {
    co_await pool.execute("hold_gil");
}

asio::awaitable<void> serve(skep::pool& pool) {
    co_await pool.start();
    const auto executor = co_await asio::this_coro::executor;
    const auto child = co_await pool.execute("grandchild");
    auto rethrow = [](std::exception_ptr error) {
        if (error) {
            std::rethrow_exception(error);
        }
    };
    asio::co_spawn(executor, busy_for_ever(pool), rethrow);
    const auto status = co_await pool.status();
    for (const auto& worker : status.workers) {
        std::cout << worker.pid << ' ';
    }
    std::cout << child.value.to_number<long>() << std::endl;
}

} // namespace

int main(int, char** argv) {
    asio::io_context context;
    auto config = skep::pool_config::python(argv[2], argv[1]);
    config.workers = 2;
    skep::pool pool(context.get_executor(), std::move(config));
    asio::co_spawn(context, serve(pool), [](std::exception_ptr error) {
        if (error) {
            std::rethrow_exception(error);
        }
    });
    context.run();
}
