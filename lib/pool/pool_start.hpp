// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "pool/call_outcomes.hpp"
#include "pool/pool_parts.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

namespace skep {

/// Starts a pool: the launch, the callers that wait for the start, and the undoing if too few workers come
/// up. On the pool's strand.
class pool_start {
public:
    /// `starts_again`: a failed start is retried, with the backoff of restarts.
    pool_start(pool_parts& parts, call_outcomes& outcomes, bool starts_again) noexcept
        : parts_(parts), outcomes_(outcomes), starts_again_(starts_again) {}

    // Operations of users. Cancelling ends the wait only.
    asio::awaitable<void> start();
    asio::awaitable<void> ready(std::size_t count);

    bool is_under_way() const noexcept { return last_ && !last_->is_over; }
    bool has_succeeded() const noexcept { return last_ && last_->is_over && !last_->problem; }

    /// Returns the number of callers in ready(), plus one while a start is under way.
    std::size_t waiting() const noexcept { return waiting_ + (is_under_way() ? 1 : 0); }

    // The pool has failed: the start under way fails as well, and another start may be planned.
    void break_off() noexcept;
    void retry() noexcept;

private:
    /// One attempt to start, by start() or by a retry.
    struct attempt {
        time_point began;
        bool is_preparing = false; ///< before_first_worker() runs
        bool is_over = false;
        std::optional<error> problem;
    };

    void begin(std::shared_ptr<attempt> start_attempt);
    asio::awaitable<void> run();
    asio::awaitable<void> bring_up();
    asio::awaitable<bool> prepare();
    asio::awaitable<void> launch_until_ready();
    asio::awaitable<void> undo();
    void complete(const std::optional<error>& problem);
    void end(const std::optional<error>& problem);
    void plan_another();
    asio::awaitable<void> start_again(time_point start_time, unsigned planned_by);
    error start_failure(std::size_t came_up) const;
    std::string describe_delay() const;

    pool_parts& parts_;
    pool_state& state_ = parts_.state;
    call_outcomes& outcomes_;
    std::shared_ptr<attempt> last_;
    const bool starts_again_;
    int failures_ = 0;        ///< consecutive
    std::size_t waiting_ = 0; ///< callers in ready()
};

} // namespace skep
