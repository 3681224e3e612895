// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/skep.hpp>

#include <cstddef>
#include <string>

/// Sends waves of many calls at once, each after the answers of the previous wave, then no more calls.
class burst {
public:
    explicit burst(skep::pool& workers) : pool_(workers) {}

    boost::asio::awaitable<void> run();

    std::size_t planned() const noexcept;
    std::size_t succeeded() const noexcept { return succeeded_; } ///< calls with the right answer

    /// Returns the text of the first failure, or an empty string.
    const std::string& failure() const noexcept { return failure_; }

private:
    boost::asio::awaitable<void> call();

    skep::pool& pool_;
    std::size_t succeeded_ = 0;
    std::string failure_;
};
