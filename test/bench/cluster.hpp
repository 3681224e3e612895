// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "support.hpp"

#include <string>
#include <sys/types.h>
#include <vector>

namespace skep::bench {

/// A program beside this one; ended by the destructor, or with this program.
class companion {
public:
    /// `command`: the path of the program, and its arguments. Throws std::system_error.
    explicit companion(std::vector<std::string> command);
    ~companion();
    companion(companion&&) noexcept;
    companion& operator=(companion&&) = delete;

    pid_t pid() const noexcept { return pid_; }

private:
    pid_t pid_ = 0; ///< 0: moved away
};

/// The CPU time of each kind of process until now.
struct cpu_times {
    seconds client{};
    seconds server{};
    seconds node{};
    seconds worker{};
};

cpu_times operator-(const cpu_times& end, const cpu_times& begin);

/// Returns the figures client_us, server_us, node_us and worker_us of one of `calls` calls, and their sum
/// all_us.
figures cpu_of_one(const cpu_times& sum, double calls);

/// Returns the times of this process and of its children, which are workers.
cpu_times local_cpu();

/// A NATS server and programs on it, all on this machine.
class cluster {
public:
    cluster();

    /// Starts this program in another process: MODE url=URL KEY=VALUE...
    void add(const std::string& mode, const std::vector<std::string>& pairs = {});

    const std::string& url() const noexcept { return url_; }

    /// Returns the memory of the programs that were added, in bytes, without their children.
    double resident_bytes() const;

    /// Returns the times of this process, of the server, of the other programs and of their children.
    cpu_times cpu() const;

private:
    unsigned port_;
    std::string url_;
    companion server_;
    std::vector<companion> others_;
};

} // namespace skep::bench
