// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/condition_variable.hpp"
#include "async/latch.hpp"
#include "async/task_group.hpp"
#include "runtime/runtime.hpp"
#include "server/call_server.hpp"
#include "server/lifecycle_hooks.hpp"
#include "testing/memory_channel.hpp"
#include <skep/testing.hpp>

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace skep::testing {

/// A worker in the pool's own process: speaks the protocol over channels in memory, and ends as a process
/// ends. Used on the pool's strand.
class scripted_worker : public std::enable_shared_from_this<scripted_worker> {
public:
    scripted_worker(const strand& executor, launch_order order, int pid, std::size_t capacity,
                    std::shared_ptr<const work> functions, std::shared_ptr<memory_channel> data,
                    std::shared_ptr<memory_channel> control);

    /// Begins the conversation with the pool.
    void start();

    const worker_id& id() const noexcept { return order_.worker; }
    int pid() const noexcept { return pid_; }

    /// Ends the "process" at once.
    void end(const exit_status& status, std::string_view output = {});
    bool has_ended() const noexcept { return has_ended_; }

    void terminate();
    void freeze();

    // A process as seen from outside.
    asio::awaitable<void> wait_for_end();
    const exit_status& status() const noexcept { return status_; }
    const std::string& output() const noexcept { return output_; }
    void add_output(std::string_view text) { output_ += text; }

private:
    asio::awaitable<void> run();
    asio::awaitable<void> listen(memory_pipe& input);
    asio::awaitable<void> outlive_handlers();

    void greet();
    void handle(welcome_message welcome);
    void handle(cancel_message cancel);
    void handle(ping_message ping);
    void handle(recall_message) noexcept {} // a worker of this kind gives no calls back
    void handle(shutdown_message) { stop(); }
    template <class Message>
    void handle(Message message) {
        calls_.handle(std::move(message));
    }
    void stop();
    void fail(const std::exception_ptr& problem);
    work guarded_script();

    /// Run a function of the script. The function may end the worker.
    template <class Function>
    auto guard(Function&& function) -> decltype(function());
    template <class T>
    asio::awaitable<T> guard_async(asio::awaitable<T> guarded_function);
    template <class Result, class Subject>
    std::function<Result(Subject)> guarded(const std::function<Result(Subject)>& handler);

    launch_order order_;
    int pid_;
    std::shared_ptr<memory_channel> data_;
    std::shared_ptr<memory_channel> control_;
    memory_output data_out_;
    memory_output control_out_;
    std::shared_ptr<const work> script_; ///< one for all workers, so that handlers keep their state
    work functions_;
    call_server calls_;
    lifecycle_hooks hooks_;
    task_group tasks_;
    task_group life_;
    latch welcomed_;
    latch stop_;
    condition_variable ended_; ///< several coroutines wait
    bool has_ended_ = false;
    bool has_welcome_ = false;
    bool is_frozen_ = false;
    exit_status status_;
    std::string output_;
};

} // namespace skep::testing
