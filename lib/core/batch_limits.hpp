// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/time.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace skep {

inline constexpr std::size_t most_in_batch = 65'536;
inline constexpr int longest_batch_wait_ms = 10'000;

/// The limits of the batches of one command.
struct batch_limits {
    std::size_t most = 1; ///< calls of a batch, 1..most_in_batch; 1 = no batches
    duration wait{};      ///< longest wait of a worker's free place for more calls
};

/// By name of the command.
using batch_commands = std::map<std::string, batch_limits, std::less<>>;

/// The place of a call in a batch.
struct batch_place {
    std::uint64_t number = 0; ///< of the batch; rises on a connection
    std::size_t size = 1;     ///< number of calls; 1 = no batch

    bool operator==(const batch_place&) const = default;
};

} // namespace skep
