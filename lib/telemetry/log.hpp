// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "runtime/pool_context.hpp"
#include <skep/log.hpp>
#include <skep/pool_config.hpp>
#include <skep/worker_id.hpp>

#include <chrono>
#include <concepts>
#include <exception>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace skep {

/// The members of a record that vary by message; unknown members are empty.
struct log_subject {
    log_source source = log_source::pool;
    const worker_id* worker = nullptr;
    int pid = 0;
    std::string_view session{};
    std::string_view correlation_id{};
    std::span<const std::string> concurrent_ids{};
    std::string_view logger{};
};

/// Sends a pool's messages to the log handler of its configuration, or writes them to standard error. Never
/// throws. Texts contain no arguments, frame bodies or environments.
class pool_log {
public:
    pool_log(const pool_config& config, const pool_context& context);

    bool wants(log_level level) const noexcept { return level >= least_ && level != log_level::off; }

    void operator()(log_level level, std::string_view text, const log_subject& about = {}) const noexcept;

    /// Logs the result of `make_text()`, called only if the level is enabled. `make_text` may throw.
    template <std::invocable MakeText>
    void operator()(log_level level, MakeText&& make_text, const log_subject& about = {}) const noexcept {
        if (wants(level)) {
            try {
                const std::string text = make_text();
                (*this)(level, std::string_view(text), about);
            } catch (...) {} // out of memory
        }
    }

    /// Logs `text` and the message of `problem`.
    void operator()(log_level level, std::string_view text, const std::exception_ptr& problem) const noexcept;

private:
    log_record record_of(log_level level, std::string_view text, const log_subject& about) const;

    std::string pool_;
    log_level least_;
    std::function<std::chrono::system_clock::time_point()> wall_now_;
    log_handler write_;
};

} // namespace skep
