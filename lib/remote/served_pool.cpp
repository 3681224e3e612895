// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "remote/served_pool.hpp"

#include <skep/error.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

namespace skep {

namespace {

constexpr double most_calls_of_node = 65'536;

std::uint16_t limited(std::size_t number) noexcept {
    constexpr std::size_t most = std::numeric_limits<std::uint16_t>::max();
    return static_cast<std::uint16_t>(std::min(number, most));
}

} // namespace

served_pool::served_pool(call_interface& calls, std::function<load_view()> load_of_calls,
                         double queue_per_place, restart_function restart)
    : calls_(calls),
      load_(std::move(load_of_calls)),
      queue_per_place_(queue_per_place),
      restart_(std::move(restart)) {}

served_pool::served_pool(pool& offered_pool, double queue_per_place)
    : served_pool(
          offered_pool, [&offered_pool] { return offered_pool.load(); }, queue_per_place,
          [&offered_pool] { return offered_pool.rolling_restart(); }) {
    pool_ = &offered_pool;
}

std::size_t served_pool::most_calls() const {
    return most_calls(load_());
}

std::size_t served_pool::most_calls(const load_view& load) const noexcept {
    const auto calls = static_cast<double>(load.places) * (1 + queue_per_place_);
    return static_cast<std::size_t>(std::clamp(calls, 1.0, most_calls_of_node));
}

load_view served_pool::look() {
    const auto now = load_();
    const auto calls = std::max(running_, now.in_flight + now.queued);
    told_ = {limited(calls), limited(now.places), told_.is_draining, running_ >= most_calls(now)};
    return now;
}

boost::asio::awaitable<void> served_pool::restart() {
    if (restart_) {
        auto replacing = restart_();
        co_await std::move(replacing);
    }
}

void served_pool::begin_call(const std::string& session) {
    if (!session.empty()) {
        ++sessions_[session];
    }
    ++running_;
    look();
}

void served_pool::end_call(const std::string& session) {
    const auto found = sessions_.find(session);
    if (found != sessions_.end() && --found->second == 0) {
        sessions_.erase(found);
    }
    --running_;
    look();
}

boost::asio::awaitable<bool> served_pool::has_session(std::string id) {
    if (sessions_.contains(id)) {
        co_return true;
    }
    if (pool_ == nullptr) {
        co_return false;
    }
    try {
        auto asking = pool_->session_worker(std::move(id));
        const auto binding = co_await std::move(asking);
        co_return binding && !binding->is_lost;
    } catch (const error&) { // the pool has ended
        co_return false;
    }
}

boost::asio::awaitable<void> served_pool::forget_session(std::string id) {
    try {
        if (pool_ != nullptr) {
            auto forgetting = pool_->forget_session(std::move(id));
            co_await std::move(forgetting);
        }
    } catch (const error&) {} // the pool has ended
}

} // namespace skep
