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

/// The next event; none if there will be no more.
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

/// Of all without any, but for spans: whoever wants those has calls traced, and says so.
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

/// An event, which is of type E, as such.
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

/// One who is told of events, until this is destroyed. Movable; a moved-from one is nobody's.
class SKEP_API subscription {
public:
    subscription() noexcept = default;
    /// For an event_bus.
    explicit subscription(std::shared_ptr<detail::event_mailbox> mailbox) noexcept;
    subscription(subscription&&) noexcept = default;
    subscription& operator=(subscription&& other) noexcept;
    ~subscription();

    /// Ends it: no more events are taken. Those that have come can still be read. From any thread.
    void close() noexcept;

    /// Events that have come while it had no place for them. From any thread.
    std::uint64_t dropped() const noexcept;

protected:
    /// Where its events wait to be read.
    const std::shared_ptr<detail::event_mailbox>& mailbox() const noexcept { return mailbox_; }

private:
    std::shared_ptr<detail::event_mailbox> mailbox_;
};

/// Events to be read one by one: those of the types `E`, or all.
template <class... E>
class event_stream : public subscription {
public:
    /// The type itself if there is one, else `event`.
    using value_type = typename detail::value_of_stream<E...>::type;

    using subscription::subscription;

    /// The next event, in the order in which they have happened; waits for it. Returns std::nullopt once all was read and
    /// the bus is gone, has ended its waits, or this stream was closed. Takes a completion token, as the operations of a pool
    /// do; the default executor of a handler is the system executor. One call at a time.
    /// Errors: cancelled.
    boost::asio::awaitable<std::optional<value_type>> next() { return next_of(mailbox()); }
    template <class CompletionToken>
    auto next(CompletionToken&& token) {
        if constexpr (std::is_same_v<std::decay_t<CompletionToken>, default_token>) {
            return next();
        } else if constexpr (std::is_same_v<value_type, event>) {
            return detail::initiate_coroutine<std::optional<event>>(std::forward<CompletionToken>(token),
                                                                    detail::take_event(mailbox()));
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

/// Tells whoever wants to know of what happens: see skep::events. Each subscriber has a queue of its own, so that one
/// that is slow, or throws, delays nobody; what does not fit into its queue is dropped and counted. Without a subscriber
/// an event costs a comparison.
///
///     auto ends = pool.events().subscribe<skep::events::worker_terminated>();
///     while (const auto end = co_await ends.next())
///         std::cout << to_string(end->worker) << ": " << end->reason << '\n';
///
/// Thread-safety: every function may be called from any thread.
/// Lifetime: those who have subscribed may outlive it, and both may outlive the execution context.
/// Executor: the executor of the coroutine that waits, or of the listener. It has work until the subscription is closed or
/// end_waits() is called.
class SKEP_API event_bus {
public:
    /// How many events may wait for a subscriber that does not say.
    static constexpr std::size_t default_capacity = 1024;

    event_bus();
    ~event_bus();
    event_bus(const event_bus&) = delete;
    event_bus& operator=(const event_bus&) = delete;

    /// Takes all work of subscribers from their executors: from now on event_stream::next() returns none where it would
    /// have to wait, and a listener is told of events as long as its executor runs for other reasons. A pool does so with a
    /// bus of its own at the end of its shutdown, and a pool_manager with its bus. Idempotent.
    void end_waits() noexcept;

    /// Events of these types, or of all but spans, from now on; at most `capacity` that have not been read, 1..1,000,000.
    template <detail::event_type... E>
    event_stream<E...> subscribe(std::size_t capacity = default_capacity) {
        return event_stream<E...>(open(detail::bits_of<E...>, capacity));
    }

    /// The same by a function, `handler(const E&)`, which is called on `executor`, one event at a time, while the result
    /// lives; exceptions that it throws are dropped. On another thread than that of `executor`, it may still be at its last event when
    /// the result was destroyed.
    template <detail::event_type E, std::invocable<const E&> Handler>
    subscription listen(boost::asio::any_io_executor executor, Handler handler,
                        std::size_t capacity = default_capacity) {
        auto call = [handler = std::move(handler)](const event& new_event) mutable {
            handler(std::get<E>(new_event));
        };
        return listen_to(detail::bits_of<E>, std::move(executor), std::move(call), capacity);
    }

    /// The same for events of all types but spans: `handler(const event&)`.
    subscription listen(boost::asio::any_io_executor executor, std::function<void(const event&)> handler,
                        std::size_t capacity = default_capacity) {
        return listen_to(detail::bits_of<>, std::move(executor), std::move(handler), capacity);
    }

    /// Whether anybody wants to know of such events.
    template <detail::event_type E>
    bool wants() const noexcept {
        return (wanted_.load(std::memory_order_relaxed) & detail::bits_of<E>) != 0;
    }

    /// Tells of what `make()` returns, an E, which is called only if anybody wants to know. Never throws: what fails for
    /// lack of memory is not told of.
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
