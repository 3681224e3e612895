// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "pool/context_guard.hpp"

#include "pool/pool_core.hpp"

#include <boost/asio/execution/context.hpp>
#include <boost/asio/query.hpp>

namespace skep {

void context_guard::enroll(const asio::any_io_executor& executor, const std::shared_ptr<pool_core>& core) {
    auto& context = asio::query(executor, asio::execution::context);
    auto& guard = asio::use_service<context_guard>(context);
    const std::lock_guard lock(guard.mutex_);
    std::erase_if(guard.pools_, [](const auto& pool) { return pool.expired(); });
    guard.pools_.push_back(core);
}

void context_guard::shutdown() noexcept {
    for (const auto& pool : std::exchange(pools_, {})) {
        if (const auto core = pool.lock()) {
            core->end_now();
        }
    }
}

} // namespace skep
