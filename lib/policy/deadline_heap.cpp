// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/deadline_heap.hpp"

#include <algorithm>

namespace skep {

void deadline_heap::set(deadline_node& node, time_point due) {
    node.due = due;
    if (node.heap_place == deadline_node::outside) {
        nodes_.push_back(&node);
        node.heap_place = nodes_.size() - 1;
    }
    sift(node.heap_place);
}

void deadline_heap::reserve_one() {
    constexpr std::size_t least = 16;
    if (nodes_.size() == nodes_.capacity()) {
        nodes_.reserve(std::max(least, 2 * nodes_.size()));
    }
}

void deadline_heap::remove(deadline_node& node) noexcept {
    const auto place = node.heap_place;
    if (place == deadline_node::outside) {
        return;
    }
    node.heap_place = deadline_node::outside;
    auto* const last = nodes_.back();
    nodes_.pop_back();
    if (last != &node) {
        put(place, last);
        sift(place);
    }
}

time_point deadline_heap::earliest() const noexcept {
    return nodes_.empty() ? time_point::max() : nodes_.front()->due;
}

deadline_node* deadline_heap::pop_due(time_point now) noexcept {
    if (nodes_.empty() || nodes_.front()->due > now) {
        return nullptr;
    }
    auto* const node = nodes_.front();
    remove(*node);
    return node;
}

void deadline_heap::put(std::size_t place, deadline_node* node) noexcept {
    nodes_[place] = node;
    node->heap_place = place;
}

void deadline_heap::sift(std::size_t place) noexcept {
    auto* const node = nodes_[place];
    sift_up(place);
    sift_down(node->heap_place);
}

void deadline_heap::sift_up(std::size_t place) noexcept {
    auto* const node = nodes_[place];
    while (place > 0 && node->due < nodes_[(place - 1) / 2]->due) {
        put(place, nodes_[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    put(place, node);
}

void deadline_heap::sift_down(std::size_t place) noexcept {
    auto* const node = nodes_[place];
    for (;;) {
        auto child = 2 * place + 1;
        if (child + 1 < nodes_.size() && nodes_[child + 1]->due < nodes_[child]->due) {
            ++child;
        }
        if (child >= nodes_.size() || node->due <= nodes_[child]->due) {
            break;
        }
        put(place, nodes_[child]);
        place = child;
    }
    put(place, node);
}

} // namespace skep
