// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "runtime/runtime.hpp"
#include "server/commands.hpp"
#include "testing/scripted_worker.hpp"

#include <cstddef>
#include <memory>
#include <random>
#include <vector>

namespace skep::testing {

/// What the workers of a fake_pool do, and the workers. Used on the pool's strand once the pool runs.
struct script {
    explicit script(std::uint64_t seed) : source(seed) {}

    double random() noexcept { return std::uniform_real_distribution<double>()(source); }

    /// Returns null if no worker of that id is alive.
    std::shared_ptr<scripted_worker> find(const worker_id& id) const noexcept;

    work functions;
    std::mt19937_64 source;
    std::size_t started = 0;
    std::vector<std::weak_ptr<scripted_worker>> workers;
};

/// Starts workers that follow a script.
class scripted_runtime final : public runtime {
public:
    /// `capacity`: the calls at a time of a worker.
    scripted_runtime(const strand& executor, std::size_t capacity, std::shared_ptr<script> behaviour);

    asio::awaitable<worker_link> start(launch_order order) override;
    void cancel_start(const worker_id&) noexcept override {} // it never takes time
    void close() override {}

private:
    strand executor_;
    std::size_t capacity_;
    std::shared_ptr<script> script_;
};

} // namespace skep::testing
