// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/context_guard.hpp"
#include "policy/admission.hpp"
#include "pool/call_outcomes.hpp"
#include "pool/demand/call_tracing.hpp"
#include "pool/pool_events.hpp"
#include "pool/pool_parts.hpp"
#include "pool/pool_sessions.hpp"
#include "pool/pool_shutdown.hpp"
#include "pool/pool_start.hpp"
#include "pool/supply/inspection.hpp"
#include "process/process_generation.hpp"
#include <skep/pool.hpp>

#include <memory>

namespace skep {

/// Given by a pool_manager to each of its pools.
struct pool_membership {
    worker_share share;
    bool starts_again = false; ///< a failed start is retried, with the backoff of restarts
};

/// The implementation of a pool: its parts and phases, the admission of calls, and the breakdown. All
/// functions run on the strand, except the constructor, enroll(), executor(), user_executor(), config(),
/// begin_trace(), tools(), events(), load(), is_forked(), lacks_thread(), refuse_if_forked() and exhausted().
class pool_core final : public std::enable_shared_from_this<pool_core>, public context_bound {
public:
    pool_core(pool_context context, pool_config config, const runtime_factory& make_runtime,
              pool_membership of_manager = {});

    /// To be called once a shared_ptr owns the core.
    void enroll();

    const strand& executor() const noexcept { return parts_.context.executor; }
    const asio::any_io_executor& user_executor() const noexcept { return parts_.context.user_executor; }
    const pool_config& config() const noexcept { return parts_.config; }
    void begin_trace(call& new_call) const {
        skep::begin_trace(new_call, parts_.context, parts_.config.tracing.sample_ratio);
    }
    event_bus& events() const noexcept { return *parts_.context.events; }
    tool_table& tools() noexcept { return parts_.tools; }
    load_view load() const noexcept { return parts_.load(); }

    /// Returns true if this process is a forked copy of the process that started the pool. The copy lacks the
    /// other threads, and one of these may have held the strand: check before entering the strand.
    bool is_forked() const noexcept {
        return is_copy_of(parts_.state.started_in.load(std::memory_order_relaxed)) || lacks_thread();
    }
    /// Returns true in a forked copy that lacks the strand's own thread, whether the pool was started or not.
    bool lacks_thread() const noexcept { return is_copy_of(parts_.context.thread_owner); }
    /// Throws error(forked) in a forked copy.
    void refuse_if_forked() const;

    /// Runs a function that was posted to the strand. An exception ends the pool.
    template <class Function>
    void guard(Function&& function) noexcept {
        parts_.limit.guard(function);
    }

    /// Returns the error of an operation whose coroutine has thrown `problem`. Exceptions other than
    /// boost::system::system_error end the pool.
    error failure_of(const std::exception_ptr& problem, bool was_cancelled) noexcept;

    /// Returns the error of an operation without memory.
    const error& exhausted() const noexcept { return exhausted_; }

    // Calls. submit() admits a call. Fails a call that could not be encoded, or that the pool's state
    // forbids.
    void submit(call& new_call);
    void take_chunks(call& streaming_call, stream_credit taken_credit);
    void check_out(lease_claim& new_lease);

    // Parts that the users' operations use. A change requires a running pool: see require_running().
    pool_parts& parts() noexcept { return parts_; }
    inspection& inspecting() noexcept { return inspection_; }
    pool_sessions& sessions() noexcept { return sessions_; }
    pool_start& starting() noexcept { return start_; }
    pool_shutdown& ending() noexcept { return shutdown_; }
    void require_running();

    /// The execution context is about to be destroyed: ends every process and thread, blocking.
    void end_now(const asio::execution_context& context) noexcept override;

private:
    void on_printed(const output_line& line);
    void break_down(const std::exception_ptr& problem) noexcept;
    void end_broken(bool was_stopping) noexcept;
    admission_facts facts_of_admission();
    error_info cause_of_refusal() const;

    call_outcomes outcomes_; ///< first: the parts refer to it
    pool_parts parts_;
    pool_start start_;
    pool_shutdown shutdown_;
    inspection inspection_;
    pool_events events_;
    pool_sessions sessions_;
    const error exhausted_; ///< made while there was memory
};

/// Makes a pool on a runtime of the caller's choice, such as a fake. The pool is enrolled with its execution
/// context.
pool make_pool(std::shared_ptr<pool_core> core);

/// Makes a pool of processes on this machine.
pool make_process_pool(asio::any_io_executor executor, pool_config config, pool_membership of_manager);

} // namespace skep
