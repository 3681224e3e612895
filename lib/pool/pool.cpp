// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/shown_config.hpp"
#include "pool/call_operations.hpp"
#include "pool/pool_core.hpp"
#include "process/local_context.hpp"
#include "process/process_runtime.hpp"
#include <skep/pool.hpp>
#include <skep/pool_operations.hpp>

namespace skep {

pool::pool(asio::any_io_executor executor, pool_config config)
    : pool(make_process_pool(std::move(executor), std::move(config), {})) {}

pool make_process_pool(asio::any_io_executor executor, pool_config config, pool_membership of_manager) {
    config.validate();
    const auto make_runtime = [](const pool_context& context, const pool_config& valid, output_handler sink) {
        return make_process_runtime(context, valid, std::move(sink));
    };
    auto context = make_local_context(std::move(executor));
    if (config.thread == pool_thread::own) {
        move_to_own_thread(context, config.wait);
    }
    return make_pool(std::make_shared<pool_core>(std::move(context), std::move(config), make_runtime,
                                                 std::move(of_manager)));
}

pool make_pool(core_ptr core) {
    core->enroll();
    return pool(std::move(core));
}

pool::~pool() {
    if (core_ && core_->lacks_thread()) {
        [[maybe_unused]] const auto* const leaked =
            new core_ptr(std::move(core_)); // the missing thread may have held locks
    } else if (core_) {
        post_to_strand(core_, [&ending = core_->ending()] { ending.abandon(); });
    }
}

pool::pool(pool&&) noexcept = default;

pool& pool::operator=(pool&& other) noexcept {
    pool old(std::move(other));
    std::swap(core_, old.core_); // the destructor of `old` ends the workers
    return *this;
}

const std::string& pool::name() const noexcept {
    return core_->config().name;
}

const pool_config& pool::config() const noexcept {
    return core_->config();
}

boost::json::object pool::configuration() const {
    return shown_config(config());
}

asio::any_io_executor pool::get_executor() const noexcept {
    return detail::operations::executor_of(core_);
}

call_operation pool::prepare(request call) {
    return make_call(core_, std::move(call));
}

stream_operation pool::prepare_stream(request call) {
    return make_stream_call(core_, std::move(call));
}

void pool::register_tool(std::string name, tool_handler handler) {
    core_->tools().add(std::move(name), std::move(handler));
}

event_bus& pool::events() noexcept {
    return core_->events();
}

load_view pool::load() const noexcept {
    return core_->load();
}

} // namespace skep
