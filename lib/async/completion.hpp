// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <exception>
#include <memory>
#include <utility>

namespace skep {

namespace asio = boost::asio;

/// A caller that waits outside the strand for one value of type T. Its executor is kept at work until then.
template <class T>
class completion {
public:
    virtual ~completion() = default;

    /// Resumes the caller on its own executor, never from within this call. To be called at most once.
    virtual void complete(std::exception_ptr error, T value) = 0;

    /// Through which the caller may cancel; it belongs to the caller's executor.
    virtual asio::cancellation_slot cancellation() const noexcept = 0;
};

namespace detail {

template <class T, class Handler>
class handler_completion final : public completion<T> {
public:
    explicit handler_completion(Handler handler)
        : work_(asio::prefer(asio::any_io_executor(asio::get_associated_executor(handler)),
                             asio::execution::outstanding_work.tracked)),
          handler_(std::move(handler)) {}

    void complete(std::exception_ptr error, T value) override {
        auto resume = [handler = std::move(handler_), work = work_, error = std::move(error),
                       value = std::move(value)]() mutable {
            asio::get_associated_cancellation_slot(handler).clear();
            std::move(handler)(std::move(error), std::move(value));
        };
        asio::post(work_, std::move(resume));
    }

    asio::cancellation_slot cancellation() const noexcept override {
        return asio::get_associated_cancellation_slot(handler_);
    }

private:
    asio::any_io_executor work_;
    Handler handler_;
};

} // namespace detail

/// Suspends the calling coroutine, hands `start` a completion, and returns what it is completed with.
template <class T, class Start>
asio::awaitable<T> await_completion(Start start) {
    auto initiate = []<class Handler>(Handler handler, Start begin) {
        begin(std::make_unique<detail::handler_completion<T, Handler>>(std::move(handler)));
    };
    auto operation = [&] {
        return asio::async_initiate<const asio::use_awaitable_t<>, void(std::exception_ptr, T)>(
            std::move(initiate), asio::use_awaitable, std::move(start));
    };
    T value = co_await operation();
    co_return value;
}

} // namespace skep
