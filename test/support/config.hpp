// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/error.hpp>
#include <skep/pool_config.hpp>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <boost/test/unit_test.hpp>

#include <functional>
#include <string>
#include <string_view>

namespace skep::test {

/// The least that is valid.
inline pool_config runnable() {
    pool_config config;
    config.launch.program = "python3";
    return config;
}

/// What the error says; empty if there is none. Whatever it says, it must be invalid_config.
inline std::string complaint(const std::function<void()>& function) {
    try {
        function();
    } catch (const error& failure) {
        BOOST_TEST((failure.code() == errc::invalid_config));
        BOOST_TEST(!failure.info().detail.empty());
        return failure.what();
    }
    return {};
}

inline std::string complaint(const pool_config& config) {
    return complaint([&] { config.validate(); });
}

inline std::string complaint_of_json(const boost::json::value& document) {
    return complaint([&] { pool_config::from_json(document); });
}

inline std::string complaint_of_text(std::string_view text) {
    return complaint_of_json(boost::json::parse(text));
}

} // namespace skep::test
