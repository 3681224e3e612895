// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "process/descriptor_passing.hpp"
#include "process/launcher.hpp"
#include <skep/time.hpp>

#include <chrono>
#include <optional>
#include <span>
#include <string_view>
#include <sys/types.h>

namespace skep {

/// Host's end of the connection to a template: orders with descriptors, and answers. Used on the spawner.
class template_line {
public:
    explicit template_line(unique_fd line) noexcept;

    ~template_line() { end(); }
    template_line(const template_line&) = delete;
    template_line& operator=(const template_line&) = delete;

    /// Returns false if the template has ended or does not read.
    bool send(std::string_view order, std::span<const int> descriptors) noexcept;

    /// Waits for a message. Returns nullopt if the template ends, if its message is too long, if `limit` has
    /// passed, or `grace` after `abort` is requested.
    std::optional<message_with_descriptor> receive(duration limit, duration grace, const launch_abort& abort);

    /// Returns true if the template has closed its end.
    bool is_over() const noexcept;

    /// Tells the template to end, also if forked copies of the host hold the connection open. Does nothing in
    /// a forked copy.
    void end() noexcept;

    /// Returns another descriptor of the connection. Throws error(spawn_failed).
    unique_fd copy() const;

private:
    pid_t host_;
    unique_fd line_;
};

} // namespace skep
