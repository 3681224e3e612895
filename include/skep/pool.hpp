// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/abi.hpp>
#include <skep/affinity.hpp>
#include <skep/export.hpp>
#include <skep/initiate.hpp>
#include <skep/lease.hpp>
#include <skep/load_view.hpp>
#include <skep/observed_pool.hpp>
#include <skep/pool_config.hpp>
#include <skep/pool_metrics.hpp>
#include <skep/pool_operations.hpp>
#include <skep/pool_status.hpp>
#include <skep/reply.hpp>
#include <skep/reply_stream.hpp>
#include <skep/request.hpp>
#include <skep/shutdown_report.hpp>
#include <skep/tool.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/json/object.hpp>

#include <concepts>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

namespace skep {

class pool_core;

/// A completion token that does not convert to Other. Distinguishes suspend(token) from suspend(worker_id).
template <class Token, class Other>
concept token_beside = !std::convertible_to<Token, Other>;

/// A pool of worker processes.
///
/// Completion: every operation takes a completion token after its other arguments; in checkout(), `location`
/// follows the token. An operation without a token returns an awaitable for co_await. The signature is
/// void(std::exception_ptr, T), or void(std::exception_ptr) for an operation without a result; with
/// as_result, the signature is void(result<T>). T is the value type of the awaitable.
/// Executor: the pool runs on its own strand over the given executor, or on a thread of its own: see
/// pool_thread. A handler runs on its associated executor, by default get_executor(). A coroutine resumes on
/// its own executor. A handler never runs within the initiating function.
/// Allocator: a handler is stored in memory from its associated allocator. The handler of a coroutine is
/// stored without an allocation.
/// Thread safety: several threads may start operations of one pool at once. Moving, assigning and destroying
/// the pool object must not race with operations.
/// Errors: a failed operation throws skep::error. In a coroutine that is already cancelled, a co_await does
/// not begin the operation: Asio itself throws boost::system::system_error with
/// asio::error::operation_aborted.
/// Operations that list not_started need a started pool. Before start(), they fail with not_started; after a
/// start() that failed, with start_failed; in phase `failed`, with the error that ended the pool. While
/// start() runs, calls, streams, checkouts and ready() wait, and the other operations fail with not_started.
/// Memory: an operation fails with errc::out_of_memory if memory is short for the operation or for its
/// encoded request; without memory to begin, the initiating function throws std::bad_alloc. A worker whose
/// message is too large for the host's memory is ended, and its calls are lost: they end with
/// errc::worker_lost, or are sent again. The pool's own needs are small. A pool that lacks memory for its own
/// needs fails: every call and checkout ends with errc::out_of_memory, the workers are killed with their
/// process groups, and status() shows pool_phase::failed. Later calls fail at once. start() may be called
/// again; a pool_manager with restart_failed_pools does so by itself. shutdown() works as usual.
/// Forks: a pool belongs to the process that started the pool. In a forked copy of that process, every
/// operation fails at once with errc::forked, except status(), metrics(), session_worker(), forget_session()
/// and shutdown(). In the copy, shutdown() sends nothing to the workers. A pool with a thread of its own
/// belongs to the process that constructed the pool, and in a copy all operations fail. Construct and start
/// pools after fork() or daemon().
class SKEP_API pool : public observed_pool {
public:
    /// Validates `config`; starts no worker.
    /// Throws error(errc::invalid_config) with field, value and rule; std::system_error if the pool's own
    /// thread cannot be started.
    pool(boost::asio::any_io_executor executor, pool_config config);

    /// Constructs a pool on the executor of an execution context, such as an io_context.
    template <std::derived_from<boost::asio::execution_context> ExecutionContext>
    pool(ExecutionContext& context, pool_config config)
        : pool(boost::asio::any_io_executor(context.get_executor()), std::move(config)) {}

    /// Kills the workers of a pool that was not shut down, and 200 ms later the rest of their process groups.
    /// Does not block. The workers are reaped while the executor or the pool's own thread runs on, at the
    /// latest when the execution context is destroyed. Calls in progress end with errc::shutting_down.
    ///
    /// Lifetime: await shutdown(), let the coroutines that use the pool end, destroy the pool, then destroy
    /// the contexts, the pool's own last. The context of a caller must outlive the caller's calls. If the
    /// pool's context is destroyed before the pool, the destructor of the context ends the pool's processes
    /// and threads. It blocks for at most two seconds for each process that does not end. Coroutines that
    /// wait for the pool are then destroyed with their own context, without being resumed. A pool with a
    /// thread of its own, its streams and its leases may outlive an io_context that the pool was constructed
    /// with, except one behind a strand. During the destructor of the context, no other thread may use them.
    /// Afterwards, only coroutines of another context may await operations; they are destroyed.
    ~pool() override;

    pool(pool&&) noexcept;
    pool& operator=(pool&&) noexcept; ///< ends the workers of the old pool, as the destructor does

    /// Returns pool_config::name. The reference is valid as long as the pool.
    const std::string& name() const noexcept override;

    /// Returns the configuration, as the pool was constructed with it. The reference is valid as long as the
    /// pool. Thread safety: may be called from any thread.
    const pool_config& config() const noexcept;

    /// Returns the configuration as JSON, for people: see observed_pool.
    boost::json::object configuration() const override;

    /// Returns the executor that the pool was constructed with.
    boost::asio::any_io_executor get_executor() const noexcept override;

    /// Starts the workers in batches. Returns when pool_config::min_ready workers are ready. The other
    /// workers come up in the background, and failed starts are tried again. Calls made meanwhile wait in the
    /// queue, within their limits.
    /// Errors: start_failed (see below), already_started, shutting_down, cancelled.
    /// start_failed: the first attempt of every worker has ended and too few workers came up, a process could
    /// not be created, or the initialization delegate refused. Carries the cause and the output tail of the
    /// last failure. All workers are stopped again. Calls that waited fail with start_failed, and so do later
    /// calls. start() may be repeated.
    /// Cancellation (all types): the wait ends with cancelled; the pool goes on starting. Use shutdown() to
    /// stop the pool.
    boost::asio::awaitable<void> start();
    template <class CompletionToken>
    auto start(CompletionToken&& token) {
        return begin<void>(detail::operations::start, std::forward<CompletionToken>(token));
    }

    /// Waits until at least `count` workers are up: ready, busy, degraded or suspended. The wait has no time
    /// limit: if `count` exceeds the size of the pool, the wait lasts until resize() or autoscaling adds
    /// workers.
    /// `count`: 0..10,000.
    /// Errors: invalid_config (`count` is out of range), not_started, start_failed (if a pool_manager starts
    /// the pool again, the wait goes on instead), unavailable (see restart_options::limit), shutting_down,
    /// cancelled.
    /// Cancellation (all types): the wait ends with cancelled.
    boost::asio::awaitable<void> ready(std::size_t count);
    template <class CompletionToken>
    auto ready(std::size_t count, CompletionToken&& token) {
        return begin<void>(detail::operations::ready, std::forward<CompletionToken>(token), count);
    }

    /// Runs one call and returns its answer. call_interface has the overloads: execute(request) and
    /// execute(command, arguments) return a reply; execute<T>() returns the value of the reply as a T. The
    /// request is encoded on the caller's executor. Each call ends with exactly one reply or error.
    ///
    /// A call that a dead worker had not received is sent to another worker. A call that the dead worker had
    /// received is sent again only if request::idempotent is set, as pool_config::retry says. A call whose
    /// session is strictly bound to the dead worker fails instead.
    /// Errors: remote_error (the worker's exception), unknown_command, invalid_arguments, pool_saturated,
    /// queue_timeout, no_worker, timeout, cancelled, worker_lost, unavailable, poisonous_request,
    /// invalid_request, out_of_memory, tool_cycle (only a call that a tool makes), worker_busy,
    /// session_worker_unavailable and session_quota_exceeded (only a call of a strict session: see
    /// affinity_options), frame_too_large, not_started, start_failed, shutting_down; invalid_config after a
    /// custom scheduler has failed the pool: the scheduler threw, or picked a slot that was not on offer.
    /// In a pool whose workers are nodes, also here and below: no_node and node_lost instead of no_worker and
    /// worker_lost.
    /// Cancellation: a queued call is removed at once (all types). A running call ends at once with cancelled
    /// (terminal and partial): its worker is notified, and replaced if the worker still runs the call after
    /// cancel_grace. Total cancellation of a running call is ignored, because the effects of the call cannot
    /// be undone.
    using call_interface::execute;
    call_operation prepare(request call) override;

    /// Starts a call whose answer comes in chunks, and returns when a worker has the call. Streams wait in
    /// the queue like calls. The stream of a command that yields nothing has no chunk, only a result.
    /// Errors: the errors that execute() reports before a worker has the call. reply_stream::next() throws
    /// later errors.
    /// Cancellation: as for a queued call of execute().
    using call_interface::stream;
    stream_operation prepare_stream(request call) override;

    /// Reserves a worker, or one place of a worker that runs several calls at a time, for an uninterrupted
    /// sequence of calls. Checkouts wait in the queue like calls, in the same order. A whole worker is handed
    /// over when its present calls have ended. A leased worker is not recycled, restarted or scaled down. If
    /// the worker fails, the lease is lost as well. The lease ends early if the pool shuts down or is
    /// destroyed, or if resize() removes the worker. A lease does not delay a shutdown.
    /// `location`: appears in the warning about a lease that is held for too long.
    /// Errors: pool_saturated, queue_timeout, no_worker, cancelled, unavailable, not_started, start_failed,
    /// shutting_down; invalid_config (an option is out of range, or excludes another); frame_too_large and
    /// invalid_request (the reset call cannot be sent); invalid_session (the session id is not 1..256 bytes
    /// of UTF-8).
    /// Errors if the options insist on one worker, or on the worker of a session: worker_busy (the worker has
    /// no room, and waiting is not allowed), unknown_worker (the worker is gone), session_worker_unavailable
    /// (the session's worker is gone), session_quota_exceeded.
    /// Cancellation (all types): the wait ends with cancelled, and no worker is taken.
    boost::asio::awaitable<lease> checkout(checkout_options options = {},
                                           std::source_location location = std::source_location::current());
    template <class CompletionToken>
    auto checkout(checkout_options options, CompletionToken&& token,
                  std::source_location location = std::source_location::current()) {
        return begin<lease>(detail::operations::check_out, std::forward<CompletionToken>(token),
                            std::move(options), location);
    }

    /// Adds a tool: a function of the host that the workers' code can call during a call. See tool_handler;
    /// request::tool adds a tool for one call. A tool cannot be removed. Calls that are submitted afterwards
    /// find the tool.
    /// Throws at once: error(errc::invalid_config) if `name` is not [A-Za-z0-9][A-Za-z0-9_.-]* of at most 64
    /// characters, or is taken, or if the handler is empty.
    /// Thread safety: may be called from any thread.
    void register_tool(std::string name, tool_handler handler);

    /// Returns the bus with the events of the pool, and of all pools that share the bus: see event_bus. The
    /// reference is valid as long as the pool. Shutdown ends the waits on the pool's own bus, but not the
    /// waits on a shared bus.
    event_bus& events() noexcept override;

    /// Forgets the worker of the session: the session's next call goes to any worker, like the call of a new
    /// session. Use this when a session is over, or when a strict call has failed with
    /// errc::session_worker_unavailable: the worker, and its memory of the session, are gone. Returns false
    /// if the pool knows no worker that serves, or has served, the session. Fails only with out_of_memory;
    /// answers in every phase.
    /// Cancellation: none; the operation does not wait.
    boost::asio::awaitable<bool> forget_session(std::string id);
    template <class CompletionToken>
    auto forget_session(std::string id, CompletionToken&& token) {
        return begin<bool>(detail::operations::forget_session, std::forward<CompletionToken>(token),
                           std::move(id));
    }

    /// Returns the worker that serves, or has served, the session, and the state of that worker. Returns an
    /// empty optional if the pool knows no such worker. Fails only with out_of_memory; answers in every
    /// phase.
    /// Cancellation: none; the operation does not wait.
    boost::asio::awaitable<std::optional<session_binding>> session_worker(std::string id);
    template <class CompletionToken>
    auto session_worker(std::string id, CompletionToken&& token) {
        return begin<std::optional<session_binding>>(detail::operations::session_worker,
                                                     std::forward<CompletionToken>(token), std::move(id));
    }

    /// Binds the session to a worker. The session's next calls go to that worker, and so do calls of the
    /// session that wait for another worker. Calls that another worker has received stay there. Counts as a
    /// use of the session, and is recorded in pool_config::sessions.
    /// `mode`: `hint` lets a later call take the session elsewhere, a strict mode does not. Default:
    /// affinity.mode. A session that is already strictly bound to that worker stays strictly bound.
    /// Errors, without effect on the session: unknown_worker (no such worker is up, or the worker is
    /// leaving), invalid_session (`id` is not 1..256 bytes of UTF-8), session_quota_exceeded (as for a strict
    /// call: see affinity_options::limit), not_started, start_failed, shutting_down, forked.
    /// Cancellation: none; the operation does not wait.
    boost::asio::awaitable<void> bind_session(std::string id, worker_id worker,
                                              std::optional<affinity_mode> mode = std::nullopt);
    template <class CompletionToken>
    auto bind_session(std::string id, worker_id worker, std::optional<affinity_mode> mode,
                      CompletionToken&& token) {
        return begin<void>(detail::operations::bind_session, std::forward<CompletionToken>(token),
                           std::move(id), std::move(worker), mode);
    }

    /// Returns the present load without a wait, for decisions about each call, such as the choice between
    /// pools. Each figure is up to date. While calls come and go, the figures are not consistent with each
    /// other. All figures are 0 before start() and after shutdown(). A forked copy returns the load at the
    /// time of the fork.
    /// Thread safety: may be called from any thread. Takes no lock.
    load_view load() const noexcept override;

    /// Returns one consistent snapshot. Fails only with out_of_memory; answers in every phase.
    /// Cancellation: none; the operation does not wait.
    boost::asio::awaitable<pool_status> status();
    template <class CompletionToken>
    auto status(CompletionToken&& token) {
        return begin<pool_status>(detail::operations::status, std::forward<CompletionToken>(token));
    }

    /// Returns status(), a histogram of the time that workers took to become ready, and the outcomes and
    /// times of the calls of each command: see pool_config::metrics. Totals since the construction of the
    /// pool. Fails only with out_of_memory; answers in every phase.
    /// Cancellation: none; the operation does not wait.
    boost::asio::awaitable<pool_metrics> metrics() override;
    template <class CompletionToken>
    auto metrics(CompletionToken&& token) {
        return begin<pool_metrics>(detail::operations::metrics, std::forward<CompletionToken>(token));
    }

    /// Takes one worker, or the whole pool, out of service, and keeps the processes. Returns when the present
    /// calls are answered. Until resume(), new calls go to other workers; if the whole pool is suspended,
    /// they wait in the queue, within their own limits. Workers that come up in a suspended pool are
    /// suspended, also after a failure of the pool and a new start(). A suspended worker is not probed or
    /// recycled automatically; shutdown() ends suspended workers like all others. Idempotent.
    /// Errors: unknown_worker (no such worker is up, or the worker ended meanwhile), not_started,
    /// shutting_down, cancelled (by the caller, or because resume() came first).
    /// Cancellation (all types): the wait ends with cancelled; the suspension goes on.
    boost::asio::awaitable<void> suspend(worker_id id);
    template <class CompletionToken>
    auto suspend(worker_id id, CompletionToken&& token) {
        return begin<void>(detail::operations::suspend, std::forward<CompletionToken>(token), std::move(id));
    }
    boost::asio::awaitable<void> suspend();
    template <token_beside<worker_id> CompletionToken>
    auto suspend(CompletionToken&& token) {
        return begin<void>(detail::operations::suspend_all, std::forward<CompletionToken>(token));
    }

    /// Undoes suspend(). A suspend() that still waits ends with cancelled. Idempotent.
    /// Errors: unknown_worker (no such worker is up or coming up), not_started, shutting_down, cancelled.
    /// Cancellation (all types): only before the operation runs on the pool's strand. The operation then
    /// ends with cancelled and has no effect.
    boost::asio::awaitable<void> resume(worker_id id);
    template <class CompletionToken>
    auto resume(worker_id id, CompletionToken&& token) {
        return begin<void>(detail::operations::resume, std::forward<CompletionToken>(token), std::move(id));
    }
    boost::asio::awaitable<void> resume();
    template <token_beside<worker_id> CompletionToken>
    auto resume(CompletionToken&& token) {
        return begin<void>(detail::operations::resume_all, std::forward<CompletionToken>(token));
    }

    /// Probes the health of one worker as soon as the worker has a free place, regardless of the routine
    /// probes. A suspended worker is probed after resume(). The result has the usual consequences of a probe
    /// (see health_check_options). Returns the result; a failed probe is no error: see probe_result::passed.
    /// Errors: unknown_worker (no such worker is up, or the worker left meanwhile), unknown_command (the
    /// worker has no health check: see health_check_options), not_started, shutting_down, cancelled.
    /// Cancellation (all types): the wait ends with cancelled; the probe goes on.
    boost::asio::awaitable<probe_result> probe(worker_id id);
    template <class CompletionToken>
    auto probe(worker_id id, CompletionToken&& token) {
        return begin<probe_result>(detail::operations::probe, std::forward<CompletionToken>(token),
                                   std::move(id));
    }

    /// Probes at the same time all workers that are up and have a health check. Returns the results in the
    /// order of the slots (worker_id::slot). A worker that is suspended, or that ends meanwhile, has no
    /// result.
    /// Errors: not_started, shutting_down, cancelled.
    /// Cancellation (all types): the wait ends with cancelled; the probes go on.
    boost::asio::awaitable<std::vector<probe_result>> probe();
    template <token_beside<worker_id> CompletionToken>
    auto probe(CompletionToken&& token) {
        return begin<std::vector<probe_result>>(detail::operations::probe_all,
                                                std::forward<CompletionToken>(token));
    }

    /// Sends one worker a ping in addition to the pings of the heartbeat, and returns the time until the
    /// answer. A worker without a control channel (stdio) answers between two calls. A missing answer has no
    /// consequences for the worker: only the heartbeat decides about a replacement.
    /// Errors: unknown_worker (no such worker is up, or the worker left meanwhile), timeout (no answer within
    /// heartbeat.timeout), not_started, shutting_down, cancelled.
    /// Cancellation (all types): the wait ends with cancelled.
    boost::asio::awaitable<duration> ping(worker_id id);
    template <class CompletionToken>
    auto ping(worker_id id, CompletionToken&& token) {
        return begin<duration>(detail::operations::ping, std::forward<CompletionToken>(token), std::move(id));
    }

    /// Waits until a worker has ended, and returns its exit. Returns at once for each of the last 64 workers
    /// that ended. Works in every phase.
    /// Errors: unknown_worker (such a worker never existed, or more than 64 workers have ended since),
    /// cancelled, forked.
    /// Cancellation (all types): the wait ends with cancelled.
    boost::asio::awaitable<worker_exit> ended(worker_id id);
    template <class CompletionToken>
    auto ended(worker_id id, CompletionToken&& token) {
        return begin<worker_exit>(detail::operations::ended, std::forward<CompletionToken>(token),
                                  std::move(id));
    }

    /// Makes a worker, such as one that is busy with a long call, print the stacks of all its threads, and
    /// returns them in the format of Python's faulthandler. The worker goes on undisturbed. The lines are
    /// left out of the log, of events and of output_options::handler. Works in every phase, also for a worker
    /// that hangs in its start hooks. Takes 0.1 s: the stacks are complete when the worker is silent for so
    /// long.
    /// Returns UTF-8 text, at most 1 MiB. Lines beyond output_options::lines_per_second are missing.
    /// Errors: unknown_worker (no such process runs, or it ended meanwhile), unknown_command (no signal makes
    /// the worker print its stacks: a worker in C++, over stdio or behind a launcher, or a Python worker that
    /// uses both SIGUSR1 and SIGUSR2), timeout (no stacks within 2 s), shutting_down, cancelled, forked.
    /// Cancellation (all types): the wait ends with cancelled.
    boost::asio::awaitable<std::string> stacks(worker_id id);
    template <class CompletionToken>
    auto stacks(worker_id id, CompletionToken&& token) {
        return begin<std::string>(detail::operations::stacks, std::forward<CompletionToken>(token),
                                  std::move(id));
    }

    /// Replaces one worker, or all workers that are up or coming up, at most recycle.max_recycling at a time.
    /// As in recycling, the new worker is ready before the old one leaves, and calls in flight finish. An old
    /// worker leaves only when its leases have been given back, and its strictly bound sessions have ended or
    /// moved: see affinity_options::on_recycle. This wait has no time limit. Returns when the last old worker
    /// has ended.
    /// Errors: restart_failed (a new worker did not come up, with its cause; the remaining old workers go on
    /// serving), unknown_worker, not_started, shutting_down, cancelled.
    /// Cancellation (all types): the wait ends with cancelled; the restart goes on.
    boost::asio::awaitable<void> restart(worker_id id);
    template <class CompletionToken>
    auto restart(worker_id id, CompletionToken&& token) {
        return begin<void>(detail::operations::restart, std::forward<CompletionToken>(token), std::move(id));
    }
    boost::asio::awaitable<void> rolling_restart();
    template <class CompletionToken>
    auto rolling_restart(CompletionToken&& token) {
        return begin<void>(detail::operations::restart_all, std::forward<CompletionToken>(token));
    }

    /// Changes the limits for the number of workers, and brings the number within `limits` at once. Calls in
    /// flight on surplus workers finish. Between the limits, autoscaling decides. After repeated resizing,
    /// a slot with two surplus workers that finish their calls gets its next worker once one of the two ends.
    /// `limits`: min is 1..10,000, max is min..10,000.
    /// Errors: invalid_config (`limits` is out of range, or min exceeds the number of workers that
    /// max_workers of the pool_manager leaves to this pool), not_started, shutting_down, cancelled.
    /// Cancellation: as resume().
    boost::asio::awaitable<void> resize(size_limits limits);
    template <class CompletionToken>
    auto resize(size_limits limits, CompletionToken&& token) {
        return begin<void>(detail::operations::resize, std::forward<CompletionToken>(token), limits);
    }

    /// Shuts the pool down, in three steps. First, a start() that still runs ends with shutting_down, and the
    /// pool admits no more calls, except calls that tools make for accepted calls. Second, the pool drains:
    /// accepted calls may finish within stop.drain_timeout, and checkouts that wait fail with shutting_down.
    /// Queued calls fail with shutting_down at once if all remaining workers are suspended, or no worker is
    /// left. Third, every worker goes through the stop sequence. Afterwards no child, zombie, descriptor or
    /// thread of the pool is left. Takes at most drain_timeout + shutdown_grace + term_grace + reap_timeout,
    /// and up to 0.7 s for the last output and the process groups of the workers. Idempotent: later and
    /// concurrent calls return the same report.
    /// Cancellation (all types): the wait ends with cancelled; the shutdown goes on.
    boost::asio::awaitable<shutdown_report> shutdown();
    template <class CompletionToken>
    auto shutdown(CompletionToken&& token) {
        return begin<shutdown_report>(detail::operations::shut_down, std::forward<CompletionToken>(token));
    }

private:
    friend pool make_pool(std::shared_ptr<pool_core> core);
    friend class pool_manager;

    explicit pool(std::shared_ptr<pool_core> core) : core_(std::move(core)) {}

    template <class T, class CompletionToken, class... Params, class... Args>
    auto begin(void (*operation)(const std::shared_ptr<pool_core>&, completion<T>&&, Params...),
               CompletionToken&& token, Args... args) {
        auto start = [core = core_, operation](completion<T>&& caller, Args... parameters) {
            operation(core, std::move(caller), std::move(parameters)...);
        };
        const auto executor = [this] { return get_executor(); };
        return detail::initiate<T>(std::forward<CompletionToken>(token), executor, std::move(start),
                                   std::move(args)...);
    }

    std::shared_ptr<pool_core> core_;
};

} // namespace skep
