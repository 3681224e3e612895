// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/skep.hpp>

#include <cstddef>
#include <string>

/// Waves of many calls at once, each sent when the one before it is answered; then nothing.
class burst {
public:
    explicit burst(skep::pool& workers) : pool_(workers) {}

    boost::asio::awaitable<void> run();

    std::size_t planned() const noexcept;
    std::size_t succeeded() const noexcept { return succeeded_; } ///< with the right answer

    /// Of the first that failed; empty if none did.
    const std::string& failure() const noexcept { return failure_; }

private:
    boost::asio::awaitable<void> call();

    skep::pool& pool_;
    std::size_t succeeded_ = 0;
    std::string failure_;
};
