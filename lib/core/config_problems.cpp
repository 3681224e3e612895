// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/config_problems.hpp"

#include <skep/error.hpp>

#include <algorithm>

namespace skep {

namespace {

/// Returns true if `outer` contains `inner`, as "launch" contains "launch.args", and "launch.args" contains
/// "launch.args[1]".
bool holds(std::string_view outer, std::string_view inner) {
    return inner.size() > outer.size() && inner.starts_with(outer) &&
           (inner[outer.size()] == '.' || inner[outer.size()] == '[');
}

} // namespace

void config_problems::add(const std::string& place, const std::string& value, const std::string& rule) {
    lines_.push_back(place + (value.empty() ? "" : " = " + value) + ": " + rule);
    doubt(place);
}

void config_problems::expect(bool is_kept, std::initializer_list<std::string> places,
                             const std::string& value, const std::string& rule) {
    const auto doubted = [this](const std::string& place) { return is_doubtful(place); };
    if (!is_kept && std::none_of(places.begin(), places.end(), doubted)) {
        add(*places.begin(), value, rule);
    }
}

void config_problems::doubt(std::string_view place) {
    constexpr std::string_view suffix = "_ms";
    place.remove_suffix(place.ends_with(suffix) ? suffix.size() : 0);
    doubtful_.emplace(place);
}

bool config_problems::is_doubtful(std::string_view place) const {
    return std::any_of(doubtful_.begin(), doubtful_.end(), [&](std::string_view unknown_key) {
        return unknown_key == place || holds(unknown_key, place) || holds(place, unknown_key);
    });
}

void config_problems::add_below(const std::string& place, const config_problems& part) {
    for (const auto& each : part.lines_) {
        lines_.push_back(place + "." + each);
    }
    if (!part.lines_.empty()) {
        doubt(place.substr(0, place.find('[')));
    }
}

void config_problems::raise(std::string_view source) const {
    if (lines_.empty()) {
        return;
    }
    error_info info;
    if (!source.empty()) {
        info.detail.append(source).append(": ");
    }
    if (lines_.size() == 1) {
        info.detail += lines_.front();
    } else {
        info.detail += std::to_string(lines_.size()) + " problems";
        for (const auto& line : lines_) {
            info.detail += "\n  " + line;
        }
    }
    throw error(errc::invalid_config, std::move(info));
}

} // namespace skep
