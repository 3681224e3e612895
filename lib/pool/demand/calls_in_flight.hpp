// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "call/call.hpp"
#include "call/claim_list.hpp"

namespace skep {

/// The calls that workers have, and the time that workers have spent on calls.
class calls_in_flight {
public:
    std::size_t size() const noexcept { return calls_.size(); }
    bool empty() const noexcept { return calls_.empty(); }
    call& front() noexcept { return calls_.front(); }

    void clear() noexcept { calls_.clear(); }

    void begin(call& sent_call) noexcept { calls_.push_back(call_ptr(&sent_call)); }

    /// Counts the worker's time regardless of the outcome.
    void end(call& ended_call, time_point now) noexcept {
        work_done_ += now - ended_call.dispatched;
        calls_.remove(ended_call);
    }

    /// Returns the total, including calls under way.
    duration work_done(time_point now) noexcept {
        auto total = work_done_;
        calls_.for_each([&](const call& each) { total += now - each.dispatched; });
        return total;
    }

    template <class Function>
    void for_each(Function&& function) {
        calls_.for_each(function);
    }

private:
    claim_list<call> calls_;
    duration work_done_{};
};

} // namespace skep
