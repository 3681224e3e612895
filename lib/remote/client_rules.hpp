// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "wire/call_messages.hpp"

#include <cstddef>
#include <cstdint>

namespace skep {

/// The rules for the messages of a client, which a node does not trust.
class client_rules {
public:
    /// Calls of a client at a time. A node refuses calls long before that.
    static constexpr std::size_t most_calls = 65'536;

    /// Checks the client's next message. `calls`: of the client that run or wait.
    /// Throws protocol_violation.
    void check(const host_message& message, std::size_t calls);

    /// Returns true if the call has come.
    bool has_come(std::uint64_t id) const noexcept { return id <= last_id_; }

private:
    void check_call(const call_message& call, std::size_t calls);

    bool has_welcome_ = false;
    std::uint64_t last_id_ = 0;
};

/// Returns the limits of a client for the messages of a node, no lower than the limits of a pool can be.
worker_limits usable_limits(worker_limits limits) noexcept;

} // namespace skep
