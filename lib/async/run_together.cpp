// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "async/run_together.hpp"

#include "async/suspended_caller.hpp"
#include "async/timer.hpp"
#include <skep/execute_with_retry.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>

#include <cstddef>
#include <deque>
#include <exception>
#include <memory>
#include <new>
#include <utility>

namespace skep {

namespace {

/// The parts, on their own strand.
class joined_parts : public std::enable_shared_from_this<joined_parts> {
public:
    joined_parts(const asio::any_io_executor& executor, std::vector<asio::awaitable<void>> parts,
                 cancel_others policy)
        : strand_(executor),
          parts_(std::move(parts)),
          signals_(parts_.size()),
          left_(parts_.size()),
          policy_(policy) {}

    /// Called off the strand.
    void begin(suspended_caller&& caller) noexcept {
        caller_ = std::move(caller);
        try {
            forward_cancellation();
            execute_with_retry(strand_, [self = shared_from_this()] {
                if (self) { // null in a retry, if the strand has taken the function already
                    self->run();
                }
            });
        } catch (...) { // out of memory
            caller_.fail(lazy_error(std::current_exception()));
        }
    }

private:
    /// Weak: the caller's signal may outlive the execution context.
    void forward_cancellation() {
        auto slot = caller_.get_cancellation_slot();
        if (slot.is_connected()) {
            slot.assign([weak = weak_from_this()](asio::cancellation_type type) {
                if (auto self = weak.lock()) {
                    const auto& executor = self->strand_;
                    asio::post(executor, [self = std::move(self), type] { self->cancel(type); });
                }
            });
        }
    }

    void run() {
        for (std::size_t i = 0; i < parts_.size(); ++i) {
            if (is_decided()) {
                end_part({});
            } else {
                run_part(std::move(parts_[i]), signals_[i]);
            }
        }
    }

    void run_part(asio::awaitable<void> part, asio::cancellation_signal& signal) {
        try {
            auto on_end = [self = shared_from_this()](std::exception_ptr problem) {
                self->end_part(std::move(problem));
            };
            asio::co_spawn(strand_, std::move(part),
                           asio::bind_cancellation_slot(signal.slot(), std::move(on_end)));
        } catch (...) { // out of memory
            end_part(std::current_exception());
        }
    }

    void end_part(std::exception_ptr problem) {
        const bool was_decided = is_decided();
        if (problem && !failure_) {
            failure_ = std::move(problem);
        }
        if (--left_ == 0) {
            caller_.end(lazy_error(std::move(failure_)), {});
        } else if (!was_decided && is_decided()) {
            cancel(asio::cancellation_type::terminal);
        }
    }

    /// Returns true if the parts that have not ended are to be cancelled.
    bool is_decided() const noexcept {
        return (policy_ == cancel_others::after_failure && failure_) ||
               (policy_ == cancel_others::after_end && left_ < parts_.size());
    }

    /// A part ends later: its end is posted. Without memory for the post, the part goes on.
    void cancel(asio::cancellation_type type) {
        for (auto& each : signals_) {
            try {
                each.emit(type);
            } catch (const std::bad_alloc&) {}
        }
    }

    strand strand_;
    std::vector<asio::awaitable<void>> parts_;
    std::deque<asio::cancellation_signal> signals_;
    std::size_t left_;
    cancel_others policy_;
    std::exception_ptr failure_;
    suspended_caller caller_;
};

} // namespace

asio::awaitable<void> run_together(std::vector<asio::awaitable<void>> parts, cancel_others policy) {
    if (parts.empty()) {
        co_return;
    }
    const auto executor = co_await asio::this_coro::executor;
    auto joined = std::make_shared<joined_parts>(executor, std::move(parts), policy);
    auto waiting = suspend(
        [joined = std::move(joined)](suspended_caller&& caller) { joined->begin(std::move(caller)); });
    co_await std::move(waiting);
}

} // namespace skep
