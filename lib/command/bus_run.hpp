// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "remote/nats_connector.hpp"
#include <skep/nats_options.hpp>
#include <skep/time.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>

#include <chrono>
#include <exception>
#include <utility>

namespace skep {

/// Returns the time in which a program tries each server once, and learns the cause of a failure.
inline duration connect_limit_of(const nats_options& nats) {
    constexpr duration beyond_attempt = std::chrono::milliseconds(500);
    const auto attempts = static_cast<duration::rep>(nats.servers.size());
    return attempts * (nats.connect_timeout + beyond_attempt);
}

/// Runs the awaitable that `begin(executor, connect)` returns, and returns its result. Blocks.
template <class Result, class Begin>
Result run_on_bus(const nats_options& nats, Begin begin) {
    asio::io_context context(1);
    const strand executor = asio::make_strand(pool_executor(context.get_executor()));
    asio::awaitable<Result> running = begin(executor, connect_by_nats(nats));
    Result result;
    std::exception_ptr failure;
    asio::co_spawn(executor, std::move(running), [&](const std::exception_ptr& problem, Result outcome) {
        failure = problem;
        result = std::move(outcome);
    });
    context.run();
    if (failure) {
        std::rethrow_exception(failure);
    }
    return result;
}

} // namespace skep
