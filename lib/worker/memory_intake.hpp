// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "runtime/region_line.hpp"
#include "wire/attachments.hpp"
#include "wire/protocol_violation.hpp"
#include "worker/result_memory.hpp"
#include <skep/shared_options.hpp>

#include <cstddef>
#include <cstdint>

namespace skep {

/// The attachments that a worker's messages have in shared memory: in regions for results, and in sealed
/// memory. Used on the pool's strand.
class memory_intake final : public region_source {
public:
    memory_intake(const shared_options& options, result_memory& results) noexcept
        : options_(options), results_(results) {}

    /// Begins to take memory from the line, which must stay until close().
    void connect(region_line& line) noexcept { line_ = &line; }
    void close() noexcept { line_ = nullptr; }

    blob open(const region_place& place, std::size_t bytes) override {
        if (!place.is_sealed) {
            return results_.open(place, bytes);
        }
        if (line_ == nullptr) {
            throw protocol_violation("an attachment is in shared memory, which has ended");
        }
        auto taken = line_->take(place, bytes, options_.bytes, packets_);
        ++taken_;
        return bytes >= options_.least ? taken : blob::copy_of(taken); // else not worth a descriptor
    }

    std::size_t begin_message() noexcept override {
        packets_ = most_packets;
        return options_.bytes;
    }

    /// Returns the number of attachments taken in sealed memory.
    std::uint64_t taken() const noexcept { return taken_; }

private:
    /// A worker must not keep the strand at the packets of one message.
    static constexpr std::size_t most_packets = 256;

    const shared_options& options_;
    result_memory& results_;
    region_line* line_ = nullptr; ///< null: no memory is shared
    std::size_t packets_ = 0;     ///< that the message may still take
    std::uint64_t taken_ = 0;
};

} // namespace skep
