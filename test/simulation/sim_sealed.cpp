// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "simulation/sim_sealed.hpp"

#include "process/launcher.hpp"
#include "process/memory_line.hpp"
#include "simulation/faults.hpp"
#include "wire/protocol_violation.hpp"
#include <skep/shared_buffer.hpp>

#include <algorithm>
#include <utility>

namespace skep::simulation {

sim_sealed::sim_sealed(world& in, std::string owner, double failures)
    : sim_sealed(in, std::move(owner), failures, make_packet_pair(launcher())) {}

sim_sealed::sim_sealed(world& in, std::string owner, double failures, fd_pair ends)
    : world_(in),
      owner_(std::move(owner)),
      failures_(failures),
      pools_end_(make_memory_line(std::move(ends.here))),
      workers_end_(std::move(ends.there), output_) {}

std::optional<region_place> sim_sealed::pass(std::uint64_t number, const blob& bytes,
                                             std::size_t most_bytes) {
    const bool fails = world_.chance.chance(failures_);
    return fails ? std::nullopt : pools_end_->pass(number, bytes, most_bytes);
}

blob sim_sealed::take(const region_place& place, std::size_t bytes, std::size_t least, std::size_t most_bytes,
                      std::size_t& packets) {
    auto taken = pools_end_->take(place, bytes, least, most_bytes, packets);
    shown_ += taken.is_shared() ? 1 : 0;
    return taken;
}

std::optional<region_place> sim_sealed::send(std::size_t bytes, char letter, std::size_t most_bytes) {
    const spared_by_faults here;
    if (world_.chance.chance(0.1)) {
        workers_end_.pass(make_shared_attachment(world_.chance, 1, '?'), most_bytes);
    }
    return workers_end_.pass(make_shared_attachment(world_.chance, bytes, letter), most_bytes);
}

void sim_sealed::check(const region_place& place, std::size_t bytes, char letter) {
    ++read_;
    try {
        const auto seen = workers_end_.open(place, bytes);
        if (!std::ranges::all_of(seen.text(), [=](char each) { return each == letter; })) {
            world_.violated(owner_ + " got other bytes than those of the shared buffer");
        }
    } catch (const protocol_violation& problem) {
        world_.violated(owner_ + " cannot open an attachment: " + problem.what());
    }
}

blob make_shared_attachment(dice& chance, std::size_t bytes, char letter) {
    const auto begin = chance.below(5000);
    const auto rest = bytes < 50'000 && chance.chance(0.1) ? 10 * bytes : chance.below(5000);
    shared_buffer buffer(begin + bytes + rest);
    std::ranges::fill(buffer.span(), std::byte('?'));
    std::ranges::fill(buffer.span().subspan(begin, bytes), static_cast<std::byte>(letter));
    const blob whole(std::move(buffer));
    return whole.part(begin, bytes);
}

} // namespace skep::simulation
