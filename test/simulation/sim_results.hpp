// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/region_place.hpp"
#include "simulation/world.hpp"
#include <skep/blob.hpp>
#include <skep/shared_options.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace skep::simulation {

/// The memory that the pool gives one worker for its results. The worker overwrites a place as soon as it is
/// told of the release: a caller who still reads would see that.
class sim_results {
public:
    /// `failures`: share of the regions that cannot be had.
    sim_results(world& in, std::string owner, const shared_options& options, double failures)
        : world_(in), owner_(std::move(owner)), options_(options), failures_(failures) {}

    // The pool's end of the line.
    blob make(std::uint64_t region, std::size_t bytes);
    bool refuse();

    /// The size of the region that the worker requests now; 0: it requests none.
    std::size_t next_request();

    /// The worker puts an attachment of that letter somewhere. Nothing without room.
    std::optional<region_place> put(std::size_t bytes, char letter);

    /// The pool has read the message with the place.
    void on_delivered(const region_place& place);

    /// The pool has named the place as released, in a message that is on its way.
    void on_told(const region_place& place);

    /// That message has come.
    void on_released(const region_place& place);

    /// Whether the pool has told of all places that it had read by then, and copied.
    bool has_told_of_all_until(time_point then) const;

    /// The attachments that the pool has read.
    std::uint64_t delivered() const noexcept { return delivered_; }

private:
    struct use {
        std::size_t end;
        std::optional<time_point> read; ///< by the pool
        bool is_told = false;
    };
    struct region {
        std::shared_ptr<std::vector<std::byte>> memory;
        std::map<std::size_t, use> used; ///< by beginning
    };

    static bool is_free(const region& of, std::size_t begin, std::size_t end);
    use* find(const region_place& place);

    world& world_;
    std::string owner_;
    shared_options options_;
    double failures_;
    std::map<std::uint64_t, region> regions_;
    std::size_t size_ = 0;
    bool is_requested_ = false;
    std::uint64_t delivered_ = 0;
};

} // namespace skep::simulation
