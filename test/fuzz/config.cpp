// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Any JSON is a configuration that keeps the rules, and is written as what is read as the same again, or
// refused with the path of what is wrong.

#include "check.hpp"
#include <skep/error.hpp>
#include <skep/pool_config.hpp>

#include <boost/json/parse.hpp>

#include <string_view>

namespace skep::fuzz {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) noexcept {
    boost::system::error_code ec;
    const auto document = boost::json::parse(std::string_view(reinterpret_cast<const char*>(data), size), ec);
    if (ec) {
        return -1;
    }
    try {
        const auto written = to_json(pool_config::from_json(document));
        require(to_json(pool_config::from_json(written)) == written, "what is written is read as the same");
    } catch (const error& refusal) {
        require(refusal.kind() == errc::invalid_config, "it is refused as a configuration");
        require(!refusal.info().detail.empty(), "it is said what is wrong");
    }
    return 0;
}

} // namespace skep::fuzz
