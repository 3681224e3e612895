// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/exact_ms.hpp"
#include <skep/events.hpp>

#include <boost/describe/members.hpp>
#include <boost/json/array.hpp>
#include <boost/json/value.hpp>
#include <boost/mp11/algorithm.hpp>

#include <chrono>
#include <type_traits>
#include <utility>

namespace skep {

namespace json = boost::json;

event::event(const event&) = default;
event::event(event&&) noexcept = default;
event& event::operator=(const event&) = default;
event& event::operator=(event&&) = default;
event::~event() = default;

namespace {

void put(json::object& target, std::string_view name, duration value) {
    target[std::string(name) + "_ms"] = exact_ms(value);
}

void put(json::object& target, std::string_view name, std::chrono::system_clock::time_point value) {
    const auto since_1970 = std::chrono::duration_cast<std::chrono::microseconds>(value.time_since_epoch());
    target[std::string(name) + "_us"] = since_1970.count();
}

void put(json::object& target, std::string_view name, const worker_id& value) {
    if (value.generation != 0) {
        target[name] = to_string(value);
    }
}

void put(json::object& target, std::string_view name, worker_state value) {
    target[name] = to_string(value);
}

void put(json::object& target, std::string_view name, transition_reason value) {
    target[name] = to_string(value);
}

void put(json::object& target, std::string_view name, const unanswered_calls& value) {
    if (value.count == 0) {
        return;
    }
    json::array named;
    for (const auto& each : value.named) {
        named.push_back({{"command", each.command}, {"correlation_id", each.correlation_id}});
    }
    target[name] = {{"count", value.count}, {"named", std::move(named)}};
}

template <class T>
void put(json::object& target, std::string_view name, const T& value) {
    target[name] = value;
}

} // namespace

std::string_view name_of(const event& subject) noexcept {
    return std::visit([](const auto& fact) { return std::decay_t<decltype(fact)>::name; }, subject);
}

json::object to_json(const event& subject) {
    json::object result;
    result["event"] = name_of(subject);
    auto describe = [&](const auto& fact) {
        using members =
            boost::describe::describe_members<std::decay_t<decltype(fact)>, boost::describe::mod_public>;
        boost::mp11::mp_for_each<members>(
            [&](auto member) { put(result, member.name, fact.*member.pointer); });
    };
    std::visit(describe, subject);
    return result;
}

} // namespace skep
