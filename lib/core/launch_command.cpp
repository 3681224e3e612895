// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/launch_command.hpp"

#include <algorithm>

namespace skep {

namespace {

void append(std::vector<std::string>& out, const std::vector<std::string>& words) {
    out.insert(out.end(), words.begin(), words.end());
}

} // namespace

std::string quoted_for_shell(std::string_view word) {
    constexpr std::string_view plain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%";
    if (!word.empty() && word.find_first_not_of(plain) == word.npos) {
        return std::string(word);
    }
    std::string quoted = "'";
    for (const char each : word) {
        quoted += each == '\'' ? std::string("'\\''") : std::string(1, each);
    }
    return quoted + "'";
}

std::vector<std::string> launch_command(const launch_options& launch,
                                        const std::vector<std::string>& environment) {
    std::vector<std::string> words;
    if (is_forwarded(launch)) {
        words.emplace_back("env");
        append(words, environment);
    }
    words.push_back(launch.program);
    append(words, launch.args);
    if (launch.remote_shell) {
        std::transform(words.begin(), words.end(), words.begin(), quoted_for_shell);
    }
    words.insert(words.begin(), launch.prefix.begin(), launch.prefix.end());
    return words;
}

} // namespace skep
