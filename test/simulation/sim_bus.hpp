// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "remote/bus.hpp"
#include "simulation/world.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace skep::simulation {

/// The faults of a bus, and its limits.
struct bus_climate {
    duration latency{};    ///< of a message, at most
    double loss = 0;       ///< share of the messages that are lost
    double repetition = 0; ///< the same of those that come twice, the second time late perhaps
    std::size_t max_payload = 1 << 20;
    std::size_t max_pending = 64 << 20; ///< bytes that wait for one connection, before it is cut off
};

/// A server of messages in a world, and the connections to it.
class sim_bus {
public:
    class connection : public bus {
    public:
        connection(sim_bus& server, bus_user& user) : server_(server), user_(user) {}

        void publish(std::string_view subject, std::string_view reply, std::string_view head,
                     std::string_view body) override;
        void subscribe(std::string_view subject) override { subjects_.emplace(subject); }
        void unsubscribe(std::string_view subject) override { subjects_.erase(std::string(subject)); }
        bool is_up() const noexcept override { return is_up_; }
        std::size_t max_payload() const noexcept override { return server_.climate_.max_payload; }
        asio::awaitable<void> close() override { co_return; }

    private:
        friend class sim_bus;

        struct message {
            std::string subject;
            std::string reply;
            std::string body;
            bool has_no_receiver;
        };

        bool fits(std::string_view subject) const;
        void put(message one);
        void deliver(unsigned number);

        sim_bus& server_;
        bus_user& user_;
        std::set<std::string> subjects_;
        bool is_up_ = true;
        bool is_cut_ = false;        ///< messages are lost without a word
        unsigned number_ = 0;        ///< of the connections so far
        std::deque<message> coming_; ///< to the user, in order
        std::size_t coming_bytes_ = 0;
        time_point arrival_{};       ///< of the last
        time_point stalled_until_{}; ///< the program does not read
    };

    sim_bus(world& owner, const bus_climate& climate) : world_(owner), climate_(climate) {}

    connection& connect(bus_user& user);

    // Faults, for a while.
    void disconnect(connection& which, duration span);
    void cut(connection& which, duration span);
    void stall(connection& which, duration span);
    void restart(duration span);
    void freeze(duration span);

    /// The first message of each subject that begins so comes once more: the requests for links.
    void repeat_first(std::string_view begin);

    /// For ever: the program is gone.
    void kill(connection& which);

    void set_max_payload(std::size_t bytes) noexcept { climate_.max_payload = bytes; }

    /// Returns the longest time that a message takes without a fault.
    duration latency() const noexcept { return climate_.latency; }

    /// Returns the number of connections that were cut off, as too much waited for them.
    std::size_t slow_consumers() const noexcept { return slow_consumers_; }

private:
    void set_up(connection& which, bool is_up);
    void route(connection& from, const connection::message& one);
    void repeat(connection& receiver, const connection::message& one);

    world& world_;
    bus_climate climate_;
    std::vector<std::unique_ptr<connection>> connections_;
    std::map<std::string, connection::message> first_; ///< by subject
    time_point frozen_until_{};
    std::size_t slow_consumers_ = 0;
};

} // namespace skep::simulation
