// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/task_group.hpp"
#include "async/waiter.hpp"
#include "policy/error_streaks.hpp"
#include "pool/autoscaler.hpp"
#include "pool/dispatcher.hpp"
#include "pool/supervisor.hpp"
#include "runtime/pool_context.hpp"
#include "runtime/runtime.hpp"
#include "telemetry/log.hpp"
#include <skep/pool.hpp>
#include <skep/pool_config.hpp>
#include <skep/pool_status.hpp>
#include <skep/shutdown_report.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <variant>

namespace skep {

/// Makes the runtime of a pool. `sink` takes the workers' output.
using runtime_factory =
    std::function<std::unique_ptr<runtime>(const pool_context&, const pool_config&, output_handler sink)>;

/// What is behind a pool: its phases, and the hand-over between the workers and the calls. Everything but the
/// constructor, executor() and limits() runs on the strand.
class pool_core final : public std::enable_shared_from_this<pool_core>,
                        private answer_handler,
                        private dispatcher_events {
public:
    using start_waiter = worker_waiters::caller_ptr;
    using shutdown_waiter = std::shared_ptr<waiter<shutdown_report>>;

    pool_core(pool_context context, pool_config config, const runtime_factory& make_runtime);

    const strand& executor() const noexcept { return context_.executor; }
    const limit_options& limits() const noexcept { return config_.limits; }

    void start(start_waiter caller);
    void ready(std::size_t count, start_waiter caller);

    /// Takes a call, or refuses it: for its failure to be encoded, or because of the pool's phase.
    void submit(call& fresh);
    void cancel(call& given_up, asio::cancellation_type type) { dispatcher_.cancel(given_up, type); }
    void shutdown(shutdown_waiter caller);

    // Changes that are asked for. Each completes its caller when it is done.
    void restart(const worker_id& which, start_waiter caller);
    void restart_all(start_waiter caller);
    void suspend(const worker_id& which, start_waiter caller);
    void suspend_all(start_waiter caller);
    void resume(const worker_id& which, start_waiter caller);
    void resume_all(const start_waiter& caller);
    void resize(size_limits limits, const start_waiter& caller);

    pool_status status();

    /// The pool object is gone: ends everything, without waiting for calls.
    void abandon();

    /// The execution context is about to be destroyed: ends every process and thread, blocking.
    void end_now() noexcept;

    /// What a caller gets that stops waiting for start() or shutdown().
    error cancelled() const;

private:
    using loop = std::function<asio::awaitable<void>()>;

    asio::awaitable<void> run_start();
    void start_loop(loop body);
    asio::awaitable<void> keep_going(loop body);
    asio::awaitable<void> launch_until_ready();
    asio::awaitable<void> undo_start();
    void complete_start(const std::optional<error>& problem);
    void tell_ready();
    void fail_ready(const error& why);
    asio::awaitable<void> run_shutdown();
    void give_up_queue_if_hopeless();
    asio::awaitable<void> take_down(stop_stage first);
    void begin_shutdown();

    bool refuse_unless_running(const start_waiter& caller);
    error failure(errc code, error_info info = {}) const;
    error_info last_cause() const;
    error start_failure(std::size_t came_up) const;
    error unavailable() const { return failure(errc::unavailable, last_cause()); }
    void handle_output(const output_line& line) noexcept;
    void log_output(const output_line& line);

    void on_result(worker& from, call& answered, result_message& answer) override;
    void on_remote_error(worker& from, call& answered, error_message& answer) override;
    void on_answer_lost(worker& from, call& answered) override;
    void on_begun_in_vain(call& begun) override { dispatcher_.on_begun_in_vain(begun); }

    // What its workers have told, and what is done about it.
    void wake_for_events();
    void apply_events();
    void apply(worker& from, const came_up& fact);
    void apply(worker& from, const room_changed& fact);
    void apply(worker& from, const went_wrong& fact);
    void apply(worker& from, const used_up& fact);
    void apply(worker& from, const was_suspended& fact);
    void apply(worker& from, const pings_missed& fact);
    void apply(worker& from, const left_service& fact);
    void apply(worker& from, const calls_lost& fact);
    void apply(worker& from, const ended& fact);
    void log_end(const worker& gone) const;

    void on_overdue(worker& at) override;
    void on_timeout(worker& at, const call& given_up) override { note_failed_call(at, given_up, "timeout"); }
    void note_failed_call(worker& at, const call& failed, const std::string& kind);
    error_info cause_of_refusal() const override;
    std::string shortage() const override;
    void on_waiting() override { autoscaler_.on_waiting(); }

    pool_context context_;
    pool_config config_;
    pool_log log_;
    std::unique_ptr<runtime> runtime_;
    event_queue events_;
    worker_surroundings around_;
    dispatcher dispatcher_;
    supervisor supervisor_;
    autoscaler autoscaler_;
    error_streaks streaks_;
    task_group loops_;  ///< reconciler and deadlines
    task_group phases_; ///< start and shutdown
    pool_phase phase_ = pool_phase::created;
    bool hurry_ = false;
    std::uint64_t unhealthy_terminated_ = 0;
    waiter_list<std::monostate> start_callers_;
    waiter_list<shutdown_report> shutdown_callers_;
    std::vector<std::pair<std::size_t, start_waiter>> ready_callers_; ///< each waits for so many workers
    gate start_ended_;
    std::optional<error> undone_for_; ///< while a start that has failed is undone
    shutdown_report report_;
};

/// A pool on a runtime of the caller's choice, such as a fake, watched over by its execution context.
pool make_pool(std::shared_ptr<pool_core> core);

} // namespace skep
