// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/config_fields.hpp"

#include <boost/json/serialize.hpp>
#include <boost/json/value_from.hpp>

#include <filesystem>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace skep::test {

/// A visitor that knows where it is.
class located {
public:
    template <class Function>
    void group(std::string_view name, Function&& function) {
        const auto outer = prefix_;
        prefix_.append(name).append(".");
        function();
        prefix_ = outer;
    }

protected:
    std::string path(std::string_view field) const { return prefix_ + std::string(field); }

private:
    std::string prefix_;
};

/// The value of every field as text, by path, to compare configurations by.
class field_values : public located {
public:
    std::map<std::string, std::string> all;

    template <class Integer>
    void number(std::string_view field, Integer value, long long, long long) {
        keep(field, value);
    }

    template <class Enum>
    void choice(std::string_view field, Enum value, std::initializer_list<std::string_view>) {
        keep(field, static_cast<int>(value));
    }

    void real(std::string_view field, double value, double, double) { keep(field, value); }
    void time(std::string_view field, duration value, duration, duration) { keep(field, value.count()); }

    void times(std::string_view field, const std::vector<duration>& values, duration, duration) {
        std::vector<duration::rep> counts;
        for (const auto value : values) {
            counts.push_back(value.count());
        }
        keep(field, counts);
    }

    void flag(std::string_view field, bool value) { keep(field, value); }

    template <class Integer>
    void optional_number(std::string_view field, const std::optional<Integer>& value, long long, long long) {
        keep(field, value ? std::to_string(*value) : "none");
    }
    void optional_time(std::string_view field, const std::optional<duration>& value, duration, duration) {
        keep(field, value ? std::to_string(value->count()) : "none");
    }
    void optional_flag(std::string_view field, const std::optional<bool>& value) {
        keep(field, value ? std::to_string(static_cast<int>(*value)) : "none");
    }

    template <class Item, class Visit>
    void groups(std::string_view field, const std::map<std::string, Item, std::less<>>& items,
                Visit&& visit) {
        keep(field, items.size());
        group(field, [&] {
            for (const auto& [name, item] : items) {
                group(name, [&, &each = item] { visit(each, *this); });
            }
        });
    }

    void path(std::string_view field, const std::filesystem::path& value) { keep(field, value.string()); }
    void text(std::string_view field, const std::string& value) { keep(field, value); }
    void secret(std::string_view field, const std::string& value) { keep(field, value); }
    void strings(std::string_view field, const std::vector<std::string>& value) { keep(field, value); }

    void lists(std::string_view field, const std::vector<std::vector<std::string>>& value) {
        keep(field, value);
    }

    void variables(std::string_view field, const std::map<std::string, std::optional<std::string>>& value) {
        std::map<std::string, std::string> shown;
        for (const auto& [name, text] : value) {
            shown[name] = text ? "=" + *text : "removed";
        }
        keep(field, shown);
    }

    void lists_by_name(std::string_view field, const std::map<std::string, std::vector<std::string>>& value) {
        keep(field, value);
    }

private:
    template <class Value>
    void keep(std::string_view field, const Value& value) {
        all[located::path(field)] = boost::json::serialize(boost::json::value_from(value));
    }
};

inline std::map<std::string, std::string> values_of(const pool_config& config) {
    field_values visitor;
    visit_fields(config, visitor);
    return std::move(visitor.all);
}

/// Gives every field another value than it has, durations one longer by `step`.
class field_changer : public located {
public:
    explicit field_changer(duration step) : step_(step) {}

    template <class Integer>
    void number(std::string_view, Integer& value, long long, long long high) {
        value = static_cast<long long>(value) == high ? value - 1 : value + 1;
    }

    template <class Enum>
    void choice(std::string_view, Enum& value, std::initializer_list<std::string_view> names) {
        value = static_cast<Enum>((static_cast<std::size_t>(value) + 1) % names.size());
    }

    void real(std::string_view, double& value, double, double high) { value += value < high ? 0.01 : -0.01; }
    void time(std::string_view, duration& value, duration, duration) { value += step_; }
    void times(std::string_view, std::vector<duration>& values, duration, duration) {
        values.push_back(step_);
    }
    void flag(std::string_view, bool& value) { value = !value; }
    template <class Integer>
    void optional_number(std::string_view, std::optional<Integer>& value, long long low, long long high) {
        value = value == high ? high - 1 : value.value_or(low) + 1;
    }
    void optional_time(std::string_view, std::optional<duration>& value, duration, duration) {
        value = step_;
    }
    void optional_flag(std::string_view, std::optional<bool>& value) { value = true; }

    template <class Item, class Visit>
    void groups(std::string_view, std::map<std::string, Item, std::less<>>& items, Visit&& visit) {
        items["silent"];
        visit(items["a.b \"c\""], *this);
    }

    void path(std::string_view, std::filesystem::path& value) { value /= "/"; }
    void text(std::string_view, std::string& value) { value += "x"; }
    void secret(std::string_view, std::string& value) { value += "s3cret"; }
    void strings(std::string_view, std::vector<std::string>& value) { value.emplace_back("77"); }
    void lists(std::string_view, std::vector<std::vector<std::string>>& value) {
        value.push_back({"--a", ""});
    }
    void variables(std::string_view, std::map<std::string, std::optional<std::string>>& value) {
        value["A"] = "s3cret";
        value["C"] = std::nullopt;
    }

    void lists_by_name(std::string_view, std::map<std::string, std::vector<std::string>>& value) {
        value["B"] = {"0", "1"};
    }

private:
    duration step_;
};

} // namespace skep::test
