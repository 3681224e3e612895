// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "monitor.hpp"
#include <skep/skep.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

/// A fault of a worker: a call that provokes the fault, and the expected outcome.
struct trouble {
    std::string title;
    skep::request call;
    std::optional<skep::errc> outcome; ///< expected error of the call; empty: an answer
    std::string evidence;              ///< expected part of the pool's report
};

/// A provoked trouble and its outcome.
struct incident {
    std::string title;
    std::optional<skep::errc> outcome; ///< error of the call; empty: an answer
    int attempts = 0;                  ///< workers that the call was sent to
    skep::worker_id victim;            ///< the last, if there were several
    std::string found;                 ///< the pool's report
    skep::duration found_after{};      ///< from the call to the moment the worker was out of rotation
    skep::duration whole_after{};      ///< from the call to the moment all workers served again
    std::string stacks;                ///< of the worker, if the pool took them
    bool as_expected = false;
};

/// Provokes one trouble after the other, and waits each time until all workers serve again.
class troublemaker {
public:
    troublemaker(skep::pool& workers, monitor& watch) : pool_(workers), monitor_(watch) {}

    boost::asio::awaitable<void> run();

    const std::vector<incident>& incidents() const noexcept { return incidents_; }

    /// Returns true if the pool has detected and healed every trouble as expected.
    bool is_satisfied() const;

private:
    boost::asio::awaitable<void> make(trouble what);
    boost::asio::awaitable<void> provoke(skep::request call, incident& happened);
    boost::asio::awaitable<void> wait_until(std::function<bool()> done);
    void judge(const trouble& what, const std::string& failure_before, incident& happened) const;

    skep::pool& pool_;
    monitor& monitor_;
    std::vector<incident> incidents_;
};
