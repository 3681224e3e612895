// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/range_check.hpp"
#include "process/ending_context.hpp"
#include "process/run_context.hpp"
#include <skep/context_group.hpp>

#include <boost/asio/executor_work_guard.hpp>

#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace skep {

struct context_group::state {
    wait_mode wait;
    std::vector<std::unique_ptr<ending_context>> contexts;
    std::atomic<std::size_t> turn = 0;
    std::mutex mutex;
    std::exception_ptr problem; ///< the first exception of a handler, during a run

    state(std::size_t count, wait_mode mode) : wait(mode) {
        while (contexts.size() < count) {
            contexts.push_back(std::make_unique<ending_context>(1));
        }
    }

    /// Ends the pool of the first context, and the coroutines of all contexts, while each context exists:
    /// coroutines refer to the contexts of others.
    ~state() {
        for (const auto& each : contexts) {
            each->shutdown();
        }
    }

    void stop() noexcept {
        for (const auto& each : contexts) {
            each->stop();
        }
    }

    /// Runs one context by `run_one(context)`. An exception ends all contexts.
    template <class RunOne>
    void run_guarded(asio::io_context& context, RunOne run_one) noexcept {
        try {
            run_one(context);
        } catch (...) {
            const std::lock_guard lock(mutex);
            problem = problem ? problem : std::current_exception();
            stop();
        }
    }

    /// Runs each context by `run_one(context)`, on its thread.
    template <class RunOne>
    void run_all(RunOne run_one) {
        {
            std::vector<std::jthread> others;
            others.reserve(contexts.size());
            run_guarded(*contexts.front(), [&](asio::io_context& first) {
                for (std::size_t i = 1; i < contexts.size(); ++i) {
                    others.emplace_back([this, &run_one, i] { run_guarded(*contexts[i], run_one); });
                }
                run_one(first);
            });
        } // joined
        if (auto failure = std::exchange(problem, nullptr)) {
            std::rethrow_exception(std::move(failure));
        }
    }
};

context_group::context_group(threads number, wait_mode wait) {
    check_ranges([&](const range_check& range) { range.number("threads", number.count, 1, 1024); });
    state_ = std::make_unique<state>(number.count, wait);
}

context_group::~context_group() = default;

std::size_t context_group::size() const noexcept {
    return state_->contexts.size();
}

context_group::executor_type context_group::first() const noexcept {
    return state_->contexts.front()->get_executor();
}

context_group::executor_type context_group::next() noexcept {
    const auto turn = state_->turn.fetch_add(1, std::memory_order_relaxed);
    return state_->contexts[turn % state_->contexts.size()]->get_executor();
}

void context_group::run() {
    state_->run_all([wait = state_->wait](asio::io_context& context) {
        const auto guard = asio::make_work_guard(context);
        run_context(context, wait);
    });
}

void context_group::run_for(duration at_most) {
    state_->run_all([at_most](asio::io_context& context) { context.run_for(at_most); });
}

void context_group::poll() {
    for (const auto& each : state_->contexts) {
        each->poll();
    }
}

void context_group::stop() noexcept {
    state_->stop();
}

void context_group::restart() {
    for (const auto& each : state_->contexts) {
        each->restart();
    }
}

} // namespace skep
