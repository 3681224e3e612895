// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "runtime/memory_line.hpp"
#include "wire/attachments.hpp"
#include "wire/protocol_violation.hpp"
#include "worker/result_memory.hpp"
#include <skep/shared_options.hpp>

#include <cstddef>
#include <cstdint>

namespace skep {

/// The attachments that a worker's messages have in shared memory: in regions for results, and in sealed
/// memory. Used on the pool's strand.
class memory_intake final : public memory_source {
public:
    explicit memory_intake(const shared_options& options) : options_(options), results_(options) {}

    /// Begins to take memory from the line, which must stay until end().
    void begin(memory_line& line) noexcept {
        line_ = &line;
        results_.begin(line);
    }
    void end() noexcept {
        line_ = nullptr;
        results_.end();
    }

    blob open(const region_place& place, std::size_t bytes) override {
        return place.is_sealed ? take(place, bytes) : results_.open(place, bytes);
    }

    std::size_t begin_message() noexcept override {
        packets_ = most_packets;
        return options_.bytes;
    }

    const result_memory& results() const noexcept { return results_; }
    result_memory& results() noexcept { return results_; }

    /// Returns the number of attachments taken without a copy.
    std::uint64_t taken() const noexcept { return taken_; }

private:
    /// A worker must not keep the strand at the packets of one message.
    static constexpr std::size_t most_packets = 256;

    blob take(const region_place& place, std::size_t bytes) {
        if (line_ == nullptr) {
            throw protocol_violation("an attachment is in shared memory, which has ended");
        }
        auto taken = line_->take(place, bytes, options_.least_result, options_.bytes, packets_);
        taken_ += taken.is_shared() ? 1 : 0;
        return taken;
    }

    const shared_options& options_;
    result_memory results_;
    memory_line* line_ = nullptr; ///< null: no memory is shared
    std::size_t packets_ = 0;     ///< that the message may still take
    std::uint64_t taken_ = 0;
};

} // namespace skep
