// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// A program that keeps its sessions in Redis, where there is none.

#include <skep/redis_sessions.hpp>
#include <skep/skep.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <exception>
#include <iostream>

int main() {
    boost::asio::io_context context(1);
    skep::redis_options where;
    where.unix_socket = "/nonexistent/redis";
    const auto backend = std::make_shared<skep::redis_sessions>(context.get_executor(), where);
    skep::session_store store({}, backend);
    boost::asio::co_spawn(context, store.touch("a"), [](const std::exception_ptr& problem, bool) {
        try {
            std::rethrow_exception(problem);
        } catch (const skep::error& failure) {
            std::cout << failure.code().message() << '\n';
        }
    });
    context.run();
}
