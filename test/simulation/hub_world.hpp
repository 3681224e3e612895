// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "remote/link_hub.hpp"
#include "simulation/link_record.hpp"
#include "simulation/sim_bus.hpp"
#include "simulation/world.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace skep::simulation {

class hub_world;

/// A program on the bus: a client or a node, with its links.
class hub_program final : public bus_user {
public:
    hub_program(hub_world& around, std::size_t side, std::size_t number, const hub_options& options);

    std::size_t side() const noexcept { return side_; }
    std::size_t number() const noexcept { return number_; }
    bool is_alive() const noexcept { return is_alive_; }
    bool has_fault() const noexcept { return has_fault_; }
    void set_fault() noexcept { has_fault_ = true; }
    bool is_running() const noexcept;
    sim_bus::connection& connection() noexcept { return connection_; }
    link_hub& hub() noexcept { return *hub_; }

    /// Precondition: the program is a client.
    void open_link(std::size_t node);
    void send(link_record& record, std::size_t frames);
    void close(link_record& record);
    void change_facts();
    const link_load& load() const noexcept { return load_; }
    void stall(duration span);
    void kill();

    void on_message(const bus_message& message) override;
    void on_connection(bool is_up) override;

private:
    void end_turn();
    void end_turn_later();
    void apply(link_event& event);
    void answer(const link_request& request);
    void read(remote_link& link);
    void end(remote_link& link);
    void arm();
    void on_timer(std::uint64_t armed);

    hub_world& around_;
    std::size_t side_;
    std::size_t number_;
    sim_bus::connection& connection_;
    std::unique_ptr<link_hub> hub_;
    link_hub::events events_;
    std::map<const remote_link*, link_record*> records_;
    time_point stalled_until_{};
    std::uint64_t armed_ = 0; ///< number of the timer
    bool is_alive_ = true;
    bool has_fault_ = false; ///< the program or its connection
    bool is_late_ = false;   ///< end_turn() is to come
    link_load load_;
};

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
    void draw_faults();
    void fault();
    hub_program& some_program() { return *programs_[world_.chance.below(programs_.size())]; }
    bool is_disturbed(const link_record& record) const;
    void check_peer_of(link_record& record, std::size_t ended_side);
    void check_outcome(const hub_program& teller, const link_record& record, const link_end& end);
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
