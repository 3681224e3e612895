// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/execute_with_retry.hpp>
#include <skep/lazy_error.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_allocator.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/execution/allocator.hpp>
#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/execution/relationship.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/recycling_allocator.hpp>
#include <boost/asio/require.hpp>
#include <boost/asio/system_context.hpp>

#include <cstddef>
#include <exception>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <variant>

namespace skep {

namespace detail {

namespace asio = boost::asio;

/// T, or std::monostate for an operation without a result.
template <class T>
using value_of = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

/// Calls a handler of signature void(std::exception_ptr, T), or void(std::exception_ptr) without a result.
struct by_exception {
    template <class Handler, class Value>
    static void give(Handler&& handler, lazy_error&& failure, Value&& value) {
        if constexpr (std::is_same_v<Value, std::monostate>) {
            std::forward<Handler>(handler)(std::exception_ptr(std::move(failure)));
        } else if (failure) {
            discard(std::move(value));
            std::forward<Handler>(handler)(std::exception_ptr(std::move(failure)), Value());
        } else {
            std::forward<Handler>(handler)(std::exception_ptr(), std::move(value));
        }
    }

private:
    template <class Value>
    static void discard(Value&& value) {
        [[maybe_unused]] const auto ended = std::move(value);
    }
};

/// Calls a handler of the library itself, with failure and value.
struct by_parts {
    template <class Handler, class Value>
    static void give(Handler&& handler, lazy_error&& failure, Value&& value) {
        std::forward<Handler>(handler)(std::move(failure), std::move(value));
    }
};

/// A type-erased handler. post(), call() and destroy() destroy the object.
template <class Value>
class erased_handler {
public:
    /// Calls the handler on the handler's executor, never from within post(). If memory is exhausted,
    /// destroys the handler.
    virtual void post(lazy_error&& failure, Value&& value) noexcept = 0;

    /// Calls the handler at once. Precondition: runs on the handler's executor.
    virtual void call(lazy_error&& failure, Value&& value) = 0;

    virtual void destroy() noexcept = 0;

    /// Moves the object to `place`, which must be large enough. Returns the new address.
    virtual erased_handler* move_to(void* place) noexcept = 0;

    virtual asio::any_io_executor executor() const noexcept = 0;
    virtual asio::cancellation_slot slot() const noexcept = 0;
    virtual bool is_coroutine() const noexcept = 0;

protected:
    ~erased_handler() = default;
};

/// The task that calls a handler with the outcome, on the handler's executor. Empty after a move.
template <class Style, class Handler, class Value, class Work>
class delivery {
public:
    using allocator_type = asio::associated_allocator_t<Handler>;

    delivery(Handler&& handler, Work&& work, lazy_error&& failure, Value&& value)
        : handler_(std::move(handler)),
          work_(std::move(work)),
          failure_(std::move(failure)),
          value_(std::move(value)) {}
    delivery(delivery&& other) noexcept
        : handler_(std::move(other.handler_)),
          work_(std::move(other.work_)),
          failure_(std::move(other.failure_)),
          value_(std::move(other.value_)),
          is_armed_(std::exchange(other.is_armed_, false)) {}

    allocator_type get_allocator() const noexcept { return asio::get_associated_allocator(handler_); }

    void operator()() {
        if (is_armed_) {
            asio::get_associated_cancellation_slot(handler_).clear();
            is_armed_ = false;
            Style::give(std::move(handler_), std::move(failure_), std::move(value_));
        }
    }

private:
    Handler handler_;
    [[no_unique_address]] Work work_; ///< outstanding work of the executor
    lazy_error failure_;
    Value value_;
    bool is_armed_ = true;
};

/// For coroutines: co_spawn holds outstanding work of the executor.
struct no_work {};

/// Posts `task` to `executor` as a continuation: this thread may run it next. An io_context behind the erased
/// type is called directly, at a third of the cost.
template <class Executor, class Task>
void post_to(const Executor& executor, Task&& task) {
    if constexpr (std::is_same_v<Executor, asio::any_io_executor>) {
        if (const auto* const io = executor.template target<asio::io_context::executor_type>()) {
            post_to(*io, std::forward<Task>(task));
            return;
        }
    }
    const auto base = asio::prefer(asio::require(executor, asio::execution::blocking.never),
                                   asio::execution::relationship.continuation);
    if constexpr (std::is_same_v<typename std::remove_cvref_t<Task>::allocator_type, std::allocator<void>>) {
        execute_with_retry(base, std::forward<Task>(task));
    } else {
        const auto allocator = task.get_allocator();
        execute_with_retry(asio::prefer(base, asio::execution::allocator(allocator)),
                           std::forward<Task>(task));
    }
}

/// The handler of a coroutine. It has an associated executor, with outstanding work.
template <class Style, class Handler, class Value>
class coroutine_handler final : public erased_handler<Value> {
public:
    explicit coroutine_handler(Handler&& handler) noexcept : handler_(std::move(handler)) {}

    void post(lazy_error&& failure, Value&& value) noexcept override {
        try {
            const auto executor = asio::get_associated_executor(handler_);
            delivery<Style, Handler, Value, no_work> task(std::move(handler_), no_work(), std::move(failure),
                                                          std::move(value));
            destroy();
            post_to(executor, std::move(task));
        } catch (const std::bad_alloc&) {} // the coroutine was destroyed
    }

    void call(lazy_error&& failure, Value&& value) override {
        asio::get_associated_cancellation_slot(handler_).clear();
        Handler handler(std::move(handler_));
        destroy();
        Style::give(std::move(handler), std::move(failure), std::move(value));
    }

    void destroy() noexcept override { std::destroy_at(this); }

    erased_handler<Value>* move_to(void* place) noexcept override {
        auto* const moved = ::new (place) coroutine_handler(std::move(handler_));
        destroy();
        return moved;
    }

    asio::any_io_executor executor() const noexcept override {
        return asio::get_associated_executor(handler_);
    }
    asio::cancellation_slot slot() const noexcept override {
        return asio::get_associated_cancellation_slot(handler_);
    }
    bool is_coroutine() const noexcept override { return true; }

private:
    Handler handler_;
};

/// Returns true if an executor runs functions in its own context. Decides by the type of the context: a query
/// for the context itself may start the threads of the system executor.
template <class Executor>
constexpr bool posts_itself() {
    if constexpr (asio::can_require_v<Executor, asio::execution::blocking_t::never_t>) {
        using context = decltype(asio::query(std::declval<const Executor&>(), asio::execution::context));
        return !std::is_same_v<context, asio::execution_context&> &&
               !std::is_same_v<context, asio::system_context&>;
    } else {
        return false;
    }
}

/// A handler other than a coroutine's, in memory of its associated allocator. Holds outstanding work of its
/// executor.
template <class Style, class Handler, class Value>
class any_handler final : public erased_handler<Value> {
    using associated = asio::associated_executor_t<Handler, asio::any_io_executor>;
    using work = std::decay_t<decltype(asio::prefer(std::declval<const associated&>(),
                                                    asio::execution::outstanding_work.tracked))>;
    using allocator = typename std::allocator_traits<asio::associated_allocator_t<
        Handler, asio::recycling_allocator<void>>>::template rebind_alloc<any_handler>;

    /// True for a handler without an associated executor, or with an any_io_executor.
    static constexpr bool is_io_executor = std::is_same_v<associated, asio::any_io_executor>;

    /// False for the system executor, used by futures, and for executors that only dispatch, such as
    /// any_completion_executor. Handlers of these executors are dispatched from the operation's executor.
    static constexpr bool can_post = posts_itself<work>();

public:
    static any_handler* make(Handler&& handler, const asio::any_io_executor& fallback) {
        allocator memory(asio::get_associated_allocator(handler, asio::recycling_allocator<void>()));
        auto* const place = std::allocator_traits<allocator>::allocate(memory, 1);
        try {
            return ::new (static_cast<void*>(place)) any_handler(std::move(handler), fallback);
        } catch (...) {
            std::allocator_traits<allocator>::deallocate(memory, place, 1);
            throw;
        }
    }

    void post(lazy_error&& failure, Value&& value) noexcept override {
        try {
            if constexpr (is_io_executor) {
                const auto target = work_;
                post_to(target, leave(std::move(failure), std::move(value)));
            } else {
                post_by_io_executor(std::move(failure), std::move(value));
            }
        } catch (const std::bad_alloc&) {} // the handler was destroyed
    }

    void call(lazy_error&& failure, Value&& value) override {
        const auto target = work_;
        auto task = leave(std::move(failure), std::move(value));
        if constexpr (is_io_executor) {
            task();
        } else {
            asio::dispatch(target, std::move(task));
        }
    }

    void destroy() noexcept override {
        allocator memory(asio::get_associated_allocator(handler_, asio::recycling_allocator<void>()));
        std::destroy_at(this);
        std::allocator_traits<allocator>::deallocate(memory, this, 1);
    }

    erased_handler<Value>* move_to(void*) noexcept override { return this; }

    asio::any_io_executor executor() const noexcept override {
        if constexpr (is_io_executor) {
            return work_;
        } else if constexpr (can_post && std::is_convertible_v<work, asio::any_io_executor>) {
            return asio::any_io_executor(work_);
        } else {
            return io_executor_;
        }
    }
    asio::cancellation_slot slot() const noexcept override {
        return asio::get_associated_cancellation_slot(handler_);
    }
    bool is_coroutine() const noexcept override { return false; }

private:
    using io_executor = std::conditional_t<is_io_executor, no_work, asio::any_io_executor>;

    any_handler(Handler&& handler, const asio::any_io_executor& fallback)
        : handler_(std::move(handler)),
          work_(asio::prefer(asio::get_associated_executor(handler_, fallback),
                             asio::execution::outstanding_work.tracked)),
          io_executor_(make_io_executor(fallback)) {}

    static io_executor make_io_executor([[maybe_unused]] const asio::any_io_executor& fallback) {
        if constexpr (is_io_executor) {
            return {};
        } else {
            return asio::prefer(fallback, asio::execution::outstanding_work.tracked);
        }
    }

    void post_by_io_executor(lazy_error&& failure, Value&& value) {
        const auto from = io_executor_;
        const auto target = work_;
        auto task = leave(std::move(failure), std::move(value));
        if constexpr (can_post) {
            post_to(target, std::move(task));
        } else {
            auto dispatch = [target, task = std::move(task)]() mutable {
                asio::dispatch(target, std::move(task));
            };
            execute_with_retry(asio::require(from, asio::execution::blocking.never), std::move(dispatch));
        }
    }

    /// Returns the task, and releases the memory first, so that the handler's next operation can reuse the
    /// memory.
    delivery<Style, Handler, Value, work> leave(lazy_error&& failure, Value&& value) {
        delivery<Style, Handler, Value, work> task(std::move(handler_), std::move(work_), std::move(failure),
                                                   std::move(value));
        destroy();
        return task;
    }

    Handler handler_;
    work work_;
    [[no_unique_address]] io_executor io_executor_; ///< the operation's executor
};

} // namespace detail

/// The caller of an operation with result T: a type-erased completion handler. Move-only. Empty after the
/// handler was called, and after a move. The destructor destroys the handler uncalled, as Asio does with the
/// handlers of a destroyed context.
///
/// A completion is itself a handler of signature void(std::exception_ptr, T), or void(std::exception_ptr) if
/// T is void, with the executor and cancellation slot of the erased handler. It can be passed as a completion
/// token, for example to co_spawn.
template <class T>
class completion {
public:
    using value_type = detail::value_of<T>;                        ///< T, or std::monostate if T is void
    using executor_type = boost::asio::any_io_executor;            ///< required by Asio
    using cancellation_slot_type = boost::asio::cancellation_slot; ///< required by Asio

    completion() noexcept = default;
    completion(completion&& other) noexcept : keeper_(std::move(other.keeper_)) { take(other); }
    completion& operator=(completion&& other) noexcept {
        const completion before(std::move(*this)); // destroying it may destroy the owner of *this
        keeper_ = std::move(other.keeper_);
        take(other);
        return *this;
    }
    ~completion() {
        if (auto* const handler = release()) {
            handler->destroy();
        }
    }

    /// Erases the handler of a coroutine. The handler is stored in place, without allocation.
    template <class Style, class Handler>
    static completion of_coroutine(Handler&& handler) noexcept {
        using erased = detail::coroutine_handler<Style, std::decay_t<Handler>, value_type>;
        static_assert(sizeof(erased) <= sizeof(place));
        completion made;
        made.handler_ = ::new (static_cast<void*>(&made.place_)) erased(std::move(handler));
        return made;
    }

    /// Erases any other handler. `fallback`: the executor of a handler without an associated executor.
    /// Throws std::bad_alloc.
    template <class Style, class Handler>
    static completion of(Handler&& handler, const boost::asio::any_io_executor& fallback) {
        completion made;
        made.handler_ =
            detail::any_handler<Style, std::decay_t<Handler>, value_type>::make(std::move(handler), fallback);
        return made;
    }

    /// Returns true if there is a handler to call.
    explicit operator bool() const noexcept { return handler_ != nullptr; }

    /// Returns the executor of the handler. Precondition: there is a handler.
    executor_type get_executor() const noexcept { return handler_->executor(); }

    /// Returns the cancellation slot of the handler, or an unconnected slot without a handler.
    cancellation_slot_type get_cancellation_slot() const noexcept {
        return handler_ != nullptr ? handler_->slot() : cancellation_slot_type();
    }

    /// Returns true if the handler resumes a coroutine: it has no allocator of its own.
    bool is_coroutine() const noexcept { return handler_ != nullptr && handler_->is_coroutine(); }

    /// Completes the operation with `value`. The handler runs on its executor, never from within this call.
    /// If memory is exhausted, the handler is destroyed uncalled.
    /// Thread safety: may be called from any thread.
    void complete(value_type value = {}) noexcept { end({}, std::move(value)); }

    /// Completes the operation with a failure. Otherwise like complete().
    void fail(lazy_error failure) noexcept { end(std::move(failure), {}); }
    void fail(const error& cause) noexcept { end(lazy_error(cause), {}); }

    /// Completes the operation with `failure`, or with `value` if there is no failure. Otherwise like
    /// complete().
    void end(lazy_error&& failure, value_type&& value) noexcept {
        if (auto* const handler = release()) {
            const auto keeper = std::move(keeper_);
            handler->post(std::move(failure), std::move(value));
        }
    }

    /// Posts `task` to the handler's executor; the task is to call this object. If memory is exhausted, the
    /// handler is destroyed uncalled.
    template <class Task>
    void call_by(Task&& task) noexcept {
        keeper_.reset();
        try {
            detail::post_to(get_executor(), std::forward<Task>(task));
        } catch (const std::bad_alloc&) {
            *this = {};
        }
    }

    /// Calls the handler at once.
    /// Executor: must be called on the handler's executor.
    void operator()(lazy_error&& failure, value_type&& value) {
        if (auto* const handler = release()) {
            keeper_.reset();
            handler->call(std::move(failure), std::move(value));
        }
    }
    void operator()(std::exception_ptr problem, value_type value = {}) {
        (*this)(lazy_error(std::move(problem)), std::move(value));
    }

    /// Keeps `object` alive until the operation completes.
    void keep(std::shared_ptr<void> object) noexcept { keeper_ = std::move(object); }

private:
    struct place {
        alignas(std::max_align_t) std::byte bytes[32];
    };

    detail::erased_handler<value_type>* release() noexcept { return std::exchange(handler_, nullptr); }

    void take(completion& other) noexcept {
        if (auto* const handler = other.release()) {
            handler_ = handler->move_to(&place_);
        }
    }

    detail::erased_handler<value_type>* handler_ = nullptr;
    std::shared_ptr<void> keeper_;
    place place_;
};

namespace detail {

/// Base of a handler of the library that wraps `caller`, and is called in its place.
template <class T>
struct inner_caller {
    using executor_type = typename completion<T>::executor_type;
    using cancellation_slot_type = typename completion<T>::cancellation_slot_type;

    executor_type get_executor() const noexcept { return caller.get_executor(); }
    cancellation_slot_type get_cancellation_slot() const noexcept { return caller.get_cancellation_slot(); }

    completion<T> caller;
};

} // namespace detail

} // namespace skep
