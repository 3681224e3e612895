// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/node_choice.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace skep {

namespace {

constexpr int most_draws = 8;                ///< before all nodes are looked at
constexpr std::size_t searches_per_node = 8; ///< then nodes without places leave the table

bool contains(std::span<const node_number> nodes, node_number node) noexcept {
    return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
}

} // namespace

void node_choice::set(node_number node, const node_load& load) {
    if (node >= loads_.size()) {
        loads_.resize(node + 1);
        shares_.resize(node + 1);
    }
    is_stale_ = is_stale_ || (load.places > 0 && load.places != shares_[node]);
    loads_[node] = load;
}

/// A node at capacity has no places for a moment. A new table each time would cost more than all picks.
void node_choice::forget_absent() noexcept {
    for (node_number node = 0; node < loads_.size(); ++node) {
        shares_[node] = loads_[node].places;
    }
    searches_ = 0;
    is_stale_ = true;
}

/// By Vose's method: each column has the same share, and is divided between two nodes at most.
void node_choice::make_table() {
    table_.clear();
    std::vector<double> shares;
    double total = 0;
    for (node_number node = 0; node < loads_.size(); ++node) {
        if (loads_[node].places > 0) {
            shares_[node] = loads_[node].places;
        }
        if (const auto places = shares_[node]; places > 0) {
            table_.push_back({node, node, 1});
            shares.push_back(places);
            total += places;
        }
    }
    std::vector<std::size_t> small;
    std::vector<std::size_t> large;
    for (std::size_t i = 0; i < shares.size(); ++i) {
        shares[i] *= static_cast<double>(shares.size()) / total;
        (shares[i] < 1 ? small : large).push_back(i);
    }
    while (!small.empty() && !large.empty()) {
        const auto poor = small.back();
        const auto rich = large.back();
        small.pop_back();
        table_[poor].threshold = shares[poor];
        table_[poor].other = table_[rich].node;
        shares[rich] -= 1 - shares[poor];
        if (shares[rich] < 1) {
            large.pop_back();
            small.push_back(rich);
        }
    }
    is_stale_ = false;
}

std::optional<node_number> node_choice::pick(const random_source& random, std::span<const node_number> busy) {
    if (is_stale_) {
        make_table();
    }
    const auto first = draw(random, busy);
    if (!first) {
        if (++searches_ > searches_per_node * table_.size()) {
            forget_absent();
        }
        return find_least(busy);
    }
    auto second = draw(random, busy);
    for (int draws = 1; second == first && draws < most_draws; ++draws) {
        second = draw(random, busy);
    }
    return second && is_better(*second, *first) ? second : first;
}

std::optional<node_number> node_choice::draw(const random_source& random,
                                             std::span<const node_number> busy) const {
    for (int draws = 0; draws < most_draws && !table_.empty(); ++draws) {
        const double place = random() * static_cast<double>(table_.size());
        const auto index = std::min(static_cast<std::size_t>(place), table_.size() - 1);
        const auto& drawn = table_[index];
        const auto node = place - static_cast<double>(index) < drawn.threshold ? drawn.node : drawn.other;
        if (may_be_picked(node, busy)) {
            return node;
        }
    }
    return std::nullopt;
}

/// The nodes that were left out may have nearly all places.
std::optional<node_number> node_choice::find_least(std::span<const node_number> busy) const noexcept {
    std::optional<node_number> least;
    for (const auto& each : table_) {
        if (may_be_picked(each.node, busy) && (!least || is_better(each.node, *least))) {
            least = each.node;
        }
    }
    return least;
}

bool node_choice::may_be_picked(node_number node, std::span<const node_number> busy) const noexcept {
    return loads_[node].places > 0 && !contains(busy, node);
}

bool node_choice::is_better(node_number a, node_number b) const noexcept {
    const auto rank = [](const node_load& load) { return std::pair(score(load), load.round_trip); };
    return rank(loads_[a]) < rank(loads_[b]);
}

} // namespace skep
