// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "command/words.hpp"

#include "command/usage_error.hpp"
#include "core/duration_text.hpp"

#include <algorithm>
#include <chrono>

namespace skep {

namespace {

bool is_option(std::string_view word) noexcept {
    return word.size() > 1 && word.starts_with('-');
}

} // namespace

parsed_words parse_words(const std::vector<std::string>& words, std::initializer_list<option_rule> rules) {
    parsed_words parsed;
    bool has_ended = false;
    for (auto word = words.begin(); word != words.end(); ++word) {
        if (has_ended || !is_option(*word)) {
            parsed.operands.push_back(*word);
            continue;
        }
        if (*word == "--") {
            has_ended = true;
            continue;
        }
        const auto name = word->substr(0, word->find('='));
        const auto* const rule =
            std::find_if(rules.begin(), rules.end(), [&](const auto& each) { return each.name == name; });
        if (rule == rules.end()) {
            throw usage_error("unknown option " + name);
        }
        const bool has_value = name.size() != word->size();
        std::string value = has_value ? word->substr(name.size() + 1) : std::string();
        if (has_value && !rule->has_value) {
            throw usage_error(name + " takes no value");
        }
        if (rule->has_value && !has_value) {
            if (++word == words.end()) {
                throw usage_error(name + " needs a value");
            }
            value = *word;
        }
        if (!parsed.options.emplace(name, std::move(value)).second) {
            throw usage_error(name + " is given twice");
        }
    }
    return parsed;
}

duration duration_in(const parsed_words& parsed, std::string_view option, duration otherwise) {
    const auto found = parsed.options.find(option);
    if (found == parsed.options.end()) {
        return otherwise;
    }
    const auto time = parse_duration(found->second);
    if (!time || *time < std::chrono::milliseconds(1)) {
        throw usage_error(std::string(option) + " must be a duration such as 500ms or 2s");
    }
    return *time;
}

} // namespace skep
