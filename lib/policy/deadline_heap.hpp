// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/time.hpp>

#include <cstddef>
#include <vector>

namespace skep {

/// An object with a deadline. The node stores its place in the heap, so that removal needs no search.
struct deadline_node {
    std::size_t heap_place = outside;

    static constexpr std::size_t outside = static_cast<std::size_t>(-1);
};

/// All deadlines of a pool, served by one timer. A timer per call costs more: the event loop would arm and
/// cancel each timer, though few fire. Adding or removing an entry with the latest deadline, the usual case
/// for a new call, is O(1); any other entry costs O(log n). The heap stores the times: comparisons do not
/// touch the nodes, which lie scattered in memory.
class deadline_heap {
public:
    /// Adds `node`, or moves the node within the heap. The node must stay alive until removed.
    void set(deadline_node& node, time_point due_time);

    /// Removes `node`. Does nothing if the node is not in the heap.
    void remove(deadline_node& node) noexcept;

    void clear() noexcept;

    /// Returns the earliest deadline, or time_point::max() if the heap is empty.
    time_point earliest() const noexcept;

    /// Removes and returns an entry whose deadline is not after `now`, or nullptr if no entry is due.
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
