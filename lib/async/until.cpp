// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "async/run_together.hpp"
#include <skep/until.hpp>

#include <vector>

namespace skep::detail {

asio::awaitable<void> race(asio::awaitable<void> operation, asio::awaitable<void> other) {
    std::vector<asio::awaitable<void>> parts;
    parts.push_back(std::move(operation));
    parts.push_back(std::move(other));
    return run_together(std::move(parts), cancel_others::after_end);
}

} // namespace skep::detail
