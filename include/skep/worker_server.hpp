// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/abi.hpp>
#include <skep/export.hpp>
#include <skep/handler_registry.hpp>
#include <skep/worker_call.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <concepts>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace skep {

/// Options of a worker_server. A plain value; its setters work in a chain.
class worker_options {
public:
    /// Sets the number of calls at a time, 1 or more: coroutine handlers take turns when they await. A batch
    /// counts as one call. Default: threads() if set, or else the pool's threads_per_worker, 1 by default.
    worker_options& capacity(std::size_t calls) noexcept {
        capacity_ = calls;
        return *this;
    }
    std::optional<std::size_t> capacity() const noexcept { return capacity_; }

    /// Runs handlers that are plain functions on this number of separate threads, 1 or more: for code that
    /// computes. Such a handler must tolerate several calls at once. The pool must allow it:
    /// pool_config::threads_per_worker or capacity. Default: no threads.
    worker_options& threads(std::size_t count) noexcept {
        threads_ = count;
        return *this;
    }
    std::optional<std::size_t> threads() const noexcept { return threads_; }

private:
    std::optional<std::size_t> capacity_;
    std::optional<std::size_t> threads_;
};

/// A worker of a pool, written in C++: serves commands by name until the pool asks the worker to stop.
///
///     int main() {
///         skep::worker_server server;
///         server.on("greet", [](skep::worker_call& call) { return call.arg<std::string>("name"); });
///         return server.run();
///     }
///
/// Link the program with the library skep::worker, which does not contain the pool, or with skep::skep. A
/// pool starts the program like any other program: name the program in pool_config::launch.
///
/// Preconditions: one worker_server per process. Construct the server first in main(), before the program
/// prints anything or starts threads: if frames travel over stdin and stdout, the constructor moves these to
/// other descriptors.
///
/// Executor: handlers run on the thread in run(), one at a time. Coroutines take turns when they await. A
/// blocking handler delays all other handlers, unless it is a plain function and runs on the threads of
/// worker_options::threads. Coroutines, hooks and the health check always stay on the thread in run(). A
/// separate thread answers pings, sets worker_call::cancelled(), and ends the process at once if the host
/// dies, even while a handler blocks.
///
/// Errors: an exception of a handler fails only its call, or the calls of its batch; the worker continues. A
/// result beyond the limits of the host fails only its call (skep.ResultTooLarge, skep.UnserializableResult).
///
/// Thread safety: none; run() is the last function that is called.
class SKEP_API worker_server : public handler_registry<worker_server> {
public:
    /// Takes the connection to the pool that started this process. Without such a pool, the constructor
    /// succeeds and run() reports the problem.
    /// Throws std::invalid_argument for a capacity of 0, and for 0 threads.
    explicit worker_server(const worker_options& options = {});
    ~worker_server();
    worker_server(const worker_server&) = delete;
    worker_server& operator=(const worker_server&) = delete;

    /// Registers a hook that runs once before the on_start hooks, a coroutine or a plain function: in a pool
    /// with launch.preload in the template, for all workers, otherwise in each worker. Use it to load data
    /// that all workers share. Threads, connections and devices do not survive the fork: create them in an
    /// on_start hook. A coroutine runs on a context of its own that ends before the fork.
    /// If a hook throws, the start fails.
    template <std::invocable Hook>
    worker_server& on_preload(Hook hook) {
        return add_preload_hook([hook = std::move(hook)]() mutable { return detail::run_hook(hook); });
    }

    /// Returns the worker's place in its pool, such as "default/0". The replacement of the worker has the
    /// same slot: use it as the name of data that must survive a crash, such as a checkpoint file. Empty in a
    /// template, and if no pool started the process.
    const std::string& slot() const noexcept;

    /// Returns the kind of exit of the slot's previous worker; valid in an on_start hook or later.
    /// "segfault", "abort", "out_of_memory", "gpu" and "error": caused by that worker itself. "clean": exit
    /// code 0. "killed_by_us": caused by the pool. "killed_by_someone": caused by another party. "unknown":
    /// no information. Empty if the slot had no previous worker, or the previous worker still ran at the
    /// start of this worker.
    const std::string& previous_exit() const noexcept;

    /// Returns the executor of handlers and hooks. Use it for Asio objects that handlers need before run(),
    /// such as a timer or a connection.
    boost::asio::any_io_executor get_executor() noexcept;

    /// Serves calls until the pool asks the worker to stop, or SIGTERM arrives. On request of the pool, waits
    /// for the running handlers. On SIGTERM, cancels the running handlers, and their calls are lost.
    /// Returns the exit status for main(): 0 after an orderly stop, 1 if a hook failed, 64 if no pool started
    /// the process; stderr has the reason.
    /// Ends the process itself at once with 70 if the host is gone, and with 76 if the host breaks the
    /// protocol. With 70 over stdio, a worker that leads its process group ends the whole group.
    /// Throws std::logic_error if it is called twice.
    int run();

private:
    friend class handler_registry<worker_server>;

    worker_server& add(std::string command, detail::plain_handler handler);
    worker_server& add_async(std::string command, detail::async_handler handler);
    worker_server& add_batch(std::string command, const batch_options& options,
                             detail::batch_handler handler);
    worker_server& set_health_check(detail::async_handler check);
    worker_server& add_preload_hook(detail::async_hook hook);
    worker_server& add_start_hook(detail::async_hook hook);
    worker_server& add_stop_hook(detail::async_hook hook);

    class impl;
    std::unique_ptr<impl> impl_;
};

} // namespace skep
