// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "report.hpp"
#include <skep/skep.hpp>

#include <cstddef>
#include <string>

/// Lets a pool's workers read the whole standard library, and kills one worker half-way to show that no
/// module is lost.
class survey {
public:
    survey(skep::pool& workers, screen& output) : pool_(workers), screen_(output) {}

    /// Starts the pool and returns when every module was read. A cancellation cancels the calls in flight;
    /// result() keeps the facts found so far. The caller must shut the pool down.
    boost::asio::awaitable<void> run();

    const findings& result() const noexcept { return found_; }

private:
    boost::asio::awaitable<void> list_modules();
    boost::asio::awaitable<void> read_modules();
    boost::asio::awaitable<void> read_until_none_is_left();
    boost::asio::awaitable<void> read_module(std::string path);
    boost::asio::awaitable<void> kill_a_busy_worker();
    boost::asio::awaitable<skep::worker_status> replacement_of(skep::worker_id gone);

    void note_failure(const std::string& path, const skep::error& why);

    skep::pool& pool_;
    screen& screen_;
    findings found_;
    std::size_t next_ = 0;
    bool has_killed_ = false;
};
