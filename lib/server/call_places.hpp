// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "server/served_batch.hpp"
#include "server/served_call.hpp"
#include "wire/call_messages.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace skep {

/// The calls of a worker: a limited number of calls and batches run at a time, the others wait for a place in
/// the order of arrival.
class call_places {
public:
    explicit call_places(std::size_t capacity) noexcept : capacity_(capacity) {}

    std::size_t capacity() const noexcept { return capacity_; }
    void limit(std::size_t most) noexcept;

    /// Records the arrival of a call; called for each call.
    void record(std::uint64_t id) noexcept;
    bool has_come(std::uint64_t id) const noexcept { return id <= last_id_; }

    /// Returns true if a call that arrives now need not wait.
    bool has_place() const noexcept { return waiting_.empty() && has_free_place(); }

    void wait(call_message&& call) { waiting_.push_back(std::move(call)); }

    /// Takes the call that has waited longest, if a place is free.
    std::optional<call_message> take_next();

    /// Takes the calls that wait behind `first` and belong to the same batch. Returns them after `first`.
    std::vector<call_message> take_batch(call_message&& first);

    /// Takes the call out of turn. Returns nullopt if the call does not wait.
    std::optional<call_message> take_waiting(std::uint64_t id);

    void drop_waiting() noexcept { waiting_.clear(); }

    void run(const std::shared_ptr<served_call>& call) {
        add(call);
        ++taken_;
    }
    void run(const std::shared_ptr<served_batch>& batch);
    void end(std::uint64_t id) noexcept { taken_ -= running_.erase(id); }
    void end(const served_call& call) noexcept { end(call.message().id); }
    void end(const served_batch& batch) noexcept;
    bool is_idle() const noexcept { return running_.empty(); }

    /// Returns null if the call does not run.
    served_call* find(std::uint64_t id) const noexcept;

    template <class Act>
    void for_each_running(Act&& act) const {
        for (const auto& [id, call] : running_) {
            act(*call);
        }
    }

private:
    bool has_free_place() const noexcept { return taken_ < capacity_; }
    void add(const std::shared_ptr<served_call>& call) { running_.emplace(call->message().id, call); }

    std::size_t capacity_;
    std::size_t taken_ = 0; ///< places
    std::uint64_t last_id_ = 0;
    std::deque<call_message> waiting_;
    std::unordered_map<std::uint64_t, std::shared_ptr<served_call>> running_;
};

} // namespace skep
