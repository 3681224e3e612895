// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "worker/call.hpp"

#include <boost/intrusive/list.hpp>

#include <cstddef>

namespace skep {

/// Calls in order of arrival. The calls themselves are the links, so that adding, taking and removing any of
/// them is O(1) and allocates nothing. Holds a reference to each.
class call_list {
public:
    call_list() = default;
    ~call_list() {
        while (!list_.empty()) {
            pop_front();
        }
    }
    call_list(const call_list&) = delete;
    call_list& operator=(const call_list&) = delete;

    bool empty() const noexcept { return list_.empty(); }
    std::size_t size() const noexcept { return list_.size(); }
    template <class Function>
    void for_each(Function&& function) {
        for (auto& each : list_) {
            function(each);
        }
    }
    call& front() noexcept { return list_.front(); }
    const call& front() const noexcept { return list_.front(); }

    void push_back(call_ptr which) noexcept { list_.push_back(*which.detach()); }
    void push_front(call_ptr which) noexcept { list_.push_front(*which.detach()); }
    call_ptr pop_front() noexcept { return remove(list_.front()); }

    /// `which` must be in this list.
    call_ptr remove(call& which) noexcept {
        list_.erase(list_.iterator_to(which));
        return {&which, false};
    }

private:
    boost::intrusive::list<call> list_;
};

} // namespace skep
