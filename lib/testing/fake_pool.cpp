// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/clock.hpp"
#include "pool/pool_core.hpp"
#include "process/local_context.hpp"
#include "testing/scripted_runtime.hpp"
#include <skep/testing.hpp>

#include <algorithm>
#include <utility>

namespace skep::testing {

namespace {

/// Returns a context with the wall clock of virtual time, and with the chance of a script.
pool_context context_of(asio::any_io_executor executor, std::shared_ptr<script> behaviour) {
    auto context = make_local_context(std::move(executor));
    context.wall_now = [wall = std::chrono::system_clock::now(), start = clock::now()] {
        return wall + std::chrono::duration_cast<std::chrono::system_clock::duration>(clock::now() - start);
    };
    context.random = [behaviour = std::move(behaviour)] { return behaviour->random(); };
    return context;
}

pool_config usable(pool_config config) {
    config.launch = {};
    config.launch.program = "fake";
    config.validate();
    return config;
}

skep::pool make_scripted_pool(asio::any_io_executor executor, pool_config config,
                              const std::shared_ptr<script>& behaviour) {
    const auto make_runtime = [&behaviour](const pool_context& context, const pool_config& valid,
                                           const output_handler&) {
        return std::make_unique<scripted_runtime>(
            context.executor, std::max(valid.capacity, valid.threads_per_worker), behaviour);
    };
    auto context = context_of(std::move(executor), behaviour);
    return make_pool(
        std::make_shared<pool_core>(std::move(context), usable(std::move(config)), make_runtime));
}

} // namespace

class fake_pool::impl {
public:
    impl(asio::any_io_executor executor, pool_config config, std::uint64_t seed)
        : behaviour(std::make_shared<script>(seed)),
          pool(make_scripted_pool(std::move(executor), std::move(config), behaviour)) {}

    std::shared_ptr<script> behaviour;
    skep::pool pool;
};

fake_pool::fake_pool(asio::any_io_executor executor, pool_config config, std::uint64_t seed)
    : impl_(std::make_unique<impl>(std::move(executor), std::move(config), seed)) {}
fake_pool::~fake_pool() = default;

skep::pool& fake_pool::pool() noexcept {
    return impl_->pool;
}

std::size_t fake_pool::started() const noexcept {
    return impl_->behaviour->started;
}

double fake_pool::random() noexcept {
    return impl_->behaviour->random();
}

bool fake_pool::crash(const worker_id& id, const worker_exit& apparent_exit) {
    const auto worker = impl_->behaviour->find(id);
    if (worker) {
        worker->end(apparent_exit.status(), apparent_exit.output());
    }
    return worker != nullptr;
}

bool fake_pool::freeze(const worker_id& id) {
    const auto worker = impl_->behaviour->find(id);
    if (worker) {
        worker->freeze();
    }
    return worker != nullptr;
}

fake_pool& fake_pool::add(std::string command, detail::plain_handler handler) {
    impl_->behaviour->functions.add(std::move(command), std::move(handler));
    return *this;
}

fake_pool& fake_pool::add_async(std::string command, detail::async_handler handler) {
    impl_->behaviour->functions.add(std::move(command), std::move(handler));
    return *this;
}

fake_pool& fake_pool::add_batch(std::string command, const batch_options& options,
                                detail::batch_handler handler) {
    impl_->behaviour->functions.add_batch(std::move(command), options, std::move(handler));
    return *this;
}

fake_pool& fake_pool::set_health_check(detail::async_handler check) {
    impl_->behaviour->functions.set_health_check(std::move(check));
    return *this;
}

fake_pool& fake_pool::add_start_hook(detail::async_hook hook) {
    impl_->behaviour->functions.start_hooks.push_back(std::move(hook));
    return *this;
}

fake_pool& fake_pool::add_stop_hook(detail::async_hook hook) {
    impl_->behaviour->functions.stop_hooks.push_back(std::move(hook));
    return *this;
}

} // namespace skep::testing
