// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include <skep/call_interface.hpp>

#include <exception>

namespace skep {

namespace {

namespace asio = boost::asio;

asio::awaitable<reply> fail(std::exception_ptr problem) {
    std::rethrow_exception(std::move(problem));
    co_return reply();
}

} // namespace

call_interface::~call_interface() = default;

asio::awaitable<reply> call_interface::execute(std::string command, boost::json::value args) {
    try {
        return execute(request(std::move(command), std::move(args)));
    } catch (...) {
        return fail(std::current_exception());
    }
}

} // namespace skep
