// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "pool/session_touches.hpp"

#include <skep/session_store.hpp>

namespace skep {

session_touches::session_touches(const strand& executor, std::shared_ptr<session_store> store)
    : store_(std::move(store)), tasks_(executor, [](std::exception_ptr) {}) {}

void session_touches::add(std::shared_ptr<void> owner, const std::string& session, const worker_id& by) {
    if (!store_) {
        return;
    }
    const auto [known, is_first] = under_way_.try_emplace(session);
    known->second.by = by;
    if (!is_first) {
        known->second.is_used_again = true;
        return;
    }
    if (under_way_.size() > most) {
        under_way_.erase(known);
        return;
    }
    try {
        tasks_.spawn(std::move(owner), follow(session));
    } catch (...) { // out of memory
        under_way_.erase(session);
        throw;
    }
}

/// The call is not affected by whether there is such a session, and whether its backend can be reached.
asio::awaitable<void> session_touches::follow(std::string session) {
    auto& use = under_way_.at(session); // stays where it is until it is erased
    try {
        do {
            use.is_used_again = false;
            auto touching = store_->record_worker(session, use.by);
            co_await std::move(touching);
        } while (use.is_used_again);
    } catch (...) {} // the next call tries again
    under_way_.erase(session);
}

} // namespace skep
