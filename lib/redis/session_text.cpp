// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "redis/session_text.hpp"

#include <skep/error.hpp>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <cmath>

namespace skep {

namespace json = boost::json;

namespace {

constexpr std::size_t deepest = 200;

[[noreturn]] void refuse(std::string problem) {
    error_info info;
    info.detail = std::move(problem);
    throw error(errc::invalid_session, std::move(info));
}

/// Boost.JSON writes what it does not read again.
void check(const json::value& held, std::size_t depth) {
    if (depth > deepest) {
        refuse("it holds more than " + std::to_string(deepest) + " levels");
    }
    if (const auto* const number = held.if_double(); number != nullptr && !std::isfinite(*number)) {
        refuse("it holds a number that is not finite");
    }
    if (const auto* const object = held.if_object()) {
        for (const auto& member : *object) {
            check(member.value(), depth + 1);
        }
    } else if (const auto* const array = held.if_array()) {
        for (const auto& element : *array) {
            check(element, depth + 1);
        }
    }
}

} // namespace

std::string to_text(const session_data& data) {
    const json::value held{{"metadata", data.metadata()}, {"programs", data.programs()}};
    check(held, 0);
    return json::serialize(held);
}

session_data to_session_data(std::string_view text, duration ttl) {
    json::parse_options options;
    options.max_depth = deepest + 1;
    options.allow_invalid_utf8 = true; // it comes back as it was given
    const auto held = json::parse(text, {}, options);
    session_data data;
    data.ttl(ttl);
    for (const auto& fact : held.at("metadata").as_object()) {
        data.metadata(fact.key(), fact.value());
    }
    for (const auto& program : held.at("programs").as_object()) {
        data.put_program(program.key(), program.value());
    }
    return data;
}

} // namespace skep
