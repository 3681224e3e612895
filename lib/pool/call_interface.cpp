// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/with_detail.hpp"
#include <skep/call_interface.hpp>

#include <exception>

namespace skep {

call_interface::~call_interface() = default;

boost::asio::awaitable<reply> call_interface::execute(request call) {
    return run(prepare(std::move(call)), default_token());
}

boost::asio::awaitable<reply> call_interface::execute(std::string command, boost::json::value args) {
    return run(prepare(std::move(command), std::move(args)), default_token());
}

boost::asio::awaitable<reply_stream> call_interface::stream(request call) {
    return run(prepare_stream(std::move(call)), default_token());
}

stream_operation call_interface::prepare_stream(request) {
    const error refusal(errc::invalid_request, with_detail("no calls are streamed here"));
    return stream_operation::failing(std::make_exception_ptr(refusal));
}

call_operation call_interface::prepare(std::string command, boost::json::value args) {
    try {
        return prepare(request(std::move(command), std::move(args)));
    } catch (...) {
        return call_operation::failing(std::current_exception());
    }
}

} // namespace skep
