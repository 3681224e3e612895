// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "process/guard.hpp"
#include "process/nursery_protocol.hpp"
#include <skep/exit_status.hpp>

#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <sys/types.h>
#include <utility>

namespace skep {

/// Longest wait for the end of a nursery without workers.
inline constexpr std::chrono::milliseconds to_end_nursery(800);

/// Counts the nurseries of a pool that have lost their last owner and have not ended.
/// Thread safety: safe.
class nursery_ends {
public:
    std::shared_ptr<const void> token() const noexcept { return token_; }
    bool empty() const noexcept { return token_.use_count() == 1; }

    /// Waits until there are none, or until to_end_nursery is over.
    void wait() const noexcept;

private:
    std::shared_ptr<int> token_ = std::make_shared<int>(); ///< each such nursery holds a copy
};

/// The host's side of a nursery: a process that starts the template of a pool, and collects the template and
/// the workers forked by the template. Shared by the pool's template and by each of these workers. The last
/// owner gives the nursery up, and the nursery then ends the orphans of the workers as well.
/// Thread safety: safe.
class nursery {
public:
    /// Starts the nursery, with `spec` as its template. Descriptors of `spec` above template_line_in_nursery
    /// are replaced by the nursery's own. Throws error(spawn_failed).
    nursery(const launcher& launch, guard& process_guard, const std::string& program, launch_spec spec,
            launch_abort& abort);
    ~nursery();
    nursery(const nursery&) = delete;
    nursery& operator=(const nursery&) = delete;

    /// Counts in `ends` from the loss of the last owner to the end.
    void count_end(std::shared_ptr<const nursery_ends> ends) noexcept { ends_ = std::move(ends); }

    pid_t pid() const noexcept { return pid_; }

    /// Returns the pid of the template; 0 before its start.
    pid_t template_pid() noexcept;

    /// Returns the errno with which the start of the template failed; 0 without a failure.
    int start_problem() noexcept;

    /// Returns true once the nursery has ended.
    bool is_over() noexcept;

    /// Returns a number for take_status() that separates statuses before this call from later ones.
    std::size_t mark() noexcept;

    /// Returns the status of a child if the nursery has collected the child since `mark`; each status once.
    std::optional<exit_status> take_status(pid_t child, std::size_t mark) noexcept;

    /// Kills the template, not the workers.
    void kill_template() noexcept;

    /// Gives the nursery up, and waits until it has ended or `patience` is over; then kills it.
    void end(std::chrono::milliseconds patience) noexcept;

private:
    struct kept_status {
        pid_t pid;
        std::size_t number;
        exit_status status;
    };

    void read_reports() noexcept;
    void keep(const nursery_report& report);
    void give_up() noexcept;

    const pid_t host_; ///< forked copies of the host must leave the nursery alone
    std::shared_ptr<const nursery_ends> ends_;
    leash leash_;
    unique_fd line_;
    pid_t pid_ = 0;
    unique_fd process_;
    std::mutex mutex_;
    pid_t template_ = 0;
    int start_problem_ = 0;
    std::size_t statuses_ = 0; ///< that were ever received
    std::deque<kept_status> kept_;
    bool over_ = false;
};

} // namespace skep
