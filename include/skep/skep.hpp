// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

/// @file
/// Umbrella header for host programs. Not included: headers of parts with a library of their own, such as
/// skep/admin.hpp, and skep/worker_server.hpp, for workers in C++. Brings in neither the parser nor the
/// serializer of Boost.JSON.

/// @namespace skep
/// Pools of external worker processes for services on Boost.Asio. Where to begin: skep::pool, skep::request,
/// skep::run.

#pragma once

#include <skep/affinity.hpp>
#include <skep/as_result.hpp>
#include <skep/blob.hpp>
#include <skep/call_interface.hpp>
#include <skep/call_operation.hpp>
#include <skep/circuit_breaker.hpp>
#include <skep/completion.hpp>
#include <skep/context_group.hpp>
#include <skep/errc.hpp>
#include <skep/error.hpp>
#include <skep/event_bus.hpp>
#include <skep/events.hpp>
#include <skep/exit_status.hpp>
#include <skep/histogram.hpp>
#include <skep/initialization_delegate.hpp>
#include <skep/launch_options.hpp>
#include <skep/lease.hpp>
#include <skep/log.hpp>
#include <skep/pool.hpp>
#include <skep/pool_config.hpp>
#include <skep/pool_manager.hpp>
#include <skep/pool_metrics.hpp>
#include <skep/pool_status.hpp>
#include <skep/pool_thread.hpp>
#include <skep/presets.hpp>
#include <skep/progress.hpp>
#include <skep/proportional_bytes.hpp>
#include <skep/reply.hpp>
#include <skep/reply_stream.hpp>
#include <skep/request.hpp>
#include <skep/retry.hpp>
#include <skep/retry_policy.hpp>
#include <skep/run.hpp>
#include <skep/scheduler.hpp>
#include <skep/session.hpp>
#include <skep/session_backend.hpp>
#include <skep/session_store.hpp>
#include <skep/shared_buffer.hpp>
#include <skep/shutdown_report.hpp>
#include <skep/tensor_view.hpp>
#include <skep/time.hpp>
#include <skep/tool.hpp>
#include <skep/unanswered_calls.hpp>
#include <skep/until.hpp>
#include <skep/value_as.hpp>
#include <skep/wait_mode.hpp>
#include <skep/worker_id.hpp>
#include <skep/worker_state.hpp>
