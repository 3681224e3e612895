// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "process/local_context.hpp"
#include "support/local_bus.hpp"
#include <skep/testing.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <exception>
#include <optional>
#include <utility>

namespace skep::test {

/// A program that connects to a bus for one operation, in virtual time.
template <class Result>
struct visitor_of_bus {
    /// Begins the operation that `visit(executor, connect)` returns. `is_up`: the connection, at first.
    template <class Visit>
    void begin(bool is_up, const Visit& visit) {
        const auto connect = [this, is_up](const strand& own, bus_user& user) {
            visitor = &user;
            auto made = server.connect()(own, user);
            if (!is_up) {
                server.set_up(false);
            }
            return made;
        };
        asio::co_spawn(executor, visit(executor, connect),
                       [this](const std::exception_ptr& problem, Result result) {
                           BOOST_TEST((problem == nullptr));
                           found = std::move(result);
                       });
        time.run_until_idle();
    }

    asio::io_context context;
    testing::virtual_time time{context};
    strand executor = make_local_context(context.get_executor()).executor;
    local_bus server;
    bus_user* visitor = nullptr;
    std::optional<Result> found; ///< once the operation has ended
};

} // namespace skep::test
