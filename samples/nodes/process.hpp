// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <boost/asio/awaitable.hpp>

#include <string>
#include <sys/types.h>
#include <vector>

/// A program beside the service: a node, or the server. Ends with the service at the latest.
class process {
public:
    /// Starts the program of that path. Throws std::system_error.
    explicit process(std::vector<std::string> command);
    ~process();
    process(process&&) noexcept;
    process& operator=(process&&) = delete;

    void signal(int number) const;

    /// Waits for the end of the program. Returns its exit code, or the negative number of a signal.
    boost::asio::awaitable<int> ended();

private:
    ::pid_t pid_ = 0; ///< 0: has ended
};
