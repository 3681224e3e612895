// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/json_document.hpp"

#include <boost/json/parser.hpp>

#include <algorithm>
#include <string>

namespace skep {

namespace json = boost::json;

namespace {

std::string place_in(std::string_view text, std::size_t offset) {
    const auto before = text.substr(0, offset);
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const auto column = offset - (before.rfind('\n') + 1); // without a line end: npos + 1 is 0
    return "line " + std::to_string(line) + ", column " + std::to_string(column + 1);
}

} // namespace

json::value parse_document(std::string_view text, config_problems& problems) {
    json::parser parser;
    boost::system::error_code ec;
    const auto parsed = std::min(parser.write_some(text.data(), text.size(), ec), text.size());
    if (!ec && text.find_first_not_of(" \t\r\n", parsed) != text.npos) {
        ec = json::error::extra_data;
    }
    if (ec) {
        problems.add(place_in(text, parsed), "", "is no JSON: " + ec.message());
        return {};
    }
    return parser.release();
}

} // namespace skep
