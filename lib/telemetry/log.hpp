// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "runtime/pool_context.hpp"
#include <skep/pool_config.hpp>
#include <skep/worker_id.hpp>

#include <chrono>
#include <concepts>
#include <exception>
#include <functional>
#include <string>
#include <string_view>

namespace skep {

/// What a message is about, as far as that is known.
struct log_subject {
    std::string_view channel = "skep"; ///< or "skep.worker": what a worker has printed or logged
    const worker_id* worker = nullptr;
    int pid = 0;
    std::string_view session{};
    std::string_view correlation_id{};
    std::string_view logger{}; ///< of the worker's own, or "stdout" or "stderr"
    std::string_view label{};  ///< the same for the eye: what text begins with
};

/// Writes a pool's messages to where its configuration says. Never throws. Texts hold no arguments, frame bodies
/// or environments.
class pool_log {
public:
    pool_log(const pool_config& config, const pool_context& context)
        : pool_(config.name),
          least_(config.log),
          destination_(config.log_to),
          wall_now_(context.wall_now),
          write_line_(context.write_log_line) {}

    bool wants(log_level level) const noexcept { return level >= least_ && level != log_level::off; }

    void operator()(log_level level, std::string_view text, const log_subject& about = {}) const noexcept;

    /// `make_text()` is the text; it is not called in vain, and may fail.
    template <std::invocable MakeText>
    void operator()(log_level level, MakeText&& make_text, const log_subject& about = {}) const noexcept {
        if (wants(level)) {
            try {
                const std::string text = make_text();
                (*this)(level, std::string_view(text), about);
            } catch (...) {} // out of memory
        }
    }

    /// `text`, and what `problem` says of itself.
    void operator()(log_level level, std::string_view text, const std::exception_ptr& problem) const noexcept;

private:
    std::string pool_;
    log_level least_;
    log_destination destination_;
    std::function<std::chrono::system_clock::time_point()> wall_now_;
    std::function<void(std::string_view)> write_line_;
};

/// One line, its end included: when (UTC), how bad, which pool, what.
std::string log_line(std::chrono::system_clock::time_point now, log_level level, std::string_view pool,
                     std::string_view text, std::string_view label = {});

/// The same as a JSON object: {"at", "level", "channel", "pool", "worker", "pid", "session", "correlation_id", "logger",
/// "text"}, without what is not known.
std::string json_log_line(std::chrono::system_clock::time_point now, log_level level, std::string_view pool,
                          std::string_view text, const log_subject& about);

} // namespace skep
