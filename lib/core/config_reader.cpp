// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/config_reader.hpp"

#include "core/duration_text.hpp"
#include "core/nearest_key.hpp"

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>

namespace skep {

namespace json = boost::json;

namespace {

/// Returns an empty text for arrays and objects, and for text that may be an address with a password.
std::string shown(const json::value& value) {
    const bool may_be_secret = value.is_string() && value.get_string().find('@') != std::string_view::npos;
    if (value.is_structured() || may_be_secret) {
        return {};
    }
    return value.is_double() ? in_decimals(value.get_double()) : json::serialize(value);
}

} // namespace

/// Converts all items, so that each invalid item is reported.
template <class Item, class Convert>
config_reader::maybe<std::vector<Item>> config_reader::to_array(const node& position, const char* rule,
                                                                Convert convert) const {
    if (!position.value.is_array()) {
        reject(position, rule);
        return std::nullopt;
    }
    bool is_complete = true;
    std::vector<Item> result;
    for (const auto& each : position.value.get_array()) {
        auto item = convert(node{position.place + "[" + std::to_string(result.size()) + "]", each});
        is_complete = is_complete && item;
        result.push_back(std::move(item).value_or(Item()));
    }
    return is_complete ? std::optional(std::move(result)) : std::nullopt;
}

template <class Item, class Convert>
config_reader::maybe<std::map<std::string, Item>> config_reader::to_map(const node& position,
                                                                        const char* rule,
                                                                        Convert convert) const {
    if (!position.value.is_object()) {
        reject(position, rule);
        return std::nullopt;
    }
    bool is_complete = true;
    std::map<std::string, Item> result;
    for (const auto& [name, each] : position.value.get_object()) {
        auto item = convert(node{position.place + "." + std::string(name), each});
        is_complete = is_complete && item;
        result.emplace(name, std::move(item).value_or(Item()));
    }
    return is_complete ? std::optional(std::move(result)) : std::nullopt;
}

template <class Target, class FromCount, class FromText>
void config_reader::read_time(std::string_view field, Target& target, FromCount from_count,
                              FromText from_text) {
    const auto key = milliseconds_key(field);
    read(key, target, from_count);
    read(field, target, from_text);
    if (object_->contains(key) && object_->contains(field)) {
        range_.where().reject(key, "", "must not be given beside " + range_.where().of(field));
    }
}

template <class Target, class Convert>
void config_reader::read_secret(std::string_view field, Target& target, Convert convert) {
    is_secret_ = true;
    read(field, target, convert);
    is_secret_ = false;
}

void config_reader::real(std::string_view field, double& target, double low, double high) {
    read(field, target, [&](const node& position) -> maybe<double> {
        if (!position.value.is_number()) {
            reject(position, "must be a number");
            return std::nullopt;
        }
        const auto number = position.value.to_number<double>();
        return range_.real(position.place, number, low, high) ? std::optional(number) : std::nullopt;
    });
}

void config_reader::time(std::string_view field, duration& target, duration low, duration high) {
    read_time(
        field, target, [&](const node& position) { return from_milliseconds(position, low, high); },
        [&](const node& position) { return from_text(position, low, high); });
}

void config_reader::times(std::string_view field, std::vector<duration>& target, duration low,
                          duration high) {
    const auto from_counts = [&](const node& position) {
        return to_array<duration>(position, "must be an array of integers",
                                  [&](const node& item) { return from_milliseconds(item, low, high); });
    };
    const auto from_texts = [&](const node& position) {
        return to_array<duration>(position, "must be an array of strings such as \"250ms\"",
                                  [&](const node& item) { return from_text(item, low, high); });
    };
    read_time(field, target, from_counts, from_texts);
}

void config_reader::flag(std::string_view field, bool& target) {
    read(field, target, [&](const node& position) -> maybe<bool> {
        if (!position.value.is_bool()) {
            reject(position, "must be true or false");
            return std::nullopt;
        }
        return position.value.get_bool();
    });
}

void config_reader::optional_time(std::string_view field, std::optional<duration>& target, duration low,
                                  duration high) {
    auto read_one = target.value_or(duration::min());
    time(field, read_one, low, high);
    if (read_one != duration::min()) {
        target = read_one;
    }
}

void config_reader::optional_flag(std::string_view field, std::optional<bool>& target) {
    if (has(field)) {
        flag(field, target.emplace(target.value_or(false)));
    } else {
        skip(field);
    }
}

void config_reader::text(std::string_view field, std::string& target) {
    read(field, target, [&](const node& position) { return to_string(position); });
}

void config_reader::secret(std::string_view field, std::string& target) {
    read_secret(field, target, [&](const node& position) { return to_string(position); });
}

void config_reader::path(std::string_view field, std::filesystem::path& target) {
    read(field, target, [&](const node& position) { return to_string(position); });
}

void config_reader::strings(std::string_view field, std::vector<std::string>& target) {
    read(field, target, [&](const node& position) { return to_strings(position); });
}

void config_reader::lists(std::string_view field, std::vector<std::vector<std::string>>& target) {
    read(field, target, [&](const node& position) {
        return to_array<std::vector<std::string>>(position, "must be an array of arrays of strings",
                                                  [&](const node& item) { return to_strings(item); });
    });
}

void config_reader::variables(std::string_view field,
                              std::map<std::string, std::optional<std::string>>& target) {
    read_secret(field, target, [&](const node& position) {
        return to_map<std::optional<std::string>>(position, "must be an object of strings and nulls",
                                                  [&](const node& item) { return to_string_or_null(item); });
    });
}

void config_reader::lists_by_name(std::string_view field,
                                  std::map<std::string, std::vector<std::string>>& target) {
    read_secret(field, target, [&](const node& position) {
        return to_map<std::vector<std::string>>(position, "must be an object of arrays of strings",
                                                [&](const node& item) { return to_strings(item); });
    });
}

void config_reader::reject_unknown_keys() {
    for (const auto& [key, value] : *object_) {
        if (known_keys_.find(std::string_view(key)) != known_keys_.end()) {
            continue;
        }
        std::string rule = "is not a known key";
        if (const auto meant = nearest_key(key, known_keys_); !meant.empty()) {
            const auto place = range_.where().of(meant);
            rule += "; did you mean " + place + "?";
            problems_.doubt(place);
        }
        range_.where().reject(key, "", rule);
    }
}

config_reader::maybe<long long> config_reader::to_integer(const node& position, long long low,
                                                          long long high) const {
    boost::system::error_code ec;
    const auto number = position.value.to_number<long long>(ec);
    if (ec) {
        reject(position, "must be an integer");
        return std::nullopt;
    }
    return range_.number(position.place, number, low, high) ? std::optional(number) : std::nullopt;
}

config_reader::maybe<std::size_t> config_reader::to_index(const node& position,
                                                          std::span<const std::string_view> names) const {
    const auto name = to_string(position);
    if (!name) {
        return std::nullopt;
    }
    const auto found = std::find(names.begin(), names.end(), *name);
    if (found != names.end()) {
        return static_cast<std::size_t>(found - names.begin());
    }
    std::string known;
    for (const auto each : names) {
        known.append(known.empty() ? "" : ", ").append(each);
    }
    reject(position, "must be one of " + known);
    return std::nullopt;
}

config_reader::maybe<duration> config_reader::from_milliseconds(const node& position, duration low,
                                                                duration high) const {
    using std::chrono::milliseconds;
    const auto count = to_integer(position, low / milliseconds(1), high / milliseconds(1));
    return count ? std::optional(milliseconds(*count)) : std::nullopt;
}

config_reader::maybe<duration> config_reader::from_text(const node& position, duration low,
                                                        duration high) const {
    const auto span = position.value.is_string() ? parse_duration(position.value.get_string()) : std::nullopt;
    if (!span) {
        reject(position, duration_rule);
        return std::nullopt;
    }
    if (*span < low || *span > high) {
        reject(position, "must be " + skep::to_text(low) + ".." + skep::to_text(high));
        return std::nullopt;
    }
    return span;
}

config_reader::maybe<std::string> config_reader::to_string(const node& position) const {
    if (!position.value.is_string()) {
        reject(position, "must be a string");
        return std::nullopt;
    }
    return std::string(position.value.get_string());
}

config_reader::maybe<std::optional<std::string>> config_reader::to_string_or_null(
    const node& position) const {
    if (position.value.is_string()) {
        return std::string(position.value.get_string());
    }
    if (position.value.is_null()) {
        return std::optional<std::string>();
    }
    reject(position, "must be a string, or null to remove the variable");
    return std::nullopt;
}

config_reader::maybe<std::vector<std::string>> config_reader::to_strings(const node& position) const {
    return to_array<std::string>(position, "must be an array of strings",
                                 [&](const node& item) { return to_string(item); });
}

void config_reader::reject(const node& position, const std::string& rule) const {
    range_.where().reject(position.place, is_secret_ ? "" : shown(position.value), rule);
}

} // namespace skep
