// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "pool/demand/session_touches.hpp"

#include <skep/session_store.hpp>

namespace skep {

namespace {

/// Nodes kept for later touches: as many as are under way at a time, if the store answers soon.
constexpr std::size_t most_spare = 16;

} // namespace

session_touches::session_touches(const strand& executor, std::shared_ptr<session_store> store)
    : store_(std::move(store)), tasks_(executor, [](std::exception_ptr) {}) {
    spare_.reserve(most_spare);
}

void session_touches::add(std::shared_ptr<void> owner, const std::string& session,
                          const worker_id& last_worker) {
    if (!store_) {
        return;
    }
    const auto known = under_way_.find(session);
    if (known != under_way_.end()) {
        known->second.last_worker = last_worker;
        known->second.is_used_again = true;
        return;
    }
    if (under_way_.size() >= most) {
        return;
    }
    auto& use = begin(session);
    try {
        use.second.last_worker = last_worker;
        tasks_.spawn(std::move(owner), follow(use));
    } catch (...) { // out of memory
        end(session);
        throw;
    }
}

/// Calls of sessions usually come one after the other, and need no more memory than the first.
session_touches::touches::value_type& session_touches::begin(const std::string& session) {
    if (spare_.empty()) {
        return *under_way_.try_emplace(session).first;
    }
    spare_.back().key() = session;
    auto node = std::move(spare_.back());
    spare_.pop_back();
    return *under_way_.insert(std::move(node)).position;
}

void session_touches::end(const std::string& session) noexcept {
    auto node = under_way_.extract(session);
    if (spare_.size() < most_spare) {
        spare_.push_back(std::move(node)); // reserved by the constructor
    }
}

/// Best effort: a missing session or an unreachable backend must not fail the call.
asio::awaitable<void> session_touches::follow(touches::value_type& use) {
    try {
        do {
            use.second.is_used_again = false;
            co_await store_->record_worker(use.first, use.second.last_worker);
        } while (use.second.is_used_again);
    } catch (...) {} // the next call tries again
    end(use.first);
}

} // namespace skep
