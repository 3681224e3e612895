// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/task_group.hpp"
#include "policy/patient_deadline.hpp"

#include <boost/intrusive/list.hpp>

#include <exception>
#include <functional>

namespace skep {

/// The outcome of a guest.
struct guest_outcome {
    bool has_ended;
    std::exception_ptr problem; ///< exception of the guest

    /// Returns the reason for which the guest failed its part; empty if it succeeded.
    std::string complaint() const;
};

/// User coroutines. A guest without a waiter is cancelled, and then left alone: it may continue to run,
/// because it refers only to its arguments and to no object of the library. Used on one strand.
class guest_group {
public:
    using body = std::function<asio::awaitable<void>()>;

    explicit guest_group(const strand& executor);

    /// Runs `guest_body()`, and keeps the body until its coroutine has ended. Waits for the end until
    /// `deadline` or cancel().
    asio::awaitable<guest_outcome> run(body guest_body, patient_deadline deadline);

    /// Ends all waits for guests.
    void cancel();

    /// Waits until all guests have ended, or until `deadline`.
    asio::awaitable<void> join(time_point deadline) { return tasks_.join(deadline); }

private:
    struct guest
        : boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
        guest(const strand& executor, body guest_body) : run(std::move(guest_body)), end_signal(executor) {}

        body run;
        latch end_signal; ///< the guest has ended or was abandoned
        bool has_ended = false;
        std::exception_ptr problem;
    };

    static asio::awaitable<void> live(std::shared_ptr<guest> new_guest);

    strand executor_;
    task_group tasks_;
    boost::intrusive::list<guest, boost::intrusive::constant_time_size<false>> awaited_;
};

} // namespace skep
