// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/variable_references.hpp"

#include "core/text.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <algorithm>
#include <optional>
#include <string_view>

namespace skep {

namespace json = boost::json;

namespace {

constexpr auto reference_rule =
    "a reference is ${NAME} or ${NAME:-default}, without another reference in the default; for a literal $, "
    "write $$";

struct reference {
    std::string name;
    std::optional<std::string> fallback;
};

bool is_variable_name(std::string_view text) noexcept {
    const auto is_letter = [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
    };
    const auto is_allowed = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); };
    return !text.empty() && is_letter(text.front()) && std::all_of(text.begin(), text.end(), is_allowed);
}

/// Parses the text between the braces.
std::optional<reference> parse_reference(std::string_view text) {
    constexpr std::string_view separator = ":-";
    const auto name_length = std::min(text.find(separator), text.size());
    reference result{std::string(text.substr(0, name_length)), std::nullopt};
    if (name_length < text.size()) {
        result.fallback = text.substr(name_length + separator.size());
    }
    const bool is_nested = result.fallback && result.fallback->find("${") != std::string::npos;
    return is_variable_name(result.name) && !is_nested ? std::optional(std::move(result)) : std::nullopt;
}

/// Walks through a document, and replaces the references in its strings.
class replacement_walk {
public:
    replacement_walk(const variable_lookup& look_up, config_problems& problems)
        : look_up_(look_up), problems_(problems) {}

    void visit(json::value& value, const std::string& place) {
        if (auto* const text = value.if_string()) {
            if (const auto replaced = replace(*text, place)) {
                *text = *replaced;
            }
        } else if (auto* const items = value.if_array()) {
            for (std::size_t i = 0; i < items->size(); ++i) {
                visit((*items)[i], place + "[" + std::to_string(i) + "]");
            }
        } else if (auto* const members = value.if_object()) {
            for (auto& [key, member] : *members) {
                visit(member, (place.empty() ? "" : place + ".") + std::string(key));
            }
        }
    }

private:
    /// Returns the text with its references replaced; an empty optional after a problem.
    std::optional<std::string> replace(std::string_view text, const std::string& place) {
        std::string result;
        for (auto dollar = text.find('$'); dollar != text.npos; dollar = text.find('$')) {
            result += text.substr(0, dollar);
            text.remove_prefix(dollar + 1);
            if (!text.starts_with('{')) {
                result += '$';
                text.remove_prefix(text.starts_with('$') ? 1 : 0);
                continue;
            }
            const auto end = text.find('}');
            const auto parsed = end == text.npos ? std::nullopt : parse_reference(text.substr(1, end - 1));
            const auto value = parsed ? value_of(*parsed, place) : reject(place, reference_rule);
            if (!value) {
                return std::nullopt;
            }
            result += *value;
            text.remove_prefix(end + 1);
        }
        return result.append(text);
    }

    std::optional<std::string> value_of(const reference& variable, const std::string& place) {
        const auto* const found = look_up_(variable.name);
        const std::string value = found == nullptr ? "" : found;
        if (value.empty() && variable.fallback) {
            return variable.fallback;
        }
        if (found == nullptr) {
            return reject(place, "the environment variable " + variable.name +
                                     " is not set; set it, or write a default: ${" + variable.name +
                                     ":-default}");
        }
        return is_utf8(value) ? value
                              : reject(place, "the value of the environment variable " + variable.name +
                                                  " is not UTF-8");
    }

    std::optional<std::string> reject(const std::string& place, const std::string& rule) {
        problems_.add(place.empty() ? "the document" : place, "", rule);
        return std::nullopt;
    }

    const variable_lookup& look_up_;
    config_problems& problems_;
};

} // namespace

void replace_references(json::value& document, const variable_lookup& look_up, config_problems& problems) {
    replacement_walk(look_up, problems).visit(document, "");
}

} // namespace skep
