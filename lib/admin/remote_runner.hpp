// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/latch.hpp"
#include "async/timer.hpp"
#include <skep/execute_with_retry.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>

#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace skep {

/// Runs coroutines on other executors, and delivers their results on the admin's strand until close(). A
/// coroutine counts as work of the executor that runs it: a stopped executor of a pool keeps no object of the
/// admin alive. Thread safety: callable from any thread.
class remote_runner : public std::enable_shared_from_this<remote_runner> {
public:
    explicit remote_runner(const strand& executor) : executor_(executor) {}

    /// Runs `work` on `executor`, and calls `on_answer(std::optional<T>)` on the strand; an empty optional
    /// stands for an exception. Never calls it if the runner is closed first. Another thread may destroy
    /// `on_answer`, so `on_answer` must not own objects of the strand.
    template <class T, class Handler>
    void ask(const asio::any_io_executor& executor, asio::awaitable<T> work, Handler on_answer) {
        auto deliver = [runner = shared_from_this(), on_answer = std::move(on_answer)](
                           const std::exception_ptr& problem, T result) mutable {
            auto answer = problem ? std::nullopt : std::optional<T>(std::move(result));
            runner->post([on_answer = std::move(on_answer), answer = std::move(answer)]() mutable {
                on_answer(std::move(answer));
            });
        };
        asio::co_spawn(executor, std::move(work), std::move(deliver));
    }

    /// Waits for the result, on the strand. A cancellation ends the wait; `work` continues.
    template <class T>
    static asio::awaitable<std::optional<T>> wait_for(std::shared_ptr<remote_runner> runner, strand executor,
                                                      asio::any_io_executor target, asio::awaitable<T> work) {
        struct arrival {
            explicit arrival(const strand& executor) : has_come(executor) {}

            latch has_come;
            std::optional<T> answer;
        };
        const auto mine = std::make_shared<arrival>(executor);
        runner->ask(target, std::move(work), [weak = std::weak_ptr(mine)](std::optional<T> answer) {
            if (const auto waiting = weak.lock()) {
                waiting->answer = std::move(answer);
                waiting->has_come.open();
            }
        });
        co_await mine->has_come.wait();
        co_return std::move(mine->answer);
    }

    /// Discards all later answers: the strand is not used afterwards.
    void close() noexcept {
        const std::lock_guard lock(mutex_);
        executor_.reset();
    }

private:
    template <class Function>
    void post(Function&& function) noexcept {
        const std::lock_guard lock(mutex_);
        try {
            if (executor_) {
                execute_with_retry(asio::require(*executor_, asio::execution::blocking.never),
                                   std::move(function));
            }
        } catch (const std::exception&) {} // out of memory: the wait has a limit, or ends with the server
    }

    std::mutex mutex_;
    std::optional<strand> executor_; ///< empty after close()
};

} // namespace skep
