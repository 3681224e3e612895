// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/config_fields.hpp"
#include "core/config_path.hpp"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <initializer_list>
#include <limits>
#include <set>

namespace skep {

namespace json = boost::json;

namespace {

/// Fills the fields it meets from a JSON object, and rejects the keys that no field asked for.
class json_reader {
public:
    explicit json_reader(const json::object& object) : object_(&object) {}

    template <class Function>
    void group(std::string_view name, Function&& function) {
        const auto* value = take(name);
        if (value == nullptr) {
            return;
        }
        if (!value->is_object()) {
            reject(name, *value, "must be an object");
        }
        const auto* outer = object_;
        std::set<std::string, std::less<>> outer_taken;
        outer_taken.swap(taken_);
        object_ = &value->get_object();
        path_.inside(name, [&] {
            function();
            reject_unknown_keys();
        });
        object_ = outer;
        taken_.swap(outer_taken);
    }

    template <class Integer>
    void number(std::string_view field, Integer& target, long long low, long long high) {
        if (const auto* value = take(field)) {
            const auto number = integer(field, *value);
            if (number < low || number > high) {
                reject(field, *value, "must be " + std::to_string(low) + ".." + std::to_string(high));
            }
            target = static_cast<Integer>(number);
        }
    }

    void real(std::string_view field, double& target, double, double) {
        if (const auto* value = take(field)) {
            if (!value->is_number()) {
                reject(field, *value, "must be a number");
            }
            target = value->to_number<double>();
        }
    }

    void time(std::string_view field, duration& target, duration, duration) {
        const auto key = std::string(field) + "_ms";
        if (const auto* value = take(key)) {
            target = milliseconds(key, *value);
        }
    }

    void times(std::string_view field, std::vector<duration>& target, duration, duration) {
        const auto key = std::string(field) + "_ms";
        const auto* value = take(key);
        if (value == nullptr) {
            return;
        }
        if (!value->is_array()) {
            reject(key, *value, "must be an array of integers");
        }
        target.clear();
        for (const auto& item : value->get_array()) {
            target.push_back(milliseconds(key, item));
        }
    }

    template <class Enum>
    void choice(std::string_view field, Enum& target, std::initializer_list<std::string_view> names) {
        const auto* value = take(field);
        if (value == nullptr) {
            return;
        }
        const auto name = string(field, *value);
        int index = 0;
        std::string known;
        for (const auto candidate : names) {
            if (candidate == name) {
                target = static_cast<Enum>(index);
                return;
            }
            known += (index++ == 0 ? "" : ", ") + std::string(candidate);
        }
        reject(field, *value, "must be one of " + known);
    }

    void text(std::string_view field, std::string& target) {
        if (const auto* value = take(field)) {
            target = string(field, *value);
        }
    }

    void path(std::string_view field, std::filesystem::path& target) {
        if (const auto* value = take(field)) {
            target = string(field, *value);
        }
    }

    void flag(std::string_view field, bool& target) {
        if (const auto* value = take(field)) {
            if (!value->is_bool()) {
                reject(field, *value, "must be true or false");
            }
            target = value->get_bool();
        }
    }

    void strings(std::string_view field, std::vector<std::string>& target) {
        if (const auto* value = take(field)) {
            target = to_strings(field, *value);
        }
    }

    void lists(std::string_view field, std::vector<std::vector<std::string>>& target) {
        const auto* value = take(field);
        if (value == nullptr) {
            return;
        }
        if (!value->is_array()) {
            reject(field, *value, "must be an array of arrays of strings");
        }
        target.clear();
        for (const auto& item : value->get_array()) {
            target.push_back(to_strings(field, item));
        }
    }

    void lists_by_name(std::string_view field, std::map<std::string, std::vector<std::string>>& target) {
        const auto* value = take(field);
        if (value == nullptr) {
            return;
        }
        if (!value->is_object()) {
            path_.reject(field, "",
                         "must be an object of arrays of strings"); // an environment is never printed
        }
        target.clear();
        for (const auto& [name, items] : value->get_object()) {
            const auto place = std::string(field) + "." + std::string(name);
            auto& list = target[name];
            for (const auto& item : items.is_array() ? items.get_array() : json::array{nullptr}) {
                if (!item.is_string()) {
                    path_.reject(place, "", "must be an array of strings");
                }
                list.emplace_back(item.get_string());
            }
        }
    }

    void variables(std::string_view field, std::map<std::string, std::string>& target) {
        const auto* value = take(field);
        if (value == nullptr) {
            return;
        }
        if (!value->is_object()) {
            path_.reject(field, "", "must be an object of strings"); // an environment is never printed
        }
        target.clear();
        for (const auto& [name, item] : value->get_object()) {
            if (!item.is_string()) {
                path_.reject(std::string(field) + "." + std::string(name), "", "must be a string");
            }
            target.emplace(name, item.get_string());
        }
    }

    void reject_unknown_keys() const {
        for (const auto& [key, value] : *object_) {
            if (taken_.find(std::string_view(key)) == taken_.end()) {
                const bool is_time = taken_.count(std::string(key) + "_ms") != 0;
                path_.reject(key, "",
                             is_time ? "is not a known key; times end in _ms" : "is not a known key");
            }
        }
    }

private:
    const json::value* take(std::string_view field) {
        taken_.emplace(field);
        return object_->if_contains(field);
    }

    long long integer(std::string_view field, const json::value& value) const {
        boost::system::error_code ec;
        const auto number = value.to_number<long long>(ec);
        if (ec) {
            reject(field, value, "must be an integer");
        }
        return number;
    }

    duration milliseconds(std::string_view key, const json::value& value) const {
        constexpr auto limit = std::chrono::duration_cast<std::chrono::milliseconds>(duration::max()).count();
        const auto count = integer(key, value);
        if (count > limit || count < -limit) {
            reject(key, value, "is out of range");
        }
        return std::chrono::milliseconds(count);
    }

    std::vector<std::string> to_strings(std::string_view field, const json::value& value) const {
        if (!value.is_array()) {
            reject(field, value, "must be an array of strings");
        }
        std::vector<std::string> result;
        for (const auto& item : value.get_array()) {
            result.push_back(string(field, item));
        }
        return result;
    }

    std::string string(std::string_view field, const json::value& value) const {
        if (!value.is_string()) {
            reject(field, value, "must be a string");
        }
        return std::string(value.get_string());
    }

    [[noreturn]] void reject(std::string_view field, const json::value& value,
                             const std::string& rule) const {
        path_.reject(field, value.is_structured() ? "" : json::serialize(value), rule);
    }

    const json::object* object_;
    std::set<std::string, std::less<>> taken_;
    config_path path_;
};

} // namespace

pool_config pool_config::python(std::string script, std::string interpreter) {
    pool_config config;
    config.launch.program = std::move(interpreter);
    config.launch.args = {std::move(script)};
    return config;
}

pool_config pool_config::from_json(const json::value& document) {
    if (!document.is_object()) {
        config_path().reject("the document", "", "must be a JSON object");
    }
    pool_config config;
    json_reader reader(document.get_object());
    visit_fields(config, reader);
    reader.reject_unknown_keys();
    config.validate();
    return config;
}

} // namespace skep
