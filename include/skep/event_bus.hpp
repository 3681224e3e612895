// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/events.hpp>
#include <skep/export.hpp>
#include <skep/initiate_coroutine.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace skep {

namespace detail {

class event_mailbox;

/// Waits for the next event and returns it; std::nullopt if no more events can come.
SKEP_API boost::asio::awaitable<std::optional<event>> take_event(std::shared_ptr<event_mailbox> mailbox);

template <class E, class Variant>
inline constexpr std::uint64_t bit_of = 0;
template <class E, class... All>
inline constexpr std::uint64_t bit_of<E, std::variant<All...>> = [] {
    std::uint64_t bit = 1;
    std::uint64_t found = 0;
    ((found |= std::is_same_v<E, All> ? bit : 0, bit <<= 1), ...);
    return found;
}();

template <class E>
concept event_type = (bit_of<E, any_event> != 0);

/// The bits of the types E; without E, of all types but span, because a subscriber to spans makes pools trace
/// their calls.
template <class... E>
inline constexpr std::uint64_t bits_of = sizeof...(E) == 0 ? ~bit_of<events::span, any_event>
                                                           : (bit_of<E, any_event> | ... | 0);

template <class... E>
struct value_of_stream {
    using type = event;
};
template <class E>
struct value_of_stream<E> {
    using type = E;
};

/// Returns an event of type E as an E.
template <class E>
std::optional<E> value_of_event(std::optional<event>&& next_event) {
    if constexpr (std::is_same_v<E, event>) {
        return std::move(next_event);
    } else {
        return next_event ? std::optional<E>(std::get<E>(std::move(*next_event))) : std::nullopt;
    }
}

/// The caller of a stream of events of one type.
template <class E>
struct caller_of_stream : inner_caller<std::optional<E>> {
    void operator()(lazy_error&& failure, std::optional<event>&& next_event) {
        this->caller(std::move(failure), value_of_event<E>(std::move(next_event)));
    }
};

/// Takes the next event for the caller of a stream of events of type E.
template <class E>
struct begin_taking {
    void operator()(completion<std::optional<E>>&& caller,
                    boost::asio::awaitable<std::optional<event>>&& taking) const {
        const auto executor = caller.get_executor();
        caller_of_stream<E> typed{{std::move(caller)}};
        run_coroutine(std::move(taking),
                      completion<std::optional<event>>::template of<by_parts>(std::move(typed), executor));
    }
};

} // namespace detail

/// Move-only handle of a subscription. Unsubscribes on destruction. Empty if default-constructed or moved
/// from.
class SKEP_API subscription {
public:
    subscription() noexcept = default;
    /// Used by event_bus.
    explicit subscription(std::shared_ptr<detail::event_mailbox> mailbox) noexcept;
    subscription(subscription&&) noexcept = default;
    subscription& operator=(subscription&& other) noexcept;
    ~subscription();

    /// Unsubscribes: no further events are enqueued. Events already in the queue can still be read.
    /// Thread safety: may be called from any thread.
    void close() noexcept;

    /// Returns the number of events that were dropped because the queue was full, or for lack of memory.
    /// Thread safety: may be called from any thread.
    std::uint64_t dropped() const noexcept;

protected:
    /// Returns the queue of events to be read.
    const std::shared_ptr<detail::event_mailbox>& mailbox() const noexcept { return mailbox_; }

private:
    std::shared_ptr<detail::event_mailbox> mailbox_;
};

/// A subscription whose events are read one by one. Events of the types `E`; without `E`, of all types but
/// events::span.
template <class... E>
class event_stream : public subscription {
public:
    /// E if there is a single type E, else `event`.
    using value_type = typename detail::value_of_stream<E...>::type;

    using subscription::subscription;

    /// Waits for the next event and returns it, in the order of publication. Returns std::nullopt once the
    /// queue is empty and the stream is closed, the bus is destroyed, or event_bus::end_waits() was called.
    /// Takes a completion token, like the operations of a pool.
    /// Errors: cancelled.
    /// Executor: the handler's; by default the system executor.
    /// Thread safety: one call at a time.
    boost::asio::awaitable<std::optional<value_type>> next() { return next_of(mailbox()); }
    template <class CompletionToken>
    auto next(CompletionToken&& token) {
        if constexpr (std::is_same_v<std::decay_t<CompletionToken>, default_token>) {
            return next();
        } else {
            return detail::initiate<std::optional<value_type>>(
                std::forward<CompletionToken>(token), detail::system_executor,
                detail::begin_taking<value_type>(), detail::take_event(mailbox()));
        }
    }

private:
    static boost::asio::awaitable<std::optional<value_type>> next_of(
        std::shared_ptr<detail::event_mailbox> mailbox) {
        auto taking = detail::take_event(std::move(mailbox));
        std::optional<event> taken = co_await std::move(taking);
        co_return detail::value_of_event<value_type>(std::move(taken));
    }
};

/// Publishes events to any number of subscribers: see skep::events. Each subscriber has its own queue: a
/// subscriber that is slow, or throws, delays no other. Events beyond the capacity of the queue are dropped
/// and counted. Without a subscriber an event costs one comparison.
///
///     auto ends = pool.events().subscribe<skep::events::worker_terminated>();
///     while (const auto end = co_await ends.next())
///         std::cout << to_string(end->worker) << ": " << end->reason << '\n';
///
/// Executor: the executor of the waiting coroutine or of the listener. That executor has work until the
/// subscription is closed or end_waits() is called.
/// Thread safety: every function may be called from any thread.
/// Lifetime: subscriptions may outlive the bus, and both may outlive the execution context.
class SKEP_API event_bus {
public:
    /// Default capacity of a subscriber's queue, in events.
    static constexpr std::size_t default_capacity = 1024;

    event_bus();
    ~event_bus();
    event_bus(const event_bus&) = delete;
    event_bus& operator=(const event_bus&) = delete;

    /// Ends all waits for events, so that the executors of subscribers can run out of work. From now on
    /// event_stream::next() returns std::nullopt instead of waiting, and a listener gets events only while
    /// its executor has other work. A pool calls this at the end of its shutdown if the bus is its own; a
    /// pool_manager calls it for its bus. Idempotent.
    void end_waits() noexcept;

    /// Subscribes to events of the types `E`; without `E`, of all types but events::span. `capacity`: the
    /// maximum number of unread events in the queue, 1..1,000,000.
    /// Throws error(errc::invalid_config) if `capacity` is out of range.
    template <detail::event_type... E>
    event_stream<E...> subscribe(std::size_t capacity = default_capacity) {
        return event_stream<E...>(open(detail::bits_of<E...>, capacity));
    }

    /// Subscribes `handler` to events of type E. `handler(const E&)` is called on `executor`, one event at a
    /// time, until the result is destroyed. Exceptions of the handler are dropped. `capacity`: as for
    /// subscribe().
    /// Throws error(errc::invalid_config) if `capacity` is out of range.
    /// Thread safety: if a thread that does not run `executor` destroys the result, the handler may still be
    /// running for a last event.
    template <detail::event_type E, std::invocable<const E&> Handler>
    subscription listen(boost::asio::any_io_executor executor, Handler handler,
                        std::size_t capacity = default_capacity) {
        auto call = [handler = std::move(handler)](const event& new_event) mutable {
            handler(std::get<E>(new_event));
        };
        return listen_to(detail::bits_of<E>, std::move(executor), std::move(call), capacity);
    }

    /// Subscribes `handler(const event&)` to events of two or more types, in the order of publication.
    /// Otherwise the same.
    template <detail::event_type First, detail::event_type Second, detail::event_type... More>
    subscription listen(boost::asio::any_io_executor executor, std::function<void(const event&)> handler,
                        std::size_t capacity = default_capacity) {
        return listen_to(detail::bits_of<First, Second, More...>, std::move(executor), std::move(handler),
                         capacity);
    }

    /// Subscribes `handler(const event&)` to events of all types but events::span. Otherwise the same.
    subscription listen(boost::asio::any_io_executor executor, std::function<void(const event&)> handler,
                        std::size_t capacity = default_capacity) {
        return listen_to(detail::bits_of<>, std::move(executor), std::move(handler), capacity);
    }

    /// Returns true if there is a subscriber to events of type E.
    template <detail::event_type E>
    bool wants() const noexcept {
        return (wanted_.load(std::memory_order_relaxed) & detail::bits_of<E>) != 0;
    }

    /// Publishes the event that `make()` returns, an E. Calls `make` only if there is a subscriber. An event
    /// that fails with an exception, for example for lack of memory, is dropped.
    template <detail::event_type E, std::invocable Make>
    void emit(Make&& make) noexcept {
        if (wants<E>()) {
            try {
                put(event(std::in_place_type<E>, std::forward<Make>(make)()));
            } catch (...) {}
        }
    }

private:
    struct subscriber {
        std::weak_ptr<detail::event_mailbox> mailbox;
        std::uint64_t wanted;
    };

    std::shared_ptr<detail::event_mailbox> open(std::uint64_t event_mask, std::size_t capacity);
    subscription listen_to(std::uint64_t event_mask, boost::asio::any_io_executor executor,
                           std::function<void(const event&)> handler, std::size_t capacity);
    void put(const event& new_event);
    void drop_expired_subscribers();

    std::atomic<std::uint64_t> wanted_{0};
    std::mutex mutex_;
    std::vector<subscriber> subscribers_;
    bool has_ended_waits_ = false;
};

} // namespace skep
