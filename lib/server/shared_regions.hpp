// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "process/descriptors.hpp"
#include "process/shared_memory.hpp"
#include "runtime/frame_output.hpp"
#include "wire/attachments.hpp"

#include <cstdint>
#include <map>
#include <memory>

namespace skep {

/// The memory of the host that a worker reads. Blobs of attachments refer to the memory, and release their
/// places: on any thread, and also after the end of this object, when the host is no longer told.
class shared_regions final : public region_source {
public:
    /// `line`: brings the regions. `control`: takes the releases; must outlive this object.
    shared_regions(unique_fd line, frame_output& control);
    ~shared_regions();
    shared_regions(const shared_regions&) = delete;
    shared_regions& operator=(const shared_regions&) = delete;

    blob open(const region_place& place, std::size_t bytes) override;

private:
    class releases;
    struct use;
    using region = std::shared_ptr<const memory_mapping>;

    region find(std::uint64_t number);
    void receive(std::uint64_t wanted_region);

    unique_fd line_;
    std::map<std::uint64_t, region> regions_;
    std::uint64_t last_ = 0;
    std::shared_ptr<releases> releases_;
};

} // namespace skep
