// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "async/context_guard.hpp"

#include <boost/asio/execution/context.hpp>
#include <boost/asio/query.hpp>

#include <utility>

namespace skep {

void context_guard::enroll(const asio::any_io_executor& executor,
                           const std::shared_ptr<context_bound>& new_member) {
    auto& context = asio::query(executor, asio::execution::context);
    auto& guard = asio::use_service<context_guard>(context);
    const std::lock_guard lock(guard.mutex_);
    std::erase_if(guard.bound_,
                  [&](const auto& each) { return each.expired() || each.lock() == new_member; });
    guard.bound_.push_back(new_member);
}

void context_guard::shutdown() noexcept {
    for (const auto& each : std::exchange(bound_, {})) {
        if (const auto bound = each.lock()) {
            bound->end_now(context());
        }
    }
}

} // namespace skep
