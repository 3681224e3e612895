// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "burst.hpp"

#include "../common.hpp"

#include <vector>

namespace asio = boost::asio;

namespace {

constexpr std::size_t calls_per_wave = 50;
constexpr std::size_t waves = 6;
constexpr double work_seconds = 0.5;

} // namespace

std::size_t burst::planned() const noexcept {
    return calls_per_wave * waves;
}

asio::awaitable<void> burst::run() {
    for (std::size_t wave = 0; wave < waves; ++wave) {
        std::vector<asio::awaitable<void>> calls;
        for (std::size_t i = 0; i < calls_per_wave; ++i) {
            calls.push_back(call());
        }
        co_await run_together(std::move(calls));
    }
}

asio::awaitable<void> burst::call() {
    auto request = skep::request("work").arg("seconds", work_seconds);
    try {
        const auto answer = co_await pool_.execute(std::move(request));
        succeeded_ += answer.value == work_seconds ? 1 : 0;
    } catch (const skep::error& problem) {
        if (problem.code() == skep::errc::cancelled) throw;
        failure_ = failure_.empty() ? problem.what() : failure_;
    }
}
