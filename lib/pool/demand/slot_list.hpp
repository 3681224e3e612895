// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace skep {

/// A doubly linked list of slot numbers in an array, each slot at most once. Every operation is O(1).
class slot_list {
public:
    bool empty() const noexcept { return links_[end].next == end; }
    bool contains(std::uint32_t slot) const noexcept {
        return slot + 1 < links_.size() && links_[slot + 1].next != outside;
    }
    std::optional<std::uint32_t> front() const noexcept { return to_slot(links_[end].next); }
    std::optional<std::uint32_t> back() const noexcept { return to_slot(links_[end].previous); }

    /// `slot` must not be in the list.
    void push_back(std::uint32_t slot) {
        const auto at = slot + 1;
        if (at >= links_.size()) {
            links_.resize(at + 1);
        }
        const auto last = links_[end].previous;
        links_[at] = {last, end};
        links_[last].next = at;
        links_[end].previous = at;
    }

    void remove(std::uint32_t slot) noexcept {
        if (contains(slot)) {
            auto& gone = links_[slot + 1];
            links_[gone.previous].next = gone.next;
            links_[gone.next].previous = gone.previous;
            gone = {};
        }
    }

private:
    static constexpr std::uint32_t end = 0; ///< anchor of the ring; slot n is at n + 1
    static constexpr std::uint32_t outside = static_cast<std::uint32_t>(-1);

    struct link {
        std::uint32_t previous = outside;
        std::uint32_t next = outside;
    };

    static std::optional<std::uint32_t> to_slot(std::uint32_t index) noexcept {
        return index == end ? std::nullopt : std::optional<std::uint32_t>(index - 1);
    }

    std::vector<link> links_{{end, end}};
};

} // namespace skep
