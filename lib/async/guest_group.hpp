// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/task_group.hpp"
#include "policy/patient_deadline.hpp"

#include <boost/intrusive/list.hpp>

#include <exception>
#include <functional>

namespace skep {

/// How a guest ended, if it did.
struct guest_outcome {
    bool has_ended;
    std::exception_ptr problem; ///< what it threw

    /// Why it did not do its part; empty if it did.
    std::string complaint() const;
};

/// Coroutines of the user's. One that nobody waits for any more is cancelled, and then left to itself: it may go on as
/// long as it likes, as it refers to nothing of ours but what it was given. Used on one strand.
class guest_group {
public:
    using body = std::function<asio::awaitable<void>()>;

    explicit guest_group(const strand& executor);

    /// Runs `guest_body()`, which is kept until that has ended, and waits for it until `deadline` or cancel().
    asio::awaitable<guest_outcome> run(body guest_body, patient_deadline deadline);

    /// Nobody waits for those there are any more.
    void cancel();

    /// Waits for all, or until `deadline`.
    asio::awaitable<void> join(time_point deadline) { return tasks_.join(deadline); }

private:
    struct guest
        : boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
        guest(const strand& executor, body guest_body) : run(std::move(guest_body)), end_signal(executor) {}

        body run;
        latch end_signal; ///< it has ended, or is given up
        bool has_ended = false;
        std::exception_ptr problem;
    };

    static asio::awaitable<void> live(std::shared_ptr<guest> new_guest);

    strand executor_;
    task_group tasks_;
    boost::intrusive::list<guest, boost::intrusive::constant_time_size<false>> awaited_;
};

} // namespace skep
