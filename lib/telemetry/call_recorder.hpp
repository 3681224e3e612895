// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/pool_config.hpp>
#include <skep/pool_metrics.hpp>

#include <map>
#include <optional>
#include <string>
#include <unordered_map>

namespace skep {

/// The durations of a call.
struct time_spent {
    duration queue_time{};
    std::optional<duration> run_time; ///< empty if the call was not sent
    duration total_time{};
};

/// Records the figures of a pool's calls in bounded memory: individually for the first commands known to a
/// worker, collectively for all others.
class call_recorder {
public:
    explicit call_recorder(const metrics_options& options) noexcept : options_(options) {}

    /// Records the end of a call; `code` is the error of a failed call.
    void record(const std::string& command, const time_spent& times,
                const std::optional<errc>& code) noexcept;

    /// Records in addition that the call ended at a node.
    void record_at_node(const std::string& node, const std::optional<errc>& code) noexcept;

    /// Records a batch, whose first call has waited for that time.
    void record_batch(const std::string& command, std::size_t calls, duration wait_time) noexcept;

    /// Writes the figures to `metrics`.
    void report(pool_metrics& metrics) const;

private:
    call_metrics& of(const std::string& command, bool was_known) noexcept;
    call_counts& of_node(const std::string& node);

    const metrics_options options_;
    std::unordered_map<std::string, call_metrics> commands_;
    call_metrics others_;
    std::unordered_map<std::string, batch_metrics> batches_;
    std::map<std::string, call_counts> nodes_; ///< by name; "" for all beyond the limit
};

} // namespace skep
