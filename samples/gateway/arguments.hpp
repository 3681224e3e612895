// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/error.hpp>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>

#include <cstddef>
#include <string>
#include <utility>

namespace gateway {

[[noreturn]] inline void refuse(skep::errc code, const char* why) {
    skep::error_info info;
    info.detail = why;
    throw skep::error(code, std::move(info));
}

/// Returns the JSON object in a body, as a command's arguments; the worker checks them against its signature.
/// Throws error(errc::invalid_request) if the body is not a JSON object, and error(errc::frame_too_large)
/// beyond 64 KiB.
inline boost::json::object arguments_in(const std::string& body) {
    constexpr std::size_t longest = 64u << 10;
    if (body.size() > longest) {
        refuse(skep::errc::frame_too_large, "the body is too long");
    }
    boost::system::error_code ec;
    auto value = boost::json::parse(body, ec);
    if (ec || !value.is_object()) {
        refuse(skep::errc::invalid_request, "the body is to be a JSON object");
    }
    return std::move(value.get_object());
}

} // namespace gateway
