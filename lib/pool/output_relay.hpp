// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "pool/pool_parts.hpp"

namespace skep {

/// Forwards the output and the log records of workers to the subscribers, and to the user's handler or else
/// the log. A line that cannot be forwarded is lost, without other effects. On the pool's strand.
class output_relay {
public:
    explicit output_relay(const pool_parts& parts) noexcept : parts_(parts) {}

    void on_printed(const output_line& output) const noexcept;
    void on_logged(const worker& sender, const log_message& record) const noexcept;

private:
    template <class Forward>
    void forward(Forward forward_line) const noexcept;
    void publish(const output_line& line) const noexcept;
    void log_printed(log_level level, const output_line& line, const worker* source) const;
    void log_logged(const worker& source, const log_message& record) const;

    const pool_parts& parts_;
};

} // namespace skep
