// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "server/call_places.hpp"

#include <algorithm>
#include <utility>

namespace skep {

void call_places::limit(std::size_t most) noexcept {
    capacity_ = std::min(capacity_, most);
}

void call_places::record(std::uint64_t id) noexcept {
    last_id_ = std::max(last_id_, id);
}

std::optional<call_message> call_places::take_next() {
    if (waiting_.empty() || !has_free_place()) {
        return std::nullopt;
    }
    std::optional<call_message> next(std::move(waiting_.front()));
    waiting_.pop_front();
    return next;
}

std::vector<call_message> call_places::take_batch(call_message&& first) {
    std::vector<call_message> calls;
    calls.push_back(std::move(first));
    while (!waiting_.empty() && waiting_.front().batch == calls.front().batch) {
        calls.push_back(std::move(waiting_.front()));
        waiting_.pop_front();
    }
    return calls;
}

std::optional<call_message> call_places::take_waiting(std::uint64_t id) {
    const auto is_meant = [&](const call_message& call) { return call.id == id; };
    const auto found = std::find_if(waiting_.begin(), waiting_.end(), is_meant);
    if (found == waiting_.end()) {
        return std::nullopt;
    }
    std::optional<call_message> taken(std::move(*found));
    waiting_.erase(found);
    return taken;
}

void call_places::run(const std::shared_ptr<served_batch>& batch) {
    for (const auto& each : batch->calls()) {
        add(each);
    }
    ++taken_;
}

void call_places::end(const served_batch& batch) noexcept {
    std::size_t ended = 0;
    for (const auto& each : batch.calls()) {
        ended += running_.erase(each->message().id);
    }
    taken_ -= ended > 0 ? 1 : 0;
}

served_call* call_places::find(std::uint64_t id) const noexcept {
    const auto found = running_.find(id);
    return found == running_.end() ? nullptr : found->second.get();
}

} // namespace skep
