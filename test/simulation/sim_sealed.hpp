// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/region_place.hpp"
#include "simulation/world.hpp"
#include <skep/blob.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace skep::simulation {

/// Sealed memory between the pool and one worker, over a pretended line. The kernel would decide at times of
/// its own whether it can seal memory, and no world would happen twice.
class sim_sealed {
public:
    /// `failures`: share of the memory that cannot be passed.
    sim_sealed(world& in, std::string owner, double failures)
        : world_(in), owner_(std::move(owner)), failures_(failures) {}

    // The pool's end of the line.
    std::optional<region_place> pass(std::uint64_t number, const blob& bytes, std::size_t most_bytes);
    blob take(const region_place& place, std::size_t bytes, std::size_t least, std::size_t most_bytes,
              std::size_t& packets);

    /// The worker passes an attachment of that letter, among other bytes, and perhaps memory that no message
    /// names. Returns nullopt if that is impossible now.
    std::optional<region_place> send(std::size_t bytes, char letter, std::size_t most_bytes);

    /// The worker reads an attachment of the pool, which has that letter.
    void check(const region_place& place, std::size_t bytes, char letter);

    std::uint64_t read() const noexcept { return read_; }   ///< by the worker
    std::uint64_t shown() const noexcept { return shown_; } ///< by the pool

private:
    world& world_;
    std::string owner_;
    double failures_;
    std::map<std::uint64_t, blob> passed_; ///< by the pool, and not read yet
    std::map<std::uint64_t, blob> sent_;   ///< by the worker, and not taken yet
    std::uint64_t last_sent_ = 0;
    std::uint64_t read_ = 0;
    std::uint64_t shown_ = 0;
};

/// Bytes of a letter, as a part of sealed memory with other bytes around it.
blob make_shared_attachment(dice& chance, std::size_t bytes, char letter);

} // namespace skep::simulation
