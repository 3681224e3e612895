// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "process/descriptors.hpp"
#include "process/sealed_passing.hpp"
#include "process/shared_memory.hpp"
#include "runtime/frame_output.hpp"
#include "wire/attachments.hpp"

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace skep {

/// A region that the host gives a worker for its results.
struct region_for_results {
    std::uint64_t number = 0; ///< 0: the host refuses the region
    memory_mapping memory;    ///< empty if it cannot be mapped
};

/// A worker's end of the line for shared memory: the regions of the host, and sealed memory of both sides.
/// Blobs of attachments refer to lent regions, and release their places: on any thread, and also after the
/// end of this object, when the host is no longer told.
class shared_line final : public memory_source {
public:
    /// `line`: brings and takes the memory. `control`: takes the releases; must outlive this object.
    shared_line(unique_fd line, frame_output& control);
    ~shared_line();
    shared_line(const shared_line&) = delete;
    shared_line& operator=(const shared_line&) = delete;

    blob open(const region_place& place, std::size_t bytes) override;

    /// The host keeps its own limit.
    std::size_t begin_message() noexcept override { return std::numeric_limits<std::size_t>::max(); }

    /// Returns false in a forked child of the worker: its parent uses the memory.
    bool is_ours() const noexcept;

    /// Passes the memory of a shared blob to the host, without blocking, for the next message. Returns the
    /// blob's place, or nullopt if that is impossible now, the memory has more than `most_bytes`, or this
    /// process is a forked child of the worker.
    std::optional<region_place> pass(const blob& bytes, std::size_t most_bytes) noexcept;

    /// Takes the regions for results that have come since the last call. Does not wait.
    std::vector<region_for_results> take_for_results();

private:
    class releases;
    struct use;
    using region = std::shared_ptr<const memory_mapping>;

    blob open_region(const region_place& place, std::size_t bytes);
    blob open_sealed(const region_place& place, std::size_t bytes);
    region find(std::uint64_t number);
    bool receive();
    void receive_for(const char* kind, std::uint64_t number);
    void add_region(std::string_view packet, const unique_fd& descriptor);

    unique_fd line_;
    std::map<std::uint64_t, region> regions_;     ///< lent
    std::vector<region_for_results> for_results_; ///< not yet taken
    std::uint64_t last_ = 0;                      ///< region
    sealed_intake sealed_;
    std::uint64_t last_passed_ = 0;
    std::shared_ptr<releases> releases_;
};

} // namespace skep
