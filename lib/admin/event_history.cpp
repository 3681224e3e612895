// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "admin/event_history.hpp"

#include <string>
#include <type_traits>
#include <utility>

namespace skep {

namespace json = boost::json;

namespace {

constexpr std::size_t longest_text = 8192;

template <class... Types>
bool is_among(const event& subject, type_list<Types...>) noexcept {
    return (std::holds_alternative<Types>(subject) || ...);
}

/// Returns true for an event of a call or rejection: many occur at a time, and the list of faults counts
/// them.
bool is_of_calls(const event& subject) noexcept {
    return is_among(subject, type_list<events::request_failed, events::pool_saturated>());
}

bool is_passed_check(const event& subject) noexcept {
    const auto* const check = std::get_if<events::worker_health_check>(&subject);
    return check != nullptr && check->passed;
}

/// Returns true for the begin or end of a link to a node: the events of its worker tell it already.
bool is_told_by_worker(const event& subject) noexcept {
    return std::visit(
        [](const auto& fact) {
            if constexpr (requires { fact.client; }) {
                return fact.worker.generation != 0;
            } else {
                return false;
            }
        },
        static_cast<const detail::any_event&>(subject));
}

/// Limits the memory for an event. The end of an output says more than its beginning.
void shorten_texts(json::object& shown) {
    for (auto& [name, value] : shown) {
        auto* const text = value.if_string();
        if (text != nullptr && text->size() > longest_text) {
            const auto surplus = text->size() - longest_text;
            text->erase(name == "output_tail" ? 0 : longest_text, surplus);
        }
    }
}

void append(json::array& target, json::array items) {
    for (auto& each : items) {
        target.push_back(std::move(each));
    }
}

} // namespace

bool event_history::keeps(const event& subject) noexcept {
    return is_among(subject, types());
}

json::object event_history::record(const event& new_event, std::int64_t at_ms) {
    auto shown = to_json(new_event);
    shorten_texts(shown);
    shown["at_ms"] = at_ms;
    shown["serial"] = ++last_serial_;
    if (!is_of_calls(new_event) && !is_passed_check(new_event) && !is_told_by_worker(new_event)) {
        events_.push_back(shown);
        if (events_.size() > most_events) {
            events_.pop_front();
        }
    }
    if (auto kind = fault_in(new_event)) {
        auto& faults = is_of_calls(new_event) ? faults_of_calls_ : other_faults_;
        faults.add(std::move(*kind), shown);
    }
    return shown;
}

json::object event_history::all() const {
    auto faults = faults_of_calls_.all();
    append(faults, other_faults_.all());
    return {{"events", json::array(events_.begin(), events_.end())}, {"faults", std::move(faults)}};
}

json::array event_history::take_changed_faults() {
    auto changed = faults_of_calls_.take_changed();
    append(changed, other_faults_.take_changed());
    return changed;
}

} // namespace skep
