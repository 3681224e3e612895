// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/boundary.hpp"
#include "async/condition.hpp"
#include "async/context_guard.hpp"
#include "async/task_group.hpp"
#include "policy/admission.hpp"
#include "policy/error_streaks.hpp"
#include "policy/worker_budget.hpp"
#include "pool/autoscaler.hpp"
#include "pool/demand/call_tracing.hpp"
#include "pool/demand/dispatcher.hpp"
#include "pool/demand/lease_desk.hpp"
#include "pool/pool_hooks.hpp"
#include "pool/supply/inspection.hpp"
#include "pool/supply/supervisor.hpp"
#include "pool/supply/suspension.hpp"
#include "pool/user_waits.hpp"
#include "process/process_generation.hpp"
#include "runtime/pool_context.hpp"
#include "runtime/runtime.hpp"
#include "session/session_observer.hpp"
#include "telemetry/log.hpp"
#include <skep/pool.hpp>
#include <skep/pool_config.hpp>
#include <skep/pool_status.hpp>
#include <skep/shutdown_report.hpp>

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>

namespace skep {

/// Makes the runtime of a pool. `sink` takes the workers' output.
using runtime_factory =
    std::function<std::unique_ptr<runtime>(const pool_context&, const pool_config&, output_handler sink)>;

/// What a pool_manager gives to a pool of its own.
struct pool_membership {
    worker_share share;
    bool starts_again = false; ///< a start that has failed is tried again, with the backoff of restarts
};

/// What is behind a pool: its phases, and the hand-over between the workers and the calls. Everything but the
/// constructor, executor(), name(), limits(), streams(), begin_trace(), tools(), events(), is_forked() and refuse_if_forked() runs on the strand.
class pool_core final : public std::enable_shared_from_this<pool_core>,
                        public context_bound,
                        public session_observer,
                        private answer_handler {
public:
    pool_core(pool_context context, pool_config config, const runtime_factory& make_runtime,
              pool_membership of_manager = {});

    const strand& executor() const noexcept { return context_.executor; }
    const std::string& name() const noexcept { return config_.name; }
    const limit_options& limits() const noexcept { return config_.limits; }
    const stream_options& streams() const noexcept { return config_.stream; }
    void begin_trace(call& fresh) const { skep::begin_trace(fresh, context_, config_.tracing.sample_ratio); }
    event_bus& events() const noexcept { return *context_.events; }

    /// Whether this process is a forked copy of the one that started the pool. The threads of that process are not in it,
    /// which may have held the strand: it is asked before the strand is entered.
    bool is_forked() const noexcept {
        const auto started_in = started_in_.load(std::memory_order_relaxed);
        return started_in != 0 && started_in != process_generation();
    }
    /// Throws error(forked).
    void refuse_if_forked() const;

    /// Runs what has been posted to the strand: what it throws ends the pool.
    template <class Function>
    void guard(Function&& function) noexcept {
        boundary_.guard(function);
    }

    /// What an operation ends with whose coroutine has thrown `problem`. The pool ends with it, unless that is the caller's.
    error failure_of(const std::exception_ptr& problem, bool was_cancelled) noexcept;

    /// There is no memory for one operation.
    const error& exhausted() const noexcept { return exhausted_; }

    // Calls. submit() takes one on, or refuses it: because it could not be encoded, or for the state of the pool.
    void submit(call& fresh);
    void take_chunks(call& from, stream_credit taken);
    void check_out(lease_claim& fresh);
    lease_desk& leases() noexcept { return leases_; }
    void cancel(call& given_up, asio::cancellation_type type) { dispatcher_.cancel(given_up, type); }

    // What users wait for. Each is a coroutine that ends when it is done, or throws; cancelling ends the wait only.
    asio::awaitable<void> start();
    asio::awaitable<void> ready(std::size_t count);
    asio::awaitable<shutdown_report> shutdown();

    // Changes, for a pool that is running: see require_running().
    suspension& suspending() noexcept { return suspension_; }
    inspection& inspecting() noexcept { return inspection_; }
    replacement& replacing() noexcept { return supervisor_.replacing(); }
    autoscaler& scaling() noexcept { return autoscaler_; }
    asio::awaitable<void> resume_all() {
        autoscaler_.look_again();
        return suspension_.resume_all();
    }
    void require_running();

    /// Follows what becomes of the sessions in its store, if it has one.
    void watch_sessions();
    void on_session_removed(const std::string& id) noexcept override;
    void on_session_expired(const std::string& id, time_point expired) noexcept override;
    bool forget_session(const std::string& id) { return dispatcher_.forget_session(id); }
    std::optional<session_binding> session_worker(const std::string& id);
    void bind_session(const std::string& id, const worker_id& to, std::optional<affinity_mode> mode);

    user_waits& waits() noexcept { return waits_; }
    tool_table& tools() noexcept { return tools_; }

    /// Acts on what has happened so far.
    void settle() { events_.settle(); }
    pool_status status();
    pool_metrics metrics();

    /// The pool object is gone: ends everything, without waiting for calls.
    void abandon();

    /// The execution context is about to be destroyed: ends every process and thread, blocking.
    void end_now(const asio::execution_context& context) noexcept override;

    error failure(errc code, error_info info = {}) const;

private:
    /// One call of start().
    struct start_attempt {
        time_point began;
        bool is_over = false;
        std::optional<error> problem;
        std::optional<error> undone_for; ///< while it has failed and is being undone
    };

    void begin_start(std::shared_ptr<start_attempt> mine);
    asio::awaitable<void> run_start();
    asio::awaitable<void> bring_up();
    asio::awaitable<bool> prepare();
    asio::awaitable<void> launch_until_ready();
    asio::awaitable<void> undo_start();
    void complete_start(std::optional<error> problem);
    void plan_another_start();
    asio::awaitable<void> start_again(time_point when, unsigned planned_by);
    const error* failed_start() const noexcept;
    void begin_shutdown();
    asio::awaitable<void> run_shutdown();
    void give_up_queue_if_hopeless();
    asio::awaitable<void> take_down(stop_stage first);
    asio::awaitable<void> name_stragglers(time_point began);
    std::string describe_stragglers(duration waited);
    std::string describe_state();
    task_group make_group();
    void run_in(task_group& group, asio::awaitable<void> body) {
        group.spawn(shared_from_this(), std::move(body));
    }
    void break_down(const std::exception_ptr& problem) noexcept;
    void end_broken(bool was_stopping) noexcept;
    void end_shutdown() noexcept;

    admission_facts facts_of_admission();
    error_info last_cause() const;
    error start_failure(std::size_t came_up) const;
    void handle_output(const output_line& printed) noexcept;
    template <class HandOn>
    void hand_on_output(HandOn hand_on) noexcept;
    void tell_printed(const output_line& line) const noexcept;
    void log_line_of_worker(log_level level, const output_line& line, const worker* by) const;
    void log_record_of_worker(const worker& by, const log_message& said, const std::string& label) const;

    void on_result(worker& sender, call& answered, result_message& answer, time_point now) override;
    void on_remote_error(worker& sender, call& answered, error_message& answer) override;
    void on_log(const worker& sender, const log_message& said) noexcept override;
    void on_chunk(call& receiver, chunk_message& piece) override { dispatcher_.on_chunk(receiver, piece); }
    void on_begun_in_vain(call& begun) override { dispatcher_.on_begun_in_vain(begun); }
    bool may_be_probed(const worker& one) const noexcept override { return roster_.may_be_probed(one); }

    void note_failed_call(worker& at, const call& failed, const std::string& how);
    error_info cause_of_refusal() const;
    std::string shortage() const;
    asio::awaitable<void> watch_deadlines();
    void refuse_circles();
    std::size_t fail_queue(errc code, const error_info& info);
    std::size_t abort_all(errc code);

    /// To be called after whatever may have callers wait.
    void note_waiting() {
        if (dispatcher_.next_for_any() != nullptr) {
            autoscaler_.on_waiting();
        }
    }
    void forget_session_soon(const std::string& id, std::optional<time_point> expired) noexcept;
    bool may_get_more_workers() const {
        const bool grows = roster_.out_of_rotation() > 0 || autoscaler_.may_grow();
        return roster_.starting() > 0 || (phase_ != pool_phase::stopping && grows);
    }

    // What its workers have told, and what is done about it.
    void wake_for_events();
    void apply_events();
    void apply(worker& subject, const came_up& fact);
    void apply(worker& subject, const room_changed& fact);
    void apply(worker& subject, const went_wrong& fact);
    void apply(worker& subject, const used_up& fact);
    void apply(worker& subject, const was_suspended& fact);
    void apply(worker& subject, const was_resumed& fact);
    void apply(worker& subject, const was_restored& fact);
    void log_change(const worker& subject, const char* what) const;
    void apply(worker& subject, const pings_missed& fact);
    void apply(worker& subject, const left_service& fact);
    void apply(worker& subject, const calls_lost& fact);
    void apply(worker& subject, const ended& fact);
    void record_end(const worker& gone);
    void tell_end(const worker& gone) const;
    void tell_availability();
    void log_end(const worker& gone) const;

    pool_context context_;
    pool_config config_;
    pool_log log_;
    std::unique_ptr<runtime> runtime_;
    boundary boundary_;
    event_queue events_;
    tool_table tools_;
    worker_surroundings around_;
    condition changed_; ///< the phase, or something about a worker
    dispatcher dispatcher_;
    lease_desk leases_;
    roster roster_;
    supervisor supervisor_;
    suspension suspension_;
    inspection inspection_;
    autoscaler autoscaler_;
    pool_hooks hooks_;
    error_streaks streaks_;
    task_group supply_;     ///< what has workers started and replaced, until the shutdown begins
    task_group demand_;     ///< the deadlines, until it ends
    task_group phases_;     ///< start and shutdown
    task_group starts_;     ///< the next try of a start that has failed, until the shutdown begins
    task_group stragglers_; ///< what names those that a shutdown waits for, until nobody is left
    user_waits waits_;
    pool_phase phase_ = pool_phase::created;
    std::atomic<unsigned> started_in_ = 0; ///< the process_generation(); 0 unless started
    bool hurry_ = false;
    bool was_available_ = true;          ///< when last told
    const error exhausted_;              ///< made while there was memory
    std::unique_ptr<std::byte[]> spare_; ///< given back before callers are told of the failure
    std::optional<error> broken_;        ///< what the pool has failed with
    std::shared_ptr<start_attempt> start_;
    const bool starts_again_;
    int failed_starts_ = 0; ///< in a row
    shutdown_report report_;
    std::size_t ready_waiters_ = 0; ///< in ready()
};

/// A pool on a runtime of the caller's choice, such as a fake, watched over by its execution context.
pool make_pool(std::shared_ptr<pool_core> core);

/// A pool of processes on this machine.
pool make_process_pool(asio::any_io_executor executor, pool_config config, pool_membership of_manager);

} // namespace skep
