// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/region_place.hpp"
#include "process/descriptors.hpp"
#include "runtime/frame_output.hpp"
#include "runtime/memory_line.hpp"
#include "server/shared_line.hpp"
#include "simulation/dice.hpp"
#include "simulation/world.hpp"
#include <skep/blob.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace skep::simulation {

/// Sealed memory between the pool and one worker: real memory, over a real line.
class sim_sealed {
public:
    /// `failures`: share of the memory that the pool cannot pass.
    sim_sealed(world& in, std::string owner, double failures);

    // The pool's end of the line.
    std::optional<region_place> pass(std::uint64_t number, const blob& bytes, std::size_t most_bytes);
    blob take(const region_place& place, std::size_t bytes, std::size_t least, std::size_t most_bytes,
              std::size_t& packets);

    /// The worker passes an attachment of that letter, among other bytes, and perhaps memory that no message
    /// names. Nothing if the line is full.
    std::optional<region_place> send(std::size_t bytes, char letter, std::size_t most_bytes);

    /// The worker reads an attachment of the pool, which has that letter.
    void check(const region_place& place, std::size_t bytes, char letter);

    std::uint64_t read() const noexcept { return read_; }   ///< by the worker
    std::uint64_t shown() const noexcept { return shown_; } ///< by the pool

private:
    struct no_output final : frame_output {
        bool write(std::span<const std::string_view>) noexcept override { return true; }
        bool has_room() noexcept override { return true; }
    };
    sim_sealed(world& in, std::string owner, double failures, fd_pair ends);

    world& world_;
    std::string owner_;
    double failures_;
    std::unique_ptr<memory_line> pools_end_;
    no_output output_; ///< of releases, of which there are none
    shared_line workers_end_;
    std::uint64_t read_ = 0;
    std::uint64_t shown_ = 0;
};

/// Bytes of a letter, as a part of a shared buffer with other bytes around it.
blob make_shared_attachment(dice& chance, std::size_t bytes, char letter);

} // namespace skep::simulation
