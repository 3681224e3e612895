// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "command/dev_line.hpp"

#include "command/admin_url.hpp"
#include "command/usage_error.hpp"

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
    call.arguments = call_arguments(rest.starts_with('{') ? std::vector{std::string(rest)} : words_in(rest));
    return call;
}

} // namespace skep
