// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/affinity.hpp>
#include <skep/completion.hpp>
#include <skep/export.hpp>
#include <skep/lease.hpp>
#include <skep/pool_config.hpp>
#include <skep/pool_metrics.hpp>
#include <skep/pool_status.hpp>
#include <skep/reply_stream.hpp>
#include <skep/request.hpp>
#include <skep/shutdown_report.hpp>
#include <skep/time.hpp>
#include <skep/worker_id.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <vector>

namespace skep {

class pool_core;

/// The compiled part of the pool's operations; the templates for completion tokens call it.
namespace detail::operations {

using core_ptr = std::shared_ptr<pool_core>;

SKEP_API boost::asio::any_io_executor executor_of(const core_ptr& core) noexcept;

SKEP_API void start(const core_ptr& core, completion<void>&& caller);
SKEP_API void ready(const core_ptr& core, completion<void>&& caller, std::size_t count);
SKEP_API void check_out(const core_ptr& core, completion<lease>&& caller, checkout_options&& options,
                        const std::source_location& location);
SKEP_API void forget_session(const core_ptr& core, completion<bool>&& caller, std::string&& id);
SKEP_API void session_worker(const core_ptr& core, completion<std::optional<session_binding>>&& caller,
                             std::string&& id);
SKEP_API void bind_session(const core_ptr& core, completion<void>&& caller, std::string&& id,
                           worker_id&& worker, std::optional<affinity_mode> mode);
SKEP_API void status(const core_ptr& core, completion<pool_status>&& caller);
SKEP_API void metrics(const core_ptr& core, completion<pool_metrics>&& caller);
SKEP_API void suspend(const core_ptr& core, completion<void>&& caller, worker_id&& id);
SKEP_API void suspend_all(const core_ptr& core, completion<void>&& caller);
SKEP_API void resume(const core_ptr& core, completion<void>&& caller, worker_id&& id);
SKEP_API void resume_all(const core_ptr& core, completion<void>&& caller);
SKEP_API void probe(const core_ptr& core, completion<probe_result>&& caller, worker_id&& id);
SKEP_API void probe_all(const core_ptr& core, completion<std::vector<probe_result>>&& caller);
SKEP_API void ping(const core_ptr& core, completion<duration>&& caller, worker_id&& id);
SKEP_API void ended(const core_ptr& core, completion<worker_exit>&& caller, worker_id&& id);
SKEP_API void stacks(const core_ptr& core, completion<std::string>&& caller, worker_id&& id);
SKEP_API void restart(const core_ptr& core, completion<void>&& caller, worker_id&& id);
SKEP_API void restart_all(const core_ptr& core, completion<void>&& caller);
SKEP_API void resize(const core_ptr& core, completion<void>&& caller, size_limits limits);
SKEP_API void shut_down(const core_ptr& core, completion<shutdown_report>&& caller);

} // namespace detail::operations

} // namespace skep
