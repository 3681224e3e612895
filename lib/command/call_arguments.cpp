// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "command/call_arguments.hpp"

#include "command/usage_error.hpp"

#include <boost/json/parse.hpp>

#include <utility>

namespace skep {

namespace json = boost::json;

json::object call_arguments(const std::vector<std::string>& words) {
    boost::system::error_code ec;
    if (words.size() == 1 && words.front().starts_with('{')) {
        auto document = json::parse(words.front(), ec);
        if (ec || !document.is_object()) {
            throw usage_error("the arguments are no JSON object: " + ec.message());
        }
        return std::move(document.get_object());
    }
    json::object arguments;
    for (const auto& word : words) {
        const auto end = word.find('=');
        if (end == word.npos || end == 0) {
            throw usage_error('"' + word + "\" is not of the form NAME=VALUE, or one JSON object");
        }
        const auto text = word.substr(end + 1);
        auto value = json::parse(text, ec);
        if (!arguments.emplace(word.substr(0, end), ec ? json::value(text) : std::move(value)).second) {
            throw usage_error("there are two values for \"" + word.substr(0, end) + '"');
        }
    }
    return arguments;
}

} // namespace skep
