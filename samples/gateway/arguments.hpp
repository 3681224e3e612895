// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/error.hpp>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>

#include <string>
#include <utility>

namespace gateway {

/// The JSON object that a body holds, as a command's arguments: the worker checks them against its signature. Throws
/// error(errc::invalid_request) if it holds none.
inline boost::json::object arguments_in(const std::string& body) {
    boost::system::error_code ec;
    auto value = boost::json::parse(body, ec);
    if (ec || !value.is_object()) {
        skep::error_info info;
        info.detail = "the body is to be a JSON object";
        throw skep::error(skep::errc::invalid_request, std::move(info));
    }
    return std::move(value.get_object());
}

} // namespace gateway
