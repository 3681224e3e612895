// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/affinity.hpp>
#include <skep/time.hpp>
#include <skep/worker_id.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace skep {

inline constexpr std::size_t most_tools_for_node = 64;
inline constexpr std::size_t longest_node_facts = 8192; ///< in JSON: tools of 64 bytes each, a key of 256

/// The facts of a call that a node needs, and a worker does not.
struct node_call {
    std::optional<affinity_mode> affinity;
    std::optional<duration> queue_timeout;
    std::string batch_key;
    std::vector<std::string> tools;  ///< names of the client's tools, at most most_tools_for_node
    std::vector<std::string> arrays; ///< names of the arguments that hold arrays
};

inline constexpr int most_attempts_at_node = 1'000'000;

/// The way of a call through a node's pool, told with the answer.
struct node_answer {
    std::optional<worker_id> worker; ///< of the node's pool
    int attempts = 1;                ///< number of its workers that the call was sent to
    duration wait{};                 ///< in its queue
};

} // namespace skep
