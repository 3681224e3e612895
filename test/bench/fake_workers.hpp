// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "runtime/runtime.hpp"
#include <skep/pool.hpp>

#include <boost/asio/io_context.hpp>

#include <memory>
#include <vector>

namespace skep::bench {

class fake_worker;

/// A started pool whose workers are only the far ends of sockets, on a context that the benchmark turns by
/// hand.
class fake_pool {
public:
    explicit fake_pool(pool_config config);
    ~fake_pool();
    fake_pool(const fake_pool&) = delete;
    fake_pool& operator=(const fake_pool&) = delete;

    pool& facade() noexcept { return *pool_; }
    asio::io_context& context() noexcept { return context_; }

    /// Answers every call that has arrived, with null.
    void answer();

    std::size_t queued();

private:
    template <class T>
    T finish(asio::awaitable<T> operation);

    asio::io_context context_{1};
    std::vector<std::shared_ptr<fake_worker>> workers_;
    std::unique_ptr<pool> pool_;
};

/// For a pool of `workers` of them with capacity 1, and nothing that happens by itself.
pool_config fake_config(std::size_t workers);

} // namespace skep::bench
