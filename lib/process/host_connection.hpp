// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "process/descriptors.hpp"

#include <cstddef>
#include <stdexcept>
#include <string>

namespace skep {

/// What a pool hands a worker that it starts: descriptors to talk over, and a token to prove who it is.
struct host_connection {
    std::string token; ///< none over stdio
    unique_fd data_in;
    unique_fd data_out;
    unique_fd control;       ///< none where everything goes over stdin and stdout
    std::string worker;      ///< such as "default/0#1"; empty if it is not told
    std::size_t threads = 1; ///< how many calls at once the pool is configured to give it

    bool over_stdio() const noexcept { return control.get() < 0; }
};

/// This process was not started by a pool, or by one that speaks another protocol. The text is for people.
class not_started_by_pool : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Takes what the pool has handed to this process; to be called once, before there are other threads. Token and
/// protocol leave the environment, so that what this process starts is never mistaken for the worker. Where frames go over stdin and
/// stdout, these are moved away first: stdin is /dev/null then, and what is printed goes to stderr; SIGPIPE is ignored from
/// then on. Either way C's stdout, and with it std::cout, is flushed at each end of line, to arrive at the host in time.
/// Throws not_started_by_pool.
host_connection take_host_connection();

int own_process_id() noexcept;

/// Ends this process at once, from any thread.
[[noreturn]] void leave(int status) noexcept;

/// The same as the host is gone, with all that this process has started.
[[noreturn]] void leave_as_host_is_gone() noexcept;

} // namespace skep
