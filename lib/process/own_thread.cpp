// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/own_thread.hpp"

#include "process/ending_context.hpp"
#include "process/process_generation.hpp"
#include "process/run_context.hpp"

#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/query.hpp>

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace skep {

namespace {

/// The context of a thread. Owned by the thread and by the executors.
struct own_context {
    explicit own_context(wait_mode mode) : wait(mode) {}

    /// Runs on the thread. An exception of a handler ends the process.
    void run() noexcept {
        run_context(context, wait);
        if (has_ended) { // by a handler on this thread; functions of the same turn may be left
            context.shutdown();
        }
    }

    /// Destroys every coroutine and function. The context must have stopped.
    void end() noexcept {
        has_ended = true;
        context.shutdown();
    }

    ending_context context{1};
    const wait_mode wait;
    std::atomic<bool> has_ended = false;
};

/// Owned by the executors. The thread ends with this object.
struct context_at_work {
    explicit context_at_work(wait_mode wait)
        : own(std::make_shared<own_context>(wait)), work(own->context.get_executor()) {}

    const std::shared_ptr<own_context> own;
    const asio::executor_work_guard<asio::io_context::executor_type> work;
};

/// The threads that end with an execution context of the user.
class own_threads final : public asio::execution_context::service {
public:
    explicit own_threads(asio::execution_context& owner) : service(owner) {}

    void start(const std::shared_ptr<own_context>& own) {
        const std::lock_guard lock(mutex_);
        for (auto& each : entries_) {
            if (each.own.expired()) {
                each.end_thread();
            }
        }
        std::erase_if(entries_, [](const entry& each) { return !each.thread.joinable(); });
        entries_.reserve(entries_.size() + 1);
        entries_.push_back({own, std::thread([own] { own->run(); }), process_generation()});
    }

    static inline asio::execution_context::id id;

private:
    struct entry {
        /// Joins the thread after its context has stopped.
        void end_thread() noexcept {
            if (is_copy_of(started_in) || thread.get_id() == std::this_thread::get_id()) {
                thread.detach();
            } else {
                thread.join();
            }
        }

        /// Returns null after the end of the thread and of the executors, and in a forked copy.
        std::shared_ptr<own_context> open_context() const noexcept {
            return is_copy_of(started_in) ? nullptr : own.lock();
        }

        std::weak_ptr<own_context> own;
        std::thread thread;
        unsigned started_in;
    };

    /// Ends all threads before the first context: coroutines of one may wait for the pool of another.
    void shutdown() noexcept override {
        for (const auto& each : entries_) {
            if (const auto own = each.open_context()) {
                own->context.stop();
            }
        }
        for (auto& each : entries_) {
            each.end_thread();
        }
        for (const auto& each : std::exchange(entries_, {})) {
            if (const auto own = each.open_context()) {
                own->end();
            }
        }
    }

    std::mutex mutex_;
    std::vector<entry> entries_;
};

} // namespace

pool_executor start_own_thread(const asio::any_io_executor& user_executor, wait_mode wait) {
    auto& service = asio::use_service<own_threads>(asio::query(user_executor, asio::execution::context));
    const auto at_work = std::make_shared<context_at_work>(wait);
    service.start(at_work->own);
    auto& own = *at_work->own;
    return kept_executor(own.context.get_executor(), context_keeper(at_work, &own.has_ended));
}

} // namespace skep
