// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/error.hpp>

#include <chrono>
#include <string>
#include <string_view>

namespace skep {

/// Where in a configuration a visitor is, for messages such as "queue.limit = -1: must be 0..10000000".
class config_path {
public:
    template <class Function>
    void inside(std::string_view group, Function&& function) {
        const auto length = prefix_.size();
        prefix_.append(group).append(".");
        function();
        prefix_.resize(length);
    }

    std::string of(std::string_view field) const { return prefix_ + std::string(field); }

    [[noreturn]] void reject(std::string_view field, const std::string& value,
                             const std::string& rule) const {
        error_info info;
        info.detail = of(field) + (value.empty() ? "" : " = " + value) + ": " + rule;
        throw error(errc::invalid_config, std::move(info));
    }

private:
    std::string prefix_;
};

inline std::string in_quotes(std::string_view text) {
    std::string quoted(1, '"');
    quoted.append(text);
    quoted += '"';
    return quoted;
}

inline std::string in_milliseconds(std::chrono::nanoseconds span) {
    return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(span).count()) + " ms";
}

} // namespace skep
