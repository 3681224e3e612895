// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/region_place.hpp"
#include "runtime/memory_line.hpp"
#include "simulation/sim_results.hpp"
#include "simulation/sim_sealed.hpp"
#include "simulation/world.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace skep::simulation {

/// The memory that the pool shares with one worker: of its results, sealed, and lent. It knows which places
/// are lent, and what must be in them: from the sending of the call until the pool has read the release.
class sim_memory : public std::enable_shared_from_this<sim_memory> {
public:
    /// `failures`: share of the regions and places that cannot be had.
    sim_memory(world& in, const std::string& owner, const shared_options& options, double failures)
        : results(in, owner, options, failures),
          sealed(in, owner, failures),
          world_(in),
          owner_(owner),
          failures_(failures) {}

    sim_results results;
    sim_sealed sealed;

    /// The pool's end.
    std::unique_ptr<memory_line> connect();

    /// The worker was sent a place with so many bytes of that letter.
    void on_lent(const region_place& place, std::size_t bytes, char letter);

    /// The worker reads the place, for the last time.
    void check(const region_place& place) const;

    /// The pool has read the release.
    void on_released(const region_place& place) {
        lent_.erase(key(place));
        last_release_ = world_.now();
    }

    /// The worker was sent an attachment in its frame. Returns true if the pool could not have the memory for
    /// it. The pool may have lent for later calls already: its attempts are taken in their order.
    bool take_failure();

    std::size_t places_lent() const noexcept { return lent_.size(); }
    std::uint64_t times_lent() const noexcept { return times_lent_; }
    /// When the pool has last read a release.
    time_point last_release() const noexcept { return last_release_; }

private:
    class line;
    struct content {
        std::size_t bytes;
        char letter;
    };
    using place_key = std::pair<std::uint64_t, std::size_t>;

    static place_key key(const region_place& place) noexcept { return {place.region, place.begin}; }
    bool fails() noexcept;
    void forget_attempts_until(const place_key& place);

    world& world_;
    std::string owner_;
    double failures_;
    /// Places that the pool has opened, and its failures, that the worker has not been sent anything of.
    std::deque<std::optional<place_key>> attempts_;
    time_point last_release_ = time_point::min();
    std::map<std::uint64_t, std::vector<std::byte>> regions_;
    std::map<place_key, content> lent_;
    std::uint64_t times_lent_ = 0;
};

} // namespace skep::simulation
