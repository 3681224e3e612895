// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/abi.hpp>
#include <skep/affinity.hpp>
#include <skep/call_interface.hpp>
#include <skep/export.hpp>
#include <skep/initiate.hpp>
#include <skep/lease.hpp>
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

#include <concepts>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

namespace skep {

class pool_core;

/// A completion token, where an argument of type Other may stand as well.
template <class Token, class Other>
concept token_beside = !std::convertible_to<Token, Other>;

/// A pool of worker processes.
///
/// Completion: every operation takes a completion token last, and is co_awaited without one. The signature is
/// void(std::exception_ptr, T), or void(std::exception_ptr) without a result; with as_result, void(result<T>). T is the type
/// that the operation's comment says it returns.
/// Executor: the pool runs on its own strand over the given executor. A handler runs on its associated executor, a coroutine on
/// its own, by default on get_executor(); never from within the initiating function.
/// Allocator: the handler is kept in memory of its associated allocator; a coroutine's handler takes none.
/// Thread safety: operations of one pool may be started from several threads at once. Moving, assigning and
/// destroying the pool object must not race with them.
/// Errors: every operation throws skep::error. (In a coroutine that has been cancelled already, Asio itself throws
/// boost::system::system_error with asio::error::operation_aborted from the co_await; nothing was begun then.)
/// Memory: an operation that lacks memory on the caller's side fails with errc::out_of_memory, as does a call whose frame
/// lacks memory. A worker whose message is too large for the host's memory is ended, and its calls end with
/// errc::worker_lost. The pool fails if it lacks memory for its own needs, which are small: every call and checkout ends
/// with errc::out_of_memory, the workers are killed with their groups, and status() shows pool_phase::failed. Later calls
/// fail at once. start() may be called again, and a pool_manager with restart_failed_pools does so by itself; shutdown()
/// works as ever.
/// Forks: a pool belongs to the process that has started it. In a forked copy every operation fails at once with
/// errc::forked, but for status(), metrics(), forget_session(), and shutdown(), which sends nothing to the workers. Make
/// and start pools after fork() or daemon().
class SKEP_API pool : public call_interface {
public:
    /// Validates `config`; starts nothing. Throws errc::invalid_config naming field, value and rule.
    pool(boost::asio::any_io_executor executor, pool_config config);

    /// The same on the executor of an execution context, such as an io_context.
    template <std::derived_from<boost::asio::execution_context> ExecutionContext>
    pool(ExecutionContext& context, pool_config config)
        : pool(boost::asio::any_io_executor(context.get_executor()), std::move(config)) {}

    /// A pool that was not shut down kills its workers, and 200 ms later the rest of their process groups; they are reaped as
    /// the executor runs on, or at the latest when the execution context is destroyed. Calls in progress end with
    /// errc::shutting_down. Does not block.
    ///
    /// The pool uses its execution context until then, and a call that of its caller: as Asio's rule says of any
    /// object, the context must outlive both. The safe order is: await shutdown(), let the coroutines that use the
    /// pool end, destroy the pool, then the contexts, the pool's own last. A context that is destroyed with a pool
    /// alive in it ends the pool's processes and threads first, blocking for at most two seconds for each process that
    /// does not end; coroutines that wait for the pool are then destroyed with their own context, unresumed. A caller's
    /// context of its own must not be destroyed while a call of it is in progress.
    ~pool() override;

    pool(pool&&) noexcept;
    pool& operator=(pool&&) noexcept;

    /// As in pool_config::name. Valid as long as the pool.
    const std::string& name() const noexcept;

    /// The executor it was made with.
    boost::asio::any_io_executor get_executor() const noexcept override;

    /// Starts the workers, in batches, and returns when pool_config::min_ready of them are ready; the others come up in
    /// the background, and those that failed are tried again. Calls that are made meanwhile wait in the queue, within
    /// their limits.
    /// Errors: start_failed (the first attempt of every worker has ended, and too few came up; with cause and output
    /// tail of the last failure; everything is stopped again, calls that waited and those to come fail with it too, and
    /// start() may be repeated), already_started, shutting_down, cancelled.
    /// Cancellation (all types): the wait ends with cancelled; the pool goes on starting. Use shutdown() to
    /// stop it.
    boost::asio::awaitable<void> start();
    template <class CompletionToken>
    auto start(CompletionToken&& token) {
        return begin<void>(detail::operations::start, std::forward<CompletionToken>(token));
    }

    /// Returns when at least `count` workers are up: ready, or by now busy, degraded or suspended.
    /// Errors: invalid_config (count is 0..10,000), not_started, start_failed (not of a pool that its pool_manager starts
    /// again), unavailable (see restart_options::limit),
    /// shutting_down, cancelled. Without one of these it waits for as long as it takes: also for a number that the pool
    /// only has after resize().
    /// Cancellation (all types): the wait ends with cancelled.
    boost::asio::awaitable<void> ready(std::size_t count);
    template <class CompletionToken>
    auto ready(std::size_t count, CompletionToken&& token) {
        return begin<void>(detail::operations::ready, std::forward<CompletionToken>(token), count);
    }

    /// Runs one call and returns its answer. The request is encoded on the caller's executor.
    /// Errors: remote_error (the worker's exception), unknown_command, invalid_arguments, pool_saturated,
    /// queue_timeout, no_worker, timeout, cancelled, worker_lost, unavailable, poisonous_request, invalid_request,
    /// out_of_memory, tool_cycle (only a call that a tool makes), worker_busy, session_worker_unavailable and
    /// session_quota_exceeded (only a call of a strict session: see affinity_options), frame_too_large, not_started,
    /// start_failed, shutting_down; invalid_config once a scheduler of the user's has ended the pool. Each call ends with a
    /// reply or exactly one of them. A call that a dead worker had not received is sent to another; a call that it had is sent again
    /// only if request::idempotent, as pool_config::retry says; neither if its session is strictly bound to that worker.
    /// Cancellation: while queued (all types), the call is removed at once. While running (terminal and
    /// partial), it ends at once with cancelled, the worker is told, and is replaced if it is still at it
    /// after cancel_grace. Total cancellation of a running call is ignored, as its effects cannot be undone.
    using call_interface::execute;
    call_operation prepare(request call) override;

    /// Begins a call whose answer comes in chunks, and returns when a worker has it. Streams wait in the queue like calls. Of
    /// a command that yields nothing, the stream has no chunk, and its result.
    /// Errors: those of execute() that come before a worker has the call; what comes later is thrown by
    /// reply_stream::next().
    /// Cancellation: as of execute() while the call is queued.
    using call_interface::stream;
    stream_operation prepare_stream(request call) override;

    /// Takes a worker, or one of its places, out of everybody else's use, for a sequence of calls that are to meet the same
    /// worker with nobody in between. Checkouts wait in the queue like calls, in the same order; a whole worker is handed
    /// over once it is done with the calls it has. It is neither recycled, restarted nor scaled down meanwhile; if it fails,
    /// the lease is lost with it. Who has called is kept for the warning about a lease that is held for too long.
    /// Errors: pool_saturated, queue_timeout, no_worker, cancelled, unavailable, not_started, start_failed, shutting_down;
    /// invalid_config (an option is out of its range, or excludes another); frame_too_large and invalid_request (the reset
    /// call cannot be sent). Of a checkout that insists on a worker, or on that of a session: worker_busy (it has no room,
    /// and may not be waited for), unknown_worker (it is gone), session_worker_unavailable (the session's is),
    /// session_quota_exceeded, invalid_session (an id's rule).
    /// Leases do not hold a shutdown up: it ends them, as do the destruction of the pool and resize() where it takes the
    /// worker.
    /// Cancellation (all types): the wait ends with cancelled, and no worker is taken.
    boost::asio::awaitable<lease> checkout(checkout_options options = {},
                                           std::source_location location = std::source_location::current());
    template <class CompletionToken>
    auto checkout(checkout_options options, CompletionToken&& token,
                  std::source_location location = std::source_location::current()) {
        return begin<lease>(detail::operations::check_out, std::forward<CompletionToken>(token),
                            std::move(options), location);
    }

    /// Adds a tool: something that the workers' code can have this service do while it is at a call. See tool_handler, and
    /// request::tool for one call's own. Tools are not removed. From any thread; a call that is submitted afterwards finds
    /// it.
    /// Errors, thrown at once: invalid_config (`name` is not [A-Za-z0-9][A-Za-z0-9_.-]* of at most 64 characters, or is
    /// taken; the handler is empty).
    void register_tool(std::string name, tool_handler handler);

    /// The events of the pool, and of all that share its bus: see event_bus. Valid as long as the pool. Waits on a bus of
    /// the pool's own end with the shutdown.
    event_bus& events() noexcept;

    /// Forgets which worker serves the session: its next call goes to any, as that of a new one. For a session that is over,
    /// or whose worker is gone with what it knew (errc::session_worker_unavailable). Returns false if no worker is known
    /// to serve it, or to have served it. Never fails; answers in every phase. Not cancellable: it is one hop.
    boost::asio::awaitable<bool> forget_session(std::string id);
    template <class CompletionToken>
    auto forget_session(std::string id, CompletionToken&& token) {
        return begin<bool>(detail::operations::forget_session, std::forward<CompletionToken>(token),
                           std::move(id));
    }

    /// Returns which worker serves the session, or has served it, and in which state that worker is; an empty optional if no
    /// worker is known to. Never fails; answers in every phase. Not cancellable: it is one hop.
    boost::asio::awaitable<std::optional<session_binding>> session_worker(std::string id);
    template <class CompletionToken>
    auto session_worker(std::string id, CompletionToken&& token) {
        return begin<std::optional<session_binding>>(detail::operations::session_worker,
                                                     std::forward<CompletionToken>(token), std::move(id));
    }

    /// Binds the session to a worker: its next calls go there, as do those that wait for another worker. Calls that a worker
    /// has stay at that worker. Counts as a use of the session, and is recorded in pool_config::sessions.
    /// `mode`: `hint` lets a later call take the session elsewhere, a strict mode does not; default: affinity.mode. A session
    /// that is strictly bound to that worker already stays so.
    /// Errors: unknown_worker (no such worker is up, or it is on its way out), invalid_session (`id` is not 1..256 bytes of
    /// UTF-8), session_quota_exceeded (as of a strict call: see affinity_options::limit), not_started, start_failed,
    /// shutting_down, forked. The session is as it was then. Not cancellable: it is one hop.
    boost::asio::awaitable<void> bind_session(std::string id, worker_id worker,
                                              std::optional<affinity_mode> mode = std::nullopt);
    template <class CompletionToken>
    auto bind_session(std::string id, worker_id worker, std::optional<affinity_mode> mode,
                      CompletionToken&& token) {
        return begin<void>(detail::operations::bind_session, std::forward<CompletionToken>(token),
                           std::move(id), std::move(worker), mode);
    }

    /// One consistent snapshot. Never fails; answers in every phase. Not cancellable: it is one hop.
    boost::asio::awaitable<pool_status> status();
    template <class CompletionToken>
    auto status(CompletionToken&& token) {
        return begin<pool_status>(detail::operations::status, std::forward<CompletionToken>(token));
    }

    /// The same with what became of calls and how long they and the starts of workers took, by command; see
    /// pool_config::metrics. Totals since the pool was made. Answers, fails and is cancelled as status() is.
    boost::asio::awaitable<pool_metrics> metrics();
    template <class CompletionToken>
    auto metrics(CompletionToken&& token) {
        return begin<pool_metrics>(detail::operations::metrics, std::forward<CompletionToken>(token));
    }

    /// Takes one worker, or the pool, out of work without ending it: returns when the calls it has are answered. Calls
    /// wait in the queue meanwhile, within their own limits; workers that come up in a suspended pool are suspended.
    /// Idempotent. A suspended worker is neither probed nor recycled by itself; shutdown() ends it like any other.
    /// Errors: unknown_worker (no such worker is alive, or it ended meanwhile), not_started,
    /// shutting_down, cancelled (by the caller, or because it was resumed first).
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

    /// Undoes suspend(); waits for a suspend() that is not done yet end with cancelled. Idempotent.
    /// Errors and cancellation: as suspend().
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

    /// Probes the health of one worker now, whenever its next routine probe is due: as soon as the worker has a place
    /// free, between two calls. The result has the consequences of any probe (see health_check_options). Returns the result;
    /// a probe that fails is no error: see probe_result::passed. A suspended worker is probed once it is resumed.
    /// Errors: unknown_worker (no such worker is up, or it left meanwhile), unknown_command (the worker has no health
    /// check: see health_check_options), not_started, shutting_down, cancelled.
    /// Cancellation (all types): the wait ends with cancelled; the probe goes on.
    /// Executor: the caller's. Thread-safe.
    boost::asio::awaitable<probe_result> probe(worker_id id);
    template <class CompletionToken>
    auto probe(worker_id id, CompletionToken&& token) {
        return begin<probe_result>(detail::operations::probe, std::forward<CompletionToken>(token),
                                   std::move(id));
    }

    /// Probes all workers that are up and have a health check, at the same time. Returns the results by slot; a worker that
    /// is suspended, or that ends meanwhile, has none.
    /// Errors: not_started, shutting_down, cancelled.
    /// Cancellation (all types): the wait ends with cancelled; the probes go on.
    /// Executor: the caller's. Thread-safe.
    boost::asio::awaitable<std::vector<probe_result>> probe();
    template <token_beside<worker_id> CompletionToken>
    auto probe(CompletionToken&& token) {
        return begin<std::vector<probe_result>>(detail::operations::probe_all,
                                                std::forward<CompletionToken>(token));
    }

    /// Sends one worker a ping, beside the pings of its heartbeat, and returns the time until its answer. A worker without
    /// a control channel (stdio) answers between two calls. A missing answer has no consequences: the heartbeat's own pings
    /// decide whether the worker is replaced.
    /// Errors: unknown_worker (no such worker is up, or it left meanwhile), timeout (no answer within heartbeat.timeout),
    /// not_started, shutting_down, cancelled.
    /// Cancellation (all types): the wait ends with cancelled.
    /// Executor: the caller's. Thread-safe.
    boost::asio::awaitable<duration> ping(worker_id id);
    template <class CompletionToken>
    auto ping(worker_id id, CompletionToken&& token) {
        return begin<duration>(detail::operations::ping, std::forward<CompletionToken>(token), std::move(id));
    }

    /// Waits until a worker has ended, and returns how; at once for each of the last 64 workers that ended. Works in every
    /// phase.
    /// Errors: unknown_worker (there never was such a worker, or more than 64 have ended since), cancelled, forked.
    /// Cancellation (all types): the wait ends with cancelled.
    /// Executor: the caller's. Thread-safe.
    boost::asio::awaitable<worker_exit> ended(worker_id id);
    template <class CompletionToken>
    auto ended(worker_id id, CompletionToken&& token) {
        return begin<worker_exit>(detail::operations::ended, std::forward<CompletionToken>(token),
                                  std::move(id));
    }

    /// Replaces one worker, or all that are up or on their way up, at most recycle.max_recycling at a time, as recycling does: the new
    /// one is ready before the old one leaves, and calls in flight finish. Returns when the last old one has ended.
    /// Errors: restart_failed (a new worker did not come up, with its cause; the old ones that are left go on
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

    /// Changes how many workers the pool may have, and brings their number within `limits` at once; calls in flight
    /// on those that are too many finish. Between the limits, autoscaling decides.
    /// Errors: invalid_config (min is 1..10,000, max is min..10,000), not_started, shutting_down, cancelled.
    boost::asio::awaitable<void> resize(size_limits limits);
    template <class CompletionToken>
    auto resize(size_limits limits, CompletionToken&& token) {
        return begin<void>(detail::operations::resize, std::forward<CompletionToken>(token), limits);
    }

    /// Stops admitting calls but those that tools make for accepted ones, lets these finish for stop.drain_timeout, then takes every worker through the
    /// stop sequence. Calls that no worker is left to take, or only suspended ones, fail with shutting_down at once.
    /// Idempotent: later and concurrent calls get the same report. Afterwards no child, zombie, descriptor or
    /// thread of the pool is left. Takes at most drain_timeout + shutdown_grace + term_grace + reap_timeout, and up
    /// to half a second for the last output; an unfinished start() is ended first.
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
