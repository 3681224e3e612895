// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/deadline_heap.hpp"

#include <algorithm>

namespace skep {

void deadline_heap::set(deadline_node& node, time_point due_time) {
    if (node.heap_place == deadline_node::outside) {
        entries_.push_back({due_time, &node});
        node.heap_place = entries_.size() - 1;
    } else {
        entries_[node.heap_place].due = due_time;
    }
    sift(node.heap_place);
}

void deadline_heap::clear() noexcept {
    for (const auto& each : entries_) {
        each.node->heap_place = deadline_node::outside;
    }
    entries_.clear();
}

void deadline_heap::remove(deadline_node& node) noexcept {
    const auto place = node.heap_place;
    if (place == deadline_node::outside) {
        return;
    }
    node.heap_place = deadline_node::outside;
    const auto last = entries_.back();
    entries_.pop_back();
    if (last.node != &node) {
        put(place, last);
        sift(place);
    }
}

time_point deadline_heap::earliest() const noexcept {
    return entries_.empty() ? time_point::max() : entries_.front().due;
}

deadline_node* deadline_heap::pop_due(time_point now) noexcept {
    if (entries_.empty() || earliest() > now) {
        return nullptr;
    }
    auto* const node = entries_.front().node;
    remove(*node);
    return node;
}

void deadline_heap::put(std::size_t place, entry moved_entry) noexcept {
    entries_[place] = moved_entry;
    moved_entry.node->heap_place = place;
}

void deadline_heap::sift(std::size_t place) noexcept {
    auto* const node = entries_[place].node;
    sift_up(place);
    sift_down(node->heap_place);
}

void deadline_heap::sift_up(std::size_t place) noexcept {
    const auto moved = entries_[place];
    while (place > 0 && moved.due < entries_[(place - 1) / 2].due) {
        put(place, entries_[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    put(place, moved);
}

void deadline_heap::sift_down(std::size_t place) noexcept {
    const auto moved = entries_[place];
    for (;;) {
        auto child = 2 * place + 1;
        if (child + 1 < entries_.size() && entries_[child + 1].due < entries_[child].due) {
            ++child;
        }
        if (child >= entries_.size() || moved.due <= entries_[child].due) {
            break;
        }
        put(place, entries_[child]);
        place = child;
    }
    put(place, moved);
}

} // namespace skep
