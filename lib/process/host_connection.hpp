// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "process/descriptors.hpp"
#include <skep/wait_mode.hpp>

#include <cstddef>
#include <stdexcept>
#include <string>

namespace skep {

/// The connection of a worker process to its pool: descriptors for frames, and a token that authenticates the
/// worker.
struct host_connection {
    std::string token; ///< empty over stdio
    unique_fd data_in;
    unique_fd data_out;
    unique_fd control;       ///< closed if all frames go over stdin and stdout
    unique_fd regions;       ///< brings shared memory; closed without such memory
    std::string worker;      ///< for example "default/0#1"; empty if unknown
    std::size_t threads = 1; ///< configured number of concurrent calls
    wait_mode wait = wait_mode::adaptive;

    bool over_stdio() const noexcept { return control.get() < 0; }
};

/// Thrown if this process was not started by a pool, or by a pool with another protocol. The text is for
/// people.
class not_started_by_pool : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Takes over the connection that the pool has passed to this process. Removes token and protocol from the
/// environment, so that descendants are not mistaken for the worker. Over stdio, first moves the descriptors
/// 0 and 1 away: stdin becomes /dev/null, prints to stdout go to stderr, and SIGPIPE is ignored from then on.
/// With either transport, C's stdout, and with it std::cout, is line-buffered, so that output reaches the
/// host in time.
/// Throws not_started_by_pool.
/// Preconditions: called once, before other threads exist.
host_connection take_host_connection();

int own_process_id() noexcept;

/// Ends this process at once. Callable from any thread.
[[noreturn]] void leave(int status) noexcept;

/// Ends this process at once after the end of the host, together with the processes that it has started.
[[noreturn]] void leave_as_host_is_gone() noexcept;

} // namespace skep
