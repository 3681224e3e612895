// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/skep.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/// Makes good calls at a steady pace, regardless of the workers.
class steady_load {
public:
    explicit steady_load(skep::pool& workers) : pool_(workers) {}

    /// Returns the callers, to be run concurrently. They return soon after finish().
    std::vector<boost::asio::awaitable<void>> callers();
    void finish() noexcept { over_ = true; }

    std::size_t sent() const noexcept { return sent_; }
    std::size_t right() const noexcept { return right_; } ///< calls with the right answer

    /// Returns the text of the first failure, or an empty string.
    const std::string& failure() const noexcept { return failure_; }

    /// Returns "good calls: 812 of 812 succeeded", with retries and the slowest call.
    std::string summary() const;

private:
    boost::asio::awaitable<void> call_regularly();
    boost::asio::awaitable<void> call(std::int64_t number);
    void note_failure(const std::string& text);

    skep::pool& pool_;
    std::size_t sent_ = 0;
    std::size_t right_ = 0;
    std::size_t retried_ = 0;
    skep::duration slowest_{};
    std::string failure_;
    bool over_ = false;
};
