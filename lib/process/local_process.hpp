// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/task_group.hpp"
#include "runtime/runtime.hpp"
#include <skep/pool_config.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <sys/types.h>

namespace skep {

class launch_job;

/// The process of a worker on this machine, or of a prefix that forwards to another one.
class local_process final : public worker_process {
public:
    /// Takes the child of a launch that has succeeded.
    local_process(const strand& executor, const output_options& options, const output_handler& sink,
                  launch_job& job);
    ~local_process() override { end_now(); } // the readers may outlive this briefly

    int pid() const noexcept override;
    const std::string& program() const noexcept override;
    asio::awaitable<void> ended() override;
    void terminate() noexcept override;
    void kill() noexcept override;
    void signal(int number) noexcept override;
    bool measure(std::int64_t pid) noexcept override;
    std::uint64_t resident_bytes(std::uint64_t lent_bytes) const noexcept override;
    bool saw_oom_kill() const noexcept override;
    exit_status reap() noexcept override;
    asio::awaitable<void> end_group() override;
    std::string output_tail() const override;
    void add_to_tail(std::string_view text) noexcept override;
    std::uint64_t output_lines_dropped() const noexcept override;
    asio::awaitable<void> finish(time_point deadline) override;
    void abandon() noexcept override;
    void end_now() noexcept override;

private:
    struct state;

    const bool is_forked_;
    const bool is_worker_; ///< or starts the worker on this machine; else may forward to any machine
    std::shared_ptr<state> state_;
    pid_t measured_;              ///< 0: no process
    std::uint64_t inherited_ = 0; ///< memory of a forked worker at its greeting, shared with its template
    task_group readers_;
    std::uint64_t oom_kills_before_;
};

} // namespace skep
