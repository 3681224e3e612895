// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/condition_variable.hpp"
#include "policy/stack_reading.hpp"
#include "pool/supply/roster.hpp"
#include <skep/pool_config.hpp>
#include <skep/shutdown_report.hpp>

#include <boost/circular_buffer.hpp>

#include <map>
#include <string>
#include <vector>

namespace skep {

/// Probes and pings workers on request of the user, reads their stacks, and keeps the most recent exits. On
/// the pool's strand.
class inspection {
public:
    inspection(const pool_context& context, const heartbeat_options& heartbeat, roster& workers,
               condition_variable& change_signal)
        : context_(context), heartbeat_(heartbeat), roster_(workers), changed_(change_signal) {}

    // Operations of users. Cancelling ends the wait only.
    asio::awaitable<probe_result> probe(worker_id id);
    asio::awaitable<std::vector<probe_result>> probe_all();
    asio::awaitable<duration> ping(worker_id id);
    asio::awaitable<worker_exit> ended(worker_id id);
    asio::awaitable<std::string> stacks(worker_id id);

    /// Takes a line of a worker's output that belongs to requested stacks. Returns false for any other line.
    bool take_stack_line(const output_line& line);

    void keep(const worker_exit& end) { ends_.push_back(end); }

private:
    worker& find(const worker_id& id) const;
    worker& find_process(const worker_id& id) const;
    worker& find_in_service(const worker_id& id) const;

    const pool_context& context_;
    const heartbeat_options& heartbeat_;
    roster& roster_;
    condition_variable& changed_;
    boost::circular_buffer<worker_exit> ends_{64}; ///< the most recent
    std::map<worker_id, stack_reading*> readings_; ///< under way, at most one per worker
};

} // namespace skep
