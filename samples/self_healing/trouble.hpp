// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "monitor.hpp"
#include <skep/skep.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

/// Something that goes wrong with a worker, how to make it happen, and what is to come of it.
struct trouble {
    std::string title;
    skep::request call;
    std::optional<skep::errc> outcome; ///< what its caller gets; nothing: an answer
    std::string evidence;              ///< what the pool is to say about it, among other things
};

/// One trouble that was made, and what came of it.
struct incident {
    std::string title;
    std::optional<skep::errc> outcome; ///< what its caller got
    int attempts = 0;                  ///< workers that the call was sent to
    skep::worker_id victim;            ///< the last one, if there were several
    std::string found;                 ///< what the pool says about it
    skep::duration found_after{};      ///< from the call to the moment the worker was out of rotation
    skep::duration whole_after{};      ///< from the call to the moment all workers served again
    std::string stacks;                ///< of the worker, where the pool took them
    bool as_expected = false;
};

/// Makes one trouble after the other, and waits each time until the pool is whole again.
class troublemaker {
public:
    troublemaker(skep::pool& workers, monitor& watch) : pool_(workers), monitor_(watch) {}

    boost::asio::awaitable<void> run();

    const std::vector<incident>& incidents() const noexcept { return incidents_; }

    /// True if every trouble was made, and each was found and healed as it should be.
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
