// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "simulation/faults.hpp"

#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution_context.hpp>

#include <deque>
#include <memory>
#include <string>
#include <utility>

namespace skep::simulation {

namespace asio = boost::asio;

/// What a thread would run: tasks in the order they came. Which of several run queues goes on next is the
/// world's choice.
class run_queue {
public:
    explicit run_queue(asio::execution_context& context) : context_(context) {}

    bool is_empty() const noexcept { return tasks_.empty(); }
    asio::execution_context& context() const noexcept { return context_; }

    template <class Function>
    void push(Function&& function) {
        if (closed_) {
            return; // its context is being shut down, and goes on destroying: this ends with who brought it
        }
        const spared_by_faults here;
        tasks_.push_back(std::make_unique<task_of<std::decay_t<Function>>>(std::forward<Function>(function)));
    }

    /// Runs the oldest task.
    void run_one() {
        const auto next = std::move(tasks_.front());
        tasks_.pop_front();
        const running here(running_);
        next->run();
    }
    bool is_running() const noexcept { return running_; }

    /// Destroys what waits, and what comes of that, now and later.
    void close() {
        closed_ = true;
        const auto doomed = std::exchange(tasks_, {});
    }

private:
    struct running {
        explicit running(bool& flag) : is(flag) { is = true; }
        ~running() { is = false; }
        bool& is;
    };

    struct task {
        virtual ~task() = default;
        virtual void run() = 0;
    };

    template <class Function>
    struct task_of final : task {
        template <class Source>
        explicit task_of(Source&& source) : function(std::forward<Source>(source)) {}
        void run() override { std::move(function)(); }
        Function function;
    };

    asio::execution_context& context_;
    std::deque<std::unique_ptr<task>> tasks_;
    bool running_ = false;
    bool closed_ = false;
};

/// An Asio executor over a run_queue. Like that of a thread: what is dispatched from one of its own tasks
/// runs at once.
class run_queue_executor {
public:
    explicit run_queue_executor(run_queue& on, bool may_run_at_once = true) noexcept
        : run_queue_(&on), at_once_(may_run_at_once) {}

    asio::execution_context& query(asio::execution::context_t) const noexcept {
        allocation_faults::spare_next(allocations_of_a_strand); // it may be for one
        return run_queue_->context();
    }
    asio::execution::blocking_t query(asio::execution::blocking_t) const noexcept {
        return at_once_ ? asio::execution::blocking_t(asio::execution::blocking.possibly)
                        : asio::execution::blocking_t(asio::execution::blocking.never);
    }
    run_queue_executor require(asio::execution::blocking_t::possibly_t) const noexcept {
        return run_queue_executor(*run_queue_, true);
    }
    run_queue_executor require(asio::execution::blocking_t::never_t) const noexcept {
        return run_queue_executor(*run_queue_, false);
    }

    template <class Function>
    void execute(Function&& function) const {
        if (at_once_ && run_queue_->is_running()) {
            auto now = std::forward<Function>(function);
            std::move(now)();
        } else {
            run_queue_->push(std::forward<Function>(function));
        }
    }

    friend bool operator==(const run_queue_executor&, const run_queue_executor&) noexcept = default;

private:
    static constexpr int allocations_of_a_strand = 3;

    run_queue* run_queue_;
    bool at_once_;
};

} // namespace skep::simulation
