// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/clock.hpp"
#include "policy/patient_deadline.hpp"

#include <string>
#include <string_view>
#include <utility>

namespace skep {

/// The start of a worker: launch and handshake, under one time limit.
class worker_start {
public:
    worker_start(duration limit, time_point now) noexcept : deadline_(after_limit(now, limit), limit) {}

    /// The worker waits for a function of the user's initialization_delegate. `name` must live forever.
    void begin_hook(std::string_view name) noexcept { hook_ = name; }
    void end_hook() noexcept { hook_ = {}; }

    bool is_launching() const noexcept { return is_launching_; }
    void end_launch() noexcept { is_launching_ = false; }

    /// Returns the step that the start has reached, for people.
    std::string_view stage(bool has_greeted) const noexcept {
        return !hook_.empty()  ? hook_
               : is_launching_ ? "its process is being created"
               : has_greeted   ? "on_start runs"
                               : "has not said hello yet";
    }

    /// Cancels the launch. Returns true on the first call.
    bool cancel_launch() noexcept { return !std::exchange(is_cancelled_, true); }

    time_point deadline() const noexcept {
        return is_launching_ && is_cancelled_ ? time_point::max() : deadline_.due();
    }

    /// Returns the reason for the delay, or an empty text before the deadline.
    std::string complaint(time_point now, bool has_greeted) {
        constexpr auto advice = "; raise start.timeout if loading takes that long";
        return !deadline_.has_passed(now) ? std::string()
               : !hook_.empty()           ? std::string(hook_) +
                                      " did not end in time; raise start.timeout, of which its time is a part"
               : is_launching_ // a program on a dead file system can hang before it runs
                   ? "its process could not be created in time; does the file system that its program is on "
                     "answer?"
                   : has_greeted
                         ? std::string("it said hello but its on_start did not end in time") + advice
                         : std::string("it did not say hello in time; does its script call worker.run()?") +
                               advice;
    }

private:
    patient_deadline deadline_;
    std::string_view hook_;
    bool is_launching_ = true;
    bool is_cancelled_ = false;
};

} // namespace skep
