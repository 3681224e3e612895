// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/pool_config.hpp>

#include <exception>
#include <string>
#include <string_view>

namespace skep {

/// Writes a pool's messages to Boost.Log, channel "skep". Never throws. Texts hold no arguments, frame bodies
/// or environments.
class pool_log {
public:
    pool_log(std::string pool, log_level least) : pool_(std::move(pool)), least_(least) {}

    bool wants(log_level level) const noexcept { return level >= least_ && level != log_level::off; }

    void operator()(log_level level, std::string_view text) const noexcept;

    /// `text`, and what `problem` says of itself.
    void operator()(log_level level, std::string_view text, const std::exception_ptr& problem) const noexcept;

private:
    std::string pool_;
    log_level least_;
};

} // namespace skep
