// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "runtime/pool_context.hpp"
#include <skep/pool_config.hpp>

#include <chrono>
#include <concepts>
#include <exception>
#include <functional>
#include <string>
#include <string_view>

namespace skep {

/// Writes a pool's messages to where its configuration says. Never throws. Texts hold no arguments, frame bodies
/// or environments.
class pool_log {
public:
    pool_log(const pool_config& config, const pool_context& context)
        : pool_(config.name),
          least_(config.log),
          to_(config.log_to),
          wall_now_(context.wall_now),
          write_line_(context.write_log_line) {}

    bool wants(log_level level) const noexcept { return level >= least_ && level != log_level::off; }

    void operator()(log_level level, std::string_view text) const noexcept;

    /// `make_text()` is the text; it is not called in vain, and may fail.
    template <std::invocable MakeText>
    void operator()(log_level level, MakeText&& make_text) const noexcept {
        if (wants(level)) {
            try {
                const std::string text = make_text();
                (*this)(level, std::string_view(text));
            } catch (...) {} // out of memory
        }
    }

    /// `text`, and what `problem` says of itself.
    void operator()(log_level level, std::string_view text, const std::exception_ptr& problem) const noexcept;

private:
    std::string pool_;
    log_level least_;
    log_destination to_;
    std::function<std::chrono::system_clock::time_point()> wall_now_;
    std::function<void(std::string_view)> write_line_;
};

/// One line, its end included: when (UTC), how bad, which pool, what.
std::string log_line(std::chrono::system_clock::time_point now, log_level level, std::string_view pool,
                     std::string_view text);

} // namespace skep
