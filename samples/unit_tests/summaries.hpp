// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/pool.hpp>

#include <chrono>
#include <string>

/// The service under test: summarises texts with a model in a worker, and falls back to the first sentence.
class summaries {
public:
    explicit summaries(skep::pool& models) : models_(models) {}

    boost::asio::awaitable<std::string> summary_of(std::string text) {
        using namespace std::chrono_literals;
        auto asked = skep::request("summarise").arg("text", text).timeout(2s);
        auto calling = models_.execute(std::move(asked));
        try {
            auto reply = co_await std::move(calling);
            co_return reply.as<std::string>();
        } catch (const skep::error& failure) {
            const bool is_slow_or_lost =
                failure.kind() == skep::errc::timeout || failure.kind() == skep::errc::worker_lost;
            if (!is_slow_or_lost) {
                throw;
            }
        }
        co_return text.substr(0, text.find('.') + 1);
    }

private:
    skep::pool& models_;
};
