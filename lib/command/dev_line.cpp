// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "command/dev_line.hpp"

#include "command/call_arguments.hpp"
#include "command/usage_error.hpp"

#include <algorithm>
#include <vector>

namespace skep {

namespace {

constexpr std::string_view spaces = " \t\r";

std::string_view without_spaces(std::string_view text) {
    const auto begin = text.find_first_not_of(spaces);
    return begin == text.npos ? std::string_view()
                              : text.substr(begin, text.find_last_not_of(spaces) - begin + 1);
}

std::vector<std::string> words_in(std::string_view text) {
    std::vector<std::string> words;
    for (text = without_spaces(text); !text.empty(); text = without_spaces(text)) {
        const auto word = text.substr(0, text.find_first_of(spaces));
        words.emplace_back(word);
        text.remove_prefix(word.size());
    }
    return words;
}

/// Returns true for NAME=VALUE, unless the value begins with a quote that another word may end.
bool is_whole(std::string_view word) {
    const auto end = word.find('=');
    const auto value = end == word.npos ? std::string_view() : word.substr(end + 1);
    const bool has_open_quote = value.starts_with('"') && (value.size() == 1 || !value.ends_with('"'));
    return end != word.npos && !has_open_quote;
}

boost::json::object arguments_in(std::string_view text) {
    if (text.starts_with('{')) {
        return call_arguments({std::string(text)});
    }
    const auto words = words_in(text);
    const auto wrong = std::find_if_not(words.begin(), words.end(), is_whole);
    if (wrong != words.end()) {
        throw usage_error(
            *wrong + " is not of the form NAME=VALUE: a value with spaces needs the form COMMAND {JSON}");
    }
    return call_arguments(words);
}

} // namespace

dev_line parse_dev_line(std::string_view line) {
    const auto text = without_spaces(line);
    const auto target = text.substr(0, text.find_first_of(spaces));
    const auto rest = without_spaces(text.substr(target.size()));
    const auto slash = target.find('/');
    dev_line call;
    call.pool = slash == target.npos ? "" : target.substr(0, slash);
    call.command = target.substr(slash == target.npos ? 0 : slash + 1);
    if (call.command.empty()) {
        throw usage_error("a command is missing: type COMMAND {JSON} or COMMAND NAME=VALUE ...");
    }
    call.arguments = arguments_in(rest);
    return call;
}

} // namespace skep
