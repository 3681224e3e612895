// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include <skep/call_interface.hpp>

#include <exception>

namespace skep {

call_interface::~call_interface() = default;

boost::asio::awaitable<reply> call_interface::execute(request call) {
    return execute(std::move(call), default_token());
}

boost::asio::awaitable<reply> call_interface::execute(std::string command, boost::json::value args) {
    return execute(std::move(command), std::move(args), default_token());
}

call_operation call_interface::prepare(std::string command, boost::json::value args) {
    try {
        return prepare(request(std::move(command), std::move(args)));
    } catch (...) {
        return call_operation::failing(std::current_exception());
    }
}

} // namespace skep
