// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "policy/start_output.hpp"
#include "pool/pool_parts.hpp"

#include <string>
#include <vector>

namespace skep {

/// Forwards the output and the log records of workers to the subscribers, and to the user's handler or else
/// the log. The log has the output that starting workers repeat only once: see start_output. A line that
/// cannot be forwarded is lost, without other effects. On the pool's strand.
class output_relay {
public:
    explicit output_relay(const pool_parts& parts) noexcept : parts_(parts) {}

    void on_printed(const output_line& output) noexcept;
    void on_logged(const worker& sender, const log_message& record) const noexcept;

    /// Forgets the output of starting workers. In a pool that has failed, their ends may have gone unseen.
    void reset() noexcept { starts_ = {}; }

    /// The worker is up: logs the lines withheld so far.
    void on_up(const worker& new_worker) noexcept;

    /// The worker has ended. Returns a note for the log about lines that stay withheld; empty without such
    /// lines.
    std::string on_ended(const worker& ended_worker) noexcept;

private:
    template <class Forward>
    void forward(Forward forward_line) const noexcept;
    void publish(const output_line& line) const noexcept;
    void log_of_start(const output_line& line, const worker& source);
    void log_due(const std::vector<start_output::line>& lines, const worker& source) const;
    void log_printed(const output_line& line, const worker* source) const;
    void log_logged(const worker& source, const log_message& record) const;

    const pool_parts& parts_;
    start_output starts_; ///< output of starting workers in the log
};

} // namespace skep
