// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "pool/demand/home_search.hpp"

#include <chrono>
#include <utility>

namespace skep {

namespace {

constexpr duration between_questions = std::chrono::seconds(1); ///< for one session, if its node has no link
constexpr duration before_next_try = std::chrono::milliseconds(100); ///< if the nodes could not be asked

} // namespace

home_search::home_search(const worker_surroundings& surroundings, waiting_room& room,
                         session_router& sessions)
    : surroundings_(surroundings),
      room_(room),
      sessions_(sessions),
      homes_(surroundings.starter.homes()),
      changed_(surroundings.context.executor),
      tasks_(surroundings.context.executor,
             [&limit = surroundings.limit](const std::exception_ptr& problem) { limit.cross(problem); }) {}

bool home_search::begin(const std::string& session) {
    if (searches_.contains(session)) {
        return true;
    }
    if (searches_.size() >= most) {
        return false;
    }
    tasks_.spawn(surroundings_.owner.lock(), follow(entry(searches_, session)));
    return true;
}

bool home_search::bind_without_search(const std::string& session) {
    auto* const home = worker_at(homes_->choose(session));
    if (home != nullptr) {
        sessions_.adopt(session, *home, affinity_mode::strict_queue);
    }
    return home != nullptr;
}

void home_search::forget(const std::string& session) {
    if (homes_ != nullptr) {
        homes_->forget(session);
    }
}

asio::awaitable<void> home_search::follow(entry search) {
    co_await find(search.session());
    const auto session = search.end();
    room_.reroute(session);
}

/// Begins before the first call has joined the queue.
asio::awaitable<void> home_search::find(const std::string& session) {
    bool is_over = false;
    while (!is_over) {
        const auto report = co_await homes_->ask(session);
        is_over = co_await is_settled(session, report);
        is_over = is_over || !is_awaited(session);
    }
}

asio::awaitable<bool> home_search::is_settled(const std::string& session, const home_report& report) {
    const bool is_strict = is_awaited_strictly(session);
    const auto step = home_step_of(report, is_strict, surroundings_.config.affinity.on_recycle);
    if (step == home_step::go_anywhere) {
        co_return true;
    }
    if (step == home_step::ask_again) {
        const auto next_try = now() + before_next_try;
        co_await changed_.wait_until(next_try);
        co_return false;
    }
    const auto node = step == home_step::go_to_node ? report.node : homes_->choose(session);
    const bool has_home = co_await is_bound(session, node, is_strict);
    co_return has_home;
}

/// A strict call waits for a link to the node. Meanwhile the nodes change, and are asked again.
asio::awaitable<bool> home_search::is_bound(const std::string& session, const std::string& node,
                                            bool is_strict) {
    const auto limit = now() + between_questions;
    auto* home = worker_at(node);
    while (home == nullptr && is_strict && now() < limit) {
        co_await changed_.wait_until(limit);
        home = worker_at(node);
    }
    if (home != nullptr) {
        sessions_.adopt(session, *home, is_strict ? affinity_mode::strict_queue : affinity_mode::hint);
    }
    co_return home != nullptr || !is_strict;
}

bool home_search::is_awaited(const std::string& session) {
    return room_.queue().find_unplaced(
               [&](claim& each) { return each.as_call()->req.session() == session; }) != nullptr;
}

bool home_search::is_awaited_strictly(const std::string& session) {
    return room_.queue().find_unplaced([&](claim& each) {
        const auto& waiting = *each.as_call();
        return waiting.req.session() == session && sessions_.is_strict(waiting);
    }) != nullptr;
}

worker* home_search::worker_at(const std::string& node) const noexcept {
    worker* found = nullptr;
    room_.places().for_each_worker([&](const worker& each) {
        if (each.node() == node && !each.life().departure()) {
            found = room_.places().in_slot(each.id().slot);
        }
    });
    return found;
}

} // namespace skep
