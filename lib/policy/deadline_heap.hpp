// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/time.hpp>

#include <cstddef>
#include <vector>

namespace skep {

/// Something with a deadline. It knows its place in the heap, so that it can be taken out without a search.
struct deadline_node {
    std::size_t heap_place = outside;

    static constexpr std::size_t outside = static_cast<std::size_t>(-1);
};

/// All deadlines of a pool, so that one timer serves them: cheaper than a timer per call, which must be armed
/// and cancelled through the event loop though it hardly ever fires. An entry with the latest deadline, the
/// usual case for a new call, is added and removed in O(1); any other in O(log n). The times are in the heap itself:
/// comparing them does not touch the nodes, which lie anywhere in memory.
class deadline_heap {
public:
    /// Adds `node`, or moves it if it is in the heap. The node must stay alive until removed.
    void set(deadline_node& node, time_point due_time);

    /// Does nothing if the node is not in the heap.
    void remove(deadline_node& node) noexcept;

    void clear() noexcept;

    /// The earliest deadline, or time_point::max().
    time_point earliest() const noexcept;

    /// Takes out and returns an entry whose deadline is not after `now`; nullptr if there is none.
    deadline_node* pop_due(time_point now) noexcept;

    std::size_t size() const noexcept { return entries_.size(); }

private:
    struct entry {
        time_point due;
        deadline_node* node;
    };

    void put(std::size_t place, entry moved_entry) noexcept;
    void sift(std::size_t place) noexcept;
    void sift_up(std::size_t place) noexcept;
    void sift_down(std::size_t place) noexcept;

    std::vector<entry> entries_;
};

} // namespace skep
