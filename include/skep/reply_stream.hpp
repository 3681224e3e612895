// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/blob.hpp>
#include <skep/export.hpp>
#include <skep/initiate.hpp>
#include <skep/reply.hpp>
#include <skep/value_as.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json/value.hpp>

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace skep {

class stream_reader;

/// One piece of a stream: what the worker's generator has yielded.
struct chunk {
    boost::json::value value;      ///< what the generator has yielded
    std::vector<blob> attachments; ///< `value` refers to them as {"$attachment": index}

    /// `value` as a T: see value_as. Throws error(errc::type_mismatch), which says where it does not fit.
    template <class T>
    T as() const {
        return value_as<T>(value);
    }
};

/// The answer to a call that comes piece by piece: see pool::stream.
///
///     auto stream = co_await pool.stream(std::move(req));
///     while (const auto piece = co_await stream.next()) {
///         show(piece->value);
///     }
///     show(stream.result().value);
///
/// Back-pressure: a worker may be stream_options::window chunks ahead of the consumer, and window_bytes; then its
/// generator stands still until the consumer goes on. Calls on other workers, and other streams, do not notice.
/// Leaving: destroying the stream before its end, or cancel(), ends the generator in the worker, by an exception where it
/// is, so that its `finally` blocks run; the worker then takes the next call. One that is not through with that after
/// cancel_grace is replaced.
/// Thread safety: none; next() is awaited by one coroutine at a time, on any executor. The stream may outlive its pool, but
/// not the execution context of that.
class SKEP_API reply_stream {
public:
    /// Constructs an empty stream: it has no chunk and no result.
    reply_stream() noexcept;
    reply_stream(reply_stream&&) noexcept;
    reply_stream& operator=(reply_stream&&) noexcept;
    ~reply_stream();

    /// The next chunk, in the order in which they were sent; nothing after the last. Chunks that have arrived are returned
    /// before the error that ended the stream, but after cancel() none is.
    /// Errors, each again if it is awaited again: remote_error (the generator's exception), timeout (the request's
    /// timeout or deadline, or no chunk for its idle_timeout though there was room for one), worker_lost, cancelled,
    /// shutting_down. A stream of which a chunk has arrived is never sent again, idempotent or not.
    /// Cancellation (all types): the wait ends with cancelled; the stream goes on, and a chunk that came meanwhile is the
    /// next one. (A wait that has ended with a chunk at the same time as the other side of a `||` is another matter: that
    /// operator drops what comes second. Use the request's idle_timeout.)
    boost::asio::awaitable<std::optional<chunk>> next();
    template <class CompletionToken>
    auto next(CompletionToken&& token) {
        using token_type = std::decay_t<CompletionToken>;
        if constexpr (detail::is_coroutine_token<token_type>) {
            return next_of(reader_, token);
        } else {
            auto start = [reader = reader_](completion<std::optional<chunk>>&& caller) {
                begin_next(reader, std::move(caller));
            };
            const auto executor = [this] { return get_executor(); };
            return detail::initiate<std::optional<chunk>>(std::forward<CompletionToken>(token), executor,
                                                          std::move(start));
        }
    }

    /// What the generator has returned, with worker and times. Only after next() has returned nothing: throws
    /// std::logic_error before.
    const reply& result() const;

    /// Leaves the stream, as destroying it does; next() throws cancelled from then on. Does nothing after its end.
    void cancel();

    /// The executor of the stream's pool, which handlers have that have none of their own; the system executor if the stream
    /// is empty or its pool is gone.
    boost::asio::any_io_executor get_executor() const noexcept;

private:
    friend class stream_reader;

    explicit reply_stream(std::shared_ptr<stream_reader> reader) noexcept;

    /// A chunk that has arrived is returned without leaving the executor.
    template <class Executor>
    static boost::asio::awaitable<std::optional<chunk>, Executor> next_of(
        std::shared_ptr<stream_reader> reader, boost::asio::use_awaitable_t<Executor> token) {
        if (has_to_wait(reader)) {
            auto start = [reader](completion<void>&& caller) { begin_wait(*reader, std::move(caller)); };
            auto waiting = detail::initiate<void>(token, detail::no_executor, std::move(start));
            co_await std::move(waiting);
            const auto cancellation = co_await boost::asio::this_coro::cancellation_state;
            end_wait(*reader, cancellation.cancelled());
        }
        co_return take_next(reader);
    }

    static bool has_to_wait(const std::shared_ptr<stream_reader>& reader) noexcept;
    static void begin_wait(stream_reader& reader, completion<void>&& caller);
    static void end_wait(stream_reader& reader, boost::asio::cancellation_type cancelled) noexcept;
    static std::optional<chunk> take_next(const std::shared_ptr<stream_reader>& reader);
    static void begin_next(const std::shared_ptr<stream_reader>& reader,
                           completion<std::optional<chunk>>&& caller);

    std::shared_ptr<stream_reader> reader_;
};

} // namespace skep
