// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "simulation/dice.hpp"
#include "simulation/link_end_record.hpp"
#include "simulation/timed_event.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <string>
#include <string_view>

namespace skep::simulation {

/// The properties of a link and its bus, drawn from a seed.
struct link_script {
    bool is_calm = false; ///< no loss, no cut, no stall
    duration latency{};   ///< of a message
    double loss = 0;      ///< share of the messages that are lost
    double repetition = 0;
    duration time_of_byte{}; ///< on the way, without the latency
    std::uint32_t least_window = 0;
    std::uint32_t most_window = 0;
    std::size_t least_segment = 0;
    std::size_t most_segment = 0;
    duration traffic{};     ///< the time in which frames are sent
    bool has_death = false; ///< the node dies
    bool has_close = false; ///< the client closes the link in the end
};

/// One link between two ends, over a bus that keeps the order of messages and little else.
class link_world {
public:
    link_world(std::uint64_t seed, bool is_tracing);

    /// Returns what broke a promise, or nullopt.
    std::optional<std::string> run();

    std::uint64_t steps() const noexcept { return steps_; }

private:
    /// One end's connection to the bus.
    struct connection {
        unsigned number = 0;
        bool is_up = true;
        bool is_cut = false;  ///< messages are lost without a word
        time_point arrival{}; ///< of the last message
        time_point up_since{};
        time_point down_since{}; ///< of the last time that a peer can notice
    };

    using action = std::function<void(link_state&, link_state::messages&)>;

    void at(time_point moment, std::function<void()> what);
    duration some(duration least, duration most) { return chance_.between(least, most); }
    std::uint32_t some_window();
    std::size_t some_segment() { return chance_.among(script_.least_segment, script_.most_segment); }

    void draw_script();
    void draw_traffic();
    void draw_faults();
    void send_frames(std::size_t side, std::size_t frames);
    void change_facts(std::size_t side, link_state& state);

    void unheard(std::size_t side, duration span);
    void disconnect(std::size_t side, duration span);
    void restart_server(duration span);
    void cut(std::size_t side, duration span);
    void stall(std::size_t side, duration span);
    void kill_node();

    void act(std::size_t side, const action& what);
    void arm(std::size_t side);
    void on_timer(std::size_t side, std::uint64_t number);
    void publish(std::size_t side, const link_message& message);
    void deliver(std::size_t to, const std::string& bytes, unsigned number);
    void return_unreceived(std::size_t to, unsigned number);

    void check(std::size_t side);
    void check_calm(std::size_t side);
    void check_outcome(std::size_t side);
    bool is_noticed_late() const;
    bool has_delivered(std::size_t side) const;
    void check_delivery(const char* when);
    void check_end();
    void violated(std::string what);
    void trace(std::size_t side, std::string_view verb, const link_message& message) const;

    dice chance_;
    bool is_tracing_;
    link_script script_;
    time_point origin_{std::chrono::hours(1)};
    time_point now_ = origin_;
    std::priority_queue<timed_event> events_;
    std::uint64_t next_event_ = 0;
    std::uint64_t steps_ = 0;
    std::array<link_end_record, 2> ends_; ///< the client's, the node's
    std::array<connection, 2> connections_;
    time_point thawed_;                 ///< when the server goes on
    std::array<time_point, 2> unheard_; ///< until when an end may not have heard its peer
    std::size_t faults_ = 0;            ///< cuts, restarts and the like
    time_point died_;                   ///< the node
    bool rests_ = false;                ///< everything has arrived in the first third of the rest
    std::optional<std::string> violation_;
};

} // namespace skep::simulation
