// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "remote/link_hub.hpp"
#include "simulation/link_record.hpp"
#include "simulation/sim_bus.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>

namespace skep::simulation {

class hub_world;

/// A program on the bus: a client or a node, with its links.
class hub_program final : public bus_user {
public:
    hub_program(hub_world& around, std::size_t side, std::size_t number, const hub_options& options);

    /// A frame with less fits into the least window.
    static constexpr std::size_t small_payload = 200;

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
    void send(link_record& record, std::size_t frames, std::size_t most_payload);
    void close(link_record& record);
    void change_facts();
    const link_load& load() const noexcept { return load_; }
    void stall(duration span);
    void kill();

    void on_message(const bus_message& message) override;
    void on_connection(bool is_up) override;

private:
    void expect_arrival(const link_record& record, std::size_t frame);
    void end_turn();
    void end_turn_later();
    void apply(link_event& event);
    void answer(const link_request& request);
    void read(remote_link& link);
    void read_later(remote_link& link);
    void end(remote_link& link);
    void arm();
    void on_timer(std::uint64_t armed);

    hub_world& around_;
    std::size_t side_;
    std::size_t number_;
    sim_bus::connection& connection_;
    std::unique_ptr<link_hub> hub_;
    link_hub::events events_;
    std::unordered_map<const remote_link*, link_record*> records_; ///< of open links
    time_point stalled_until_{};
    std::uint64_t armed_ = 0; ///< number of the timer
    bool is_alive_ = true;
    bool has_fault_ = false; ///< the program or its connection
    bool is_late_ = false;   ///< end_turn() is to come
    link_load load_;
};

} // namespace skep::simulation
