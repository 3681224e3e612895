// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "simulation/hub_world.hpp"

#include "simulation/simulation.hpp"

#include <algorithm>

namespace skep::simulation {

using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t most_hub_steps = 1'000'000;
constexpr duration hub_rest = 60s; ///< after the traffic and the faults
constexpr std::size_t most_nodes = 9;

} // namespace

hub_world::hub_world(std::uint64_t seed, bool tracing)
    : world_(seed, tracing),
      is_calm_(world_.chance.chance(0.25)),
      all_windows_(world_.chance.pick<std::size_t>({8000, 100'000})),
      most_frame_(all_windows_ < 10'000 ? 2000 : world_.chance.pick<std::size_t>({2000, 100'000})),
      bus_(world_, draw_climate()),
      traffic_(world_.chance.between(1s, 15s)) {
    nodes_ = world_.chance.among(1, 3);
    clients_ = world_.chance.among(1, 3);
    for (std::size_t i = 0; i < nodes_; ++i) {
        programs_.push_back(std::make_unique<hub_program>(*this, node, i, draw_options()));
    }
    for (std::size_t i = 0; i < clients_; ++i) {
        programs_.push_back(std::make_unique<hub_program>(*this, client, i, draw_options()));
    }
}

bus_climate hub_world::draw_climate() {
    auto& chance = world_.chance;
    bus_climate drawn;
    drawn.latency = chance.chance(0.5) ? chance.between(0us, 3ms) : chance.between(3ms, 100ms);
    if (!is_calm_) {
        drawn.loss = chance.chance(0.5) ? 0 : chance.share() * 0.1;
        drawn.repetition = chance.chance(0.5) ? 0 : chance.share() * 0.1;
    } else {
        drawn.max_pending = 4 * all_windows_ + 20'000; // shares become smaller only bit by bit
    }
    drawn.max_payload = chance.pick<std::size_t>({bus::least_payload, 1 << 20});
    return drawn;
}

hub_options hub_world::draw_options() {
    hub_options options;
    options.link.least_window = 512;
    options.window = static_cast<std::uint32_t>(world_.chance.among(2000, 60'000));
    options.all_windows = all_windows_;
    options.link.segment = world_.chance.among(100, 20'000);
    options.link.silence = 20s;
    options.first_epoch = last_epoch_ += 1000;
    return options;
}

std::optional<std::string> hub_world::run() {
    draw_traffic();
    if (!is_calm_) {
        draw_faults();
    }
    const auto end = world_.origin() + traffic_ + hub_rest;
    world_.at(end - 20s, [this] { check_rest(); });
    world_.at(end, [] {});
    while (!world_.violation() && world_.now() < end && (world_.step() || world_.advance())) {
        if (world_.steps() > most_hub_steps) {
            world_.violated("the world does not come to its end");
        }
    }
    if (!world_.violation()) {
        check_end();
    }
    return world_.violation();
}

void hub_world::draw_traffic() {
    auto& chance = world_.chance;
    const auto end = world_.origin() + traffic_;
    for (auto links = chance.among(1, 12); links > 0; --links) {
        world_.at(world_.origin() + chance.between(0us, traffic_), [this] {
            auto& from = *programs_[nodes_ + world_.chance.below(clients_)];
            if (from.is_running()) {
                from.open_link(world_.chance.chance(0.1) ? most_nodes : world_.chance.below(nodes_));
            }
        });
    }
    for (auto moment = world_.origin(); moment < end; moment += chance.between(1ms, 200ms)) {
        world_.at(moment, [this] {
            auto& one = some_program();
            one.change_facts();
            for (std::size_t i = 0; i < links_.size(); ++i) {
                if (world_.chance.chance(0.3)) {
                    one.send(links_[i], world_.chance.among(1, 5), hub_program::small_payload);
                }
            }
        });
    }
    if (chance.chance(0.5)) {
        world_.at(world_.origin() + chance.between(0us, traffic_), [this] { burst(); });
    }
    for (std::size_t i = 0; i < 2; ++i) {
        world_.at(world_.origin() + chance.between(0us, traffic_), [this] {
            if (!links_.empty()) {
                some_program().close(links_[world_.chance.below(links_.size())]);
            }
        });
    }
}

/// All programs send at once, on each link more than its share of the windows.
void hub_world::burst() {
    for (const auto& each : programs_) {
        for (auto& link : links_) {
            each->send(link, 20, 2000);
        }
    }
}

void hub_world::draw_faults() {
    for (auto faults = world_.chance.below(6); faults > 0; --faults) {
        world_.at(world_.origin() + world_.chance.between(0us, traffic_), [this] { fault(); });
    }
}

void hub_world::fault() {
    auto& chance = world_.chance;
    auto& hit = some_program();
    const auto span = chance.chance(0.7) ? chance.between(1ms, 3s) : chance.between(1ms, 12s);
    if (!hit.is_alive()) {
        return;
    }
    const auto kind = chance.below(8);
    has_fault_ = has_fault_ || kind == 1 || kind == 4;
    hit.set_fault();
    switch (kind) {
    case 0: bus_.disconnect(hit.connection(), span); break;
    case 1: bus_.restart(span); break;
    case 2: bus_.cut(hit.connection(), span); break;
    case 3: hit.stall(span); break;
    case 4: bus_.freeze(span); break;
    case 5: bus_.set_max_payload(chance.pick<std::size_t>({bus::least_payload, 10'000, 1 << 20})); break;
    case 6: hit.kill(); break;
    default: // its supervisor starts it again
        if (hit.side() == node) {
            hit.kill();
            programs_.push_back(std::make_unique<hub_program>(*this, node, hit.number(), draw_options()));
            if (chance.chance(0.5)) {
                bus_.repeat_first("node.");
            }
        }
    }
}

// The oracle

/// Returns true if the bus, or a program of the link, has had a fault.
bool hub_world::is_disturbed(const link_record& record) const {
    return has_fault_ || std::any_of(programs_.begin(), programs_.end(), [&](const auto& each) {
               return each->has_fault() &&
                      each->number() == (each->side() == client ? record.client : record.node);
           });
}

void hub_world::check_outcome(const hub_program& teller, const link_record& record, const link_end& end) {
    const auto& peer = record.ends[1 - teller.side()];
    bool is_right = false;
    switch (end.cause) {
    case link_end_cause::refused: is_right = record.number % 8 == 7; break;
    case link_end_cause::violation:
    case link_end_cause::begun_anew: is_right = record.is_reopened; break;
    case link_end_cause::peer_closed:
        is_right = peer.is_gone || record.is_reopened || is_disturbed(record);
        break;
    case link_end_cause::no_receiver: is_right = record.node >= nodes_ || is_disturbed(record); break;
    case link_end_cause::silence:
    case link_end_cause::no_progress: is_right = is_disturbed(record); break;
    default: break;
    }
    if (!is_right) {
        world_.violated("link " + std::to_string(record.number) + " ends without a reason: " + end.detail);
    }
}

/// The peer has learnt of the end, unless something came in between, or a repeated request has made another
/// end.
void hub_world::check_peer_of(link_record& record, std::size_t ended_side) {
    const bool has_one_end =
        record.ends[1 - ended_side].link != nullptr && record.ends[ended_side].link == nullptr;
    if (has_one_end && !is_disturbed(record)) {
        world_.violated("link " + std::to_string(record.number) + " goes on at one end");
    }
}

/// Without faults, a small frame of an idle link takes as long as the bus.
void hub_world::check_arrival(const link_record& record, std::size_t sender, std::size_t frame) {
    const bool has_both_ends = record.ends[client].link != nullptr && record.ends[node].link != nullptr;
    if (has_both_ends && !record.is_reopened && record.from[sender].back().arrived < frame) {
        world_.violated("link " + std::to_string(record.number) + " is idle, but sends a frame late");
    }
}

/// Everything has arrived, and the ends agree.
void hub_world::check_rest() {
    for (const auto& each : links_) {
        const auto& [asking, asked] = each.ends;
        const auto name = "link " + std::to_string(each.number);
        if (asking.link != nullptr && asked.link != nullptr) {
            if (!each.has_all_from(client) || !each.has_all_from(node)) {
                world_.violated(name + " has not delivered everything");
            }
            if (asking.link->state().peer_load() != asked.program->load()) {
                world_.violated(name + " tells an old load");
            }
            for (const auto& end : each.ends) {
                if (end.link->state().output().size() > 0) {
                    world_.violated(name + " keeps bytes that have arrived");
                }
            }
        } else if (asking.link != nullptr || asked.link != nullptr) {
            world_.violated(name + " has one end");
        }
    }
    if (is_calm_ && bus_.slow_consumers() > 0) {
        world_.violated("more is on its way than the bus may hold");
    }
    for (const auto& each : programs_) {
        if (each->is_alive() && each->side() == client) {
            for (auto& link : links_) {
                each->close(link);
            }
        }
    }
}

void hub_world::check_end() {
    for (const auto& each : programs_) {
        if (each->is_alive() && (each->hub().size() + each->hub().unread_bytes() > 0 ||
                                 each->hub().next_tick() != time_point::max())) {
            world_.violated("links are left");
        }
    }
}

result simulate_hubs(std::uint64_t seed, bool tracing) {
    hub_world one(seed, tracing);
    auto violation = one.run();
    return {std::move(violation), one.steps()};
}

} // namespace skep::simulation
