// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "remote/node_directory.hpp"

#include "policy/home_choice.hpp"

#include <algorithm>
#include <chrono>

namespace skep {

namespace {

constexpr int missed_beacons = 3; ///< then a node counts as silent
constexpr duration memory_of_silent = std::chrono::minutes(10);
constexpr duration memory_of_stranger = std::chrono::seconds(10);  ///< that is silent
constexpr duration between_links = std::chrono::milliseconds(100); ///< to one node

bool serves(const known_node& node, time_point now) noexcept {
    return !node.is_draining && node.load.can_serve && now < node.fresh_until;
}

bool is_offered(const known_node& node, time_point now) noexcept {
    return !node.is_taken && serves(node, now);
}

node_standing standing_of(const known_node& node) noexcept {
    const bool is_usable = node.is_taken || node.is_linked();
    return node.ejection.is_ejected() ? node_standing::ejected
           : is_usable                ? node_standing::well
                                      : node_standing::absent;
}

/// Returns the time after which the node is forgotten.
time_point remembered_until(const known_node& node) noexcept {
    const bool is_unimportant = node.is_stranger && !node.ejection.is_ejected();
    return node.fresh_until + (is_unimportant ? memory_of_stranger : memory_of_silent);
}

bool is_there(const known_node& node, time_point now) noexcept {
    return node.is_taken || (!node.is_draining && now < node.present_until);
}

/// Returns the time of the next change without a beacon.
time_point next_change(const known_node& node, time_point now) noexcept {
    if (now >= node.fresh_until && is_there(node, now) && !node.is_taken) {
        return node.present_until;
    }
    if (now >= node.fresh_until) {
        return std::max(now, remembered_until(node)) + duration(1);
    }
    return now < node.usable_at ? std::min(node.usable_at, node.fresh_until) : node.fresh_until;
}

} // namespace

node_state state_of(const known_node& node, bool has_link, time_point now) noexcept {
    if (has_link) {
        return node.is_draining             ? node_state::draining
               : node.ejection.is_ejected() ? node_state::trial
                                            : node_state::linked;
    }
    if (node.is_taken) {
        return node_state::opening;
    }
    if (node.ejection.is_ejected() && now < node.usable_at) {
        return node_state::ejected;
    }
    if (now >= node.present_until) {
        return node_state::silent;
    }
    if (node.is_draining) {
        return node_state::draining;
    }
    return now >= node.fresh_until ? node_state::silent
           : node.load.can_serve   ? node_state::opening
                                   : node_state::unavailable;
}

std::shared_ptr<known_node> node_directory::hear(const node_beacon& beacon, time_point now) {
    const auto load = beacon.pools.find(pool_);
    if (load == beacon.pools.end()) {
        return nullptr;
    }
    auto found = nodes_.find(beacon.node);
    if (found == nodes_.end()) {
        if (nodes_.size() >= most_nodes) {
            return nullptr;
        }
        auto made = std::make_shared<known_node>();
        made->name = beacon.node;
        ++count_of(made->standing);
        changes_.set(*made, now);
        found = nodes_.emplace(beacon.node, std::move(made)).first;
    }
    auto& node = *found->second;
    if (node.is_present && node.epoch != beacon.epoch) {
        pass(node, node_passage::restarted);
    }
    node.epoch = beacon.epoch;
    node.load = load->second;
    node.is_draining = beacon.is_draining;
    node.fresh_until = node.present_until = now + missed_beacons * beacon.interval;
    sort_in(node, now);
    return found->second;
}

std::shared_ptr<known_node> node_directory::find(std::string_view name) const {
    const auto found = nodes_.find(name);
    return found == nodes_.end() ? nullptr : found->second;
}

std::string node_directory::choose(std::string_view session, time_point now) const {
    rendezvous choice(session);
    for (const auto& [name, node] : nodes_) {
        if (serves(*node, now)) {
            choice.offer(name);
        }
    }
    return choice.winner();
}

std::shared_ptr<known_node> node_directory::take(time_point now) {
    if (!has_ready(now)) {
        return nullptr;
    }
    auto& node = *ready_.begin();
    node.is_taken = true;
    node.taken_at = now;
    ++taken_;
    sort_in(node, now);
    return find(node.name);
}

bool node_directory::give_back(known_node& node, bool is_lost, time_point now) noexcept {
    const bool is_out = is_lost && node.ejection.lost(may_eject(), now);
    node.ejections += is_out ? 1 : 0;
    node.is_taken = false;
    --taken_;
    node.fresh_until = now;
    node.usable_at = is_out ? node.ejection.until() : now + between_links;
    sort_in(node, now);
    return is_out;
}

bool node_directory::answered(known_node& node, time_point now) noexcept {
    const bool was_on_trial = node.ejection.answered(node.taken_at, now);
    sort_in(node, now);
    return was_on_trial;
}

/// At least half of the nodes stay.
bool node_directory::may_eject() noexcept {
    const auto ejected = count_of(node_standing::ejected);
    return 2 * (ejected + 1) <= ejected + count_of(node_standing::well);
}

bool node_directory::has_ready(time_point now) noexcept {
    follow_time(now);
    return !ready_.empty();
}

std::size_t node_directory::usable(time_point now) noexcept {
    follow_time(now);
    return taken_ + ready_.size();
}

std::size_t node_directory::known(time_point now) noexcept {
    follow_time(now);
    return nodes_.size();
}

void node_directory::follow_time(time_point now) noexcept {
    while (changes_.earliest() <= now) {
        auto& node = static_cast<known_node&>(*changes_.pop_due(now));
        const bool is_forgotten = !node.is_taken && now > remembered_until(node);
        if (is_forgotten) {
            remove(node);
        } else {
            sort_in(node, now);
        }
    }
}

/// Needs no memory: changes_ had the node before.
void node_directory::sort_in(known_node& node, time_point now) noexcept {
    const bool is_ready = is_offered(node, now) && now >= node.usable_at;
    if (is_ready && !node.is_linked()) {
        ready_.insert(node);
    } else if (!is_ready && node.is_linked()) {
        ready_.erase(ready_.iterator_to(node));
    }
    --count_of(node.standing);
    node.standing = standing_of(node);
    ++count_of(node.standing);
    changes_.set(node, next_change(node, now));
    report_passage(node, now);
}

void node_directory::report_passage(known_node& node, time_point now) noexcept {
    if (is_there(node, now) != node.is_present) {
        pass(node, !node.is_present   ? node_passage::joined
                   : node.is_draining ? node_passage::drained
                                      : node_passage::silent);
    }
}

void node_directory::pass(known_node& node, node_passage passage) noexcept {
    node.is_present = passage == node_passage::joined;
    if (on_passage_) {
        on_passage_(node, passage);
    }
}

void node_directory::remove(known_node& node) noexcept {
    --count_of(node.standing);
    if (node.is_linked()) {
        ready_.erase(ready_.iterator_to(node));
    }
    nodes_.erase(nodes_.find(node.name));
}

} // namespace skep
