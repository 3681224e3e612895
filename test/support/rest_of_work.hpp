// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <chrono>
#include <exception>
#include <utility>

namespace skep::test {

namespace asio = boost::asio;

/// Runs `body` on a context, and what else has work there, for at most 20 s. True if the context has run out
/// of work, though everything that `body` refers to is still alive.
inline bool runs_out_of_work(asio::io_context& context, asio::awaitable<void> body) {
    std::exception_ptr problem;
    bool finished = false;
    asio::co_spawn(context, std::move(body), [&](std::exception_ptr error) {
        problem = error;
        finished = true;
    });
    context.restart();
    context.run_for(std::chrono::seconds(20));
    if (problem) {
        std::rethrow_exception(problem);
    }
    return finished && context.stopped();
}

} // namespace skep::test
