// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "admin/host_facts.hpp"

#include <boost/version.hpp>

#include <string>
#include <utility>

namespace skep {

namespace json = boost::json;

namespace {

std::string build() {
    std::string text = "C++ " + std::to_string(__cplusplus) + ", " __VERSION__ ", Boost " BOOST_LIB_VERSION;
#if !defined(NDEBUG)
    text += ", with assertions";
#endif
    return text;
}

} // namespace

json::object host_facts(json::object configurations, std::int64_t started_at_ms) {
    return {{"version", SKEP_VERSION},
            {"build", build()},
            {"started_at_ms", started_at_ms},
            {"configurations", std::move(configurations)}};
}

} // namespace skep
