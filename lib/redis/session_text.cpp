// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "redis/session_text.hpp"

#include "core/with_detail.hpp"
#include <skep/error.hpp>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <cmath>

namespace skep {

namespace json = boost::json;

namespace {

constexpr std::size_t deepest = 200;

[[noreturn]] void refuse(std::string problem) {
    throw error(errc::invalid_session, with_detail(std::move(problem)));
}

void check(const json::object& stored_object, std::size_t depth);

/// Checks for values that Boost.JSON writes but does not read.
void check(const json::value& stored_value, std::size_t depth) {
    if (depth > deepest) {
        refuse("it holds more than " + std::to_string(deepest) + " levels");
    }
    if (const auto* const number = stored_value.if_double(); number != nullptr && !std::isfinite(*number)) {
        refuse("it holds a number that is not finite");
    }
    if (const auto* const object = stored_value.if_object()) {
        check(*object, depth);
    } else if (const auto* const array = stored_value.if_array()) {
        for (const auto& element : *array) {
            check(element, depth + 1);
        }
    }
}

void check(const json::object& stored_object, std::size_t depth) {
    for (const auto& member : stored_object) {
        check(member.value(), depth + 1);
    }
}

/// Returns null if not found.
json::object* object_in(json::value& stored_value, std::string_view name) noexcept {
    auto* const outer = stored_value.if_object();
    auto* const inner = outer == nullptr ? nullptr : outer->if_contains(name);
    return inner == nullptr ? nullptr : inner->if_object();
}

} // namespace

std::string to_text(const session_data& data) {
    check(data.metadata(), 0);
    check(data.programs(), 0);
    return R"({"metadata":)" + json::serialize(data.metadata()) + R"(,"programs":)" +
           json::serialize(data.programs()) + "}";
}

std::optional<session_data> to_session_data(std::string_view text, duration ttl) {
    json::parse_options options;
    options.max_depth = deepest + 2;   // plus two levels around metadata and programs
    options.allow_invalid_utf8 = true; // returned unchanged
    boost::system::error_code ec;
    auto held = json::parse(text, ec, {}, options);
    auto* const metadata = object_in(held, "metadata");
    auto* const programs = object_in(held, "programs");
    if (ec || metadata == nullptr || programs == nullptr) {
        return std::nullopt;
    }
    session_data data;
    data.ttl(ttl);
    for (auto& fact : *metadata) {
        data.metadata(fact.key(), std::move(fact.value()));
    }
    for (auto& program : *programs) {
        data.put_program(program.key(), std::move(program.value()));
    }
    return data;
}

} // namespace skep
