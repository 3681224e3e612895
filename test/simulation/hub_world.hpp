// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "simulation/hub_program.hpp"
#include "simulation/link_record.hpp"
#include "simulation/sim_bus.hpp"
#include "simulation/world.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

namespace skep::simulation {

/// Programs that have links with each other, over a bus with faults.
class hub_world {
public:
    static constexpr std::size_t client = 0;
    static constexpr std::size_t node = 1;

    hub_world(std::uint64_t seed, bool tracing);

    /// Returns what broke a promise, or nullopt.
    std::optional<std::string> run();

    std::uint64_t steps() const noexcept { return world_.steps(); }

private:
    friend class hub_program;

    bus_climate draw_climate();
    hub_options draw_options();
    void draw_traffic();
    void burst();
    void draw_faults();
    void fault();
    hub_program& some_program() { return *programs_[world_.chance.below(programs_.size())]; }
    bool is_disturbed(const link_record& record) const;
    void check_peer_of(link_record& record, std::size_t ended_side);
    void check_outcome(const hub_program& teller, const link_record& record, const link_end& end);
    void check_arrival(const link_record& record, std::size_t sender, std::size_t frame);
    void check_rest();
    void check_end();

    world world_;
    bool is_calm_;           ///< no loss, no fault
    bool has_fault_ = false; ///< the bus
    std::size_t all_windows_;
    std::size_t most_frame_; ///< little enough to arrive with these windows
    sim_bus bus_;
    std::deque<std::unique_ptr<hub_program>> programs_;
    std::deque<link_record> links_;
    std::uint16_t last_epoch_ = 0;
    std::size_t nodes_ = 0; ///< the first of programs_; the clients follow
    std::size_t clients_ = 0;
    duration traffic_;
};

} // namespace skep::simulation
