// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/exit_status.hpp>
#include <skep/export.hpp>
#include <skep/handler_registry.hpp>
#include <skep/pool.hpp>
#include <skep/pool_config.hpp>
#include <skep/time.hpp>
#include <skep/worker_id.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

namespace skep {
class manual_time;
} // namespace skep

/// Tests of a service without processes and without waiting: a real pool, with handlers in the same process
/// as workers, in a time that the test moves. Link skep::testing.
namespace skep::testing {

/// Stops the time of the library: timeouts, backoff, heartbeats and sleep_for() of all pools in this process
/// then take the time that the test lets pass. Timers of other libraries, such as asio::steady_timer, keep to
/// real time.
///
///     boost::asio::io_context context;
///     skep::testing::virtual_time time(context);
///     skep::testing::fake_pool workers(context.get_executor());
///     workers.on("greet", [](skep::worker_call& call) { return call.arg<std::string>("name"); });
///     time.run(workers.pool().start());
///     auto reply = time.run(my_service(workers.pool()));
///
/// Preconditions: at most one virtual_time at a time. The pools of the test run in `context`, and no other
/// thread runs it. Create it before the pools.
///
/// Thread safety: none.
class SKEP_API virtual_time {
public:
    /// Stops the time. `context` must outlive this object.
    explicit virtual_time(boost::asio::io_context& context);

    /// Returns to real time.
    ~virtual_time();
    virtual_time(const virtual_time&) = delete;
    virtual_time& operator=(const virtual_time&) = delete;

    /// Returns the present moment, the time of request::deadline and of all clocks of the pools.
    time_point now() const noexcept;

    /// Runs everything that can run without time passing. An exception of a completion handler passes.
    void run_until_idle();

    /// Lets time pass, in steps of `step`: a timer fires late by at most a step.
    /// `span`: 0 or more. `step`: more than 0.
    /// Throws std::invalid_argument for a step of 0 or less.
    void advance(duration span, duration step = std::chrono::milliseconds(10));

    /// Runs an operation to its end, and lets time pass in steps of 10 ms while it waits. Returns its result;
    /// its exception passes.
    /// `limit`: the time that may pass meanwhile. Throws std::runtime_error after that: the operation then
    /// goes on waiting.
    template <class T>
    T run(boost::asio::awaitable<T> operation, duration limit = std::chrono::hours(1)) {
        struct outcome {
            bool is_known = false;
            std::exception_ptr failure;
            std::optional<std::conditional_t<std::is_void_v<T>, std::monostate, T>> value;
        };
        const auto result = std::make_shared<outcome>();
        if constexpr (std::is_void_v<T>) {
            boost::asio::co_spawn(context_, std::move(operation), [result](std::exception_ptr failure) {
                result->failure = std::move(failure);
                result->is_known = true;
            });
        } else {
            boost::asio::co_spawn(context_, std::move(operation),
                                  [result](std::exception_ptr failure, T value) {
                                      result->failure = std::move(failure);
                                      if (!result->failure) {
                                          result->value.emplace(std::move(value));
                                      }
                                      result->is_known = true;
                                  });
        }
        advance_until(result->is_known, limit);
        if (result->failure) {
            std::rethrow_exception(result->failure);
        }
        if constexpr (!std::is_void_v<T>) {
            return std::move(*result->value);
        }
    }

private:
    void advance_until(const bool& is_done, duration limit);

    boost::asio::io_context& context_;
    std::unique_ptr<manual_time> time_;
};

/// Waits in the library's time: the virtual time of a test, or real time.
/// Executor: the executor of the calling coroutine.
/// Cancellation (all types): throws operation_aborted (boost::system::system_error).
SKEP_API boost::asio::awaitable<void> sleep_for(duration span);

/// Thrown by a handler or hook of a fake_pool: ends the worker in the middle of the call, as a crash ends a
/// process. Not a std::exception, so that a handler's own `catch` lets it pass.
class worker_exit {
public:
    /// `status`: how the process seems to end. `output`: the last lines that it seems to have written.
    explicit worker_exit(exit_status status = exit_status::signalled(SIGSEGV), std::string output = {})
        : status_(status), output_(std::move(output)) {}

    /// Returns the apparent end of the process.
    const exit_status& status() const noexcept { return status_; }
    /// Returns the apparent last output.
    const std::string& output() const noexcept { return output_; }

private:
    exit_status status_;
    std::string output_;
};

/// A real pool with workers in the same process. Queue, timeouts, cancellation, streams, sessions, tools,
/// restarts, telemetry and shutdown are those of every pool; only the workers are handlers in C++, without
/// processes.
///
/// Calls reach a handler encoded, as they reach a process, so that a test sees the limits and the conversions
/// of the pool. A handler may return a value, throw, send chunks, call tools, report progress, wait with
/// sleep_for(), and end its worker by throwing worker_exit. The same handler may serve several workers at a
/// time, which then share its variables.
///
/// Executor: handlers run on the executor of the constructor. A blocking handler blocks the pool.
///
/// Thread safety: none, except for pool().
class SKEP_API fake_pool : public handler_registry<fake_pool> {
public:
    /// `config`: the configuration of the pool. Its `launch` is not used. Set `workers` and `log_level`: the
    /// defaults are one worker per CPU, and a log on stderr.
    /// `seed`: of random(), and of chance in the pool, such as the variation of its backoff.
    /// Throws error(invalid_config).
    explicit fake_pool(boost::asio::any_io_executor executor, pool_config config = {},
                       std::uint64_t seed = 1);

    /// Ends the pool like the destructor of a pool. Workers end as the executor runs.
    ~fake_pool();
    fake_pool(const fake_pool&) = delete;
    fake_pool& operator=(const fake_pool&) = delete;

    /// Returns the pool, to be passed to the service under test. Valid as long as this object.
    skep::pool& pool() noexcept;

    /// Returns the number of workers started so far.
    std::size_t started() const noexcept;

    /// Returns a number in [0, 1) from the seed: for handlers that fail or take long by chance.
    double random() noexcept;

    /// Ends a worker as a crash ends a process, whether it is at a call or not. Returns false if no worker of
    /// that id is alive.
    bool crash(const worker_id& id, const worker_exit& apparent_exit = worker_exit());

    /// Stops a worker as SIGSTOP stops a process: it takes no calls and answers no pings, and only SIGKILL
    /// ends it. Its calls get no answer. Returns false if no worker of that id is alive.
    bool freeze(const worker_id& id);

private:
    friend class handler_registry<fake_pool>;

    fake_pool& add(std::string command, detail::plain_handler handler);
    fake_pool& add_async(std::string command, detail::async_handler handler);
    fake_pool& add_batch(std::string command, const batch_options& options, detail::batch_handler handler);
    fake_pool& set_health_check(detail::async_handler check);
    fake_pool& add_start_hook(detail::async_hook hook);
    fake_pool& add_stop_hook(detail::async_hook hook);

    class impl;
    std::unique_ptr<impl> impl_;
};

} // namespace skep::testing
