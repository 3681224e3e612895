// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/blob.hpp>
#include <skep/export.hpp>
#include <skep/initiate.hpp>
#include <skep/reply.hpp>
#include <skep/tensor_view.hpp>
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
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace skep {

class stream_reader;

/// One value that the worker's generator has yielded.
struct chunk {
    boost::json::value value;      ///< the yielded value
    std::vector<blob> attachments; ///< see reply::attachments; `value` refers to them

    /// Converts `value` to a T: see value_as. Throws error(errc::type_mismatch) with the place that does not
    /// fit.
    template <class T>
    T as() const {
        return value_as<T>(value);
    }

    /// Return bytes, an array, or the elements of an array by their place in `value`: see reply::attachment.
    blob attachment(std::string_view place) const { return attachment_at(value, attachments, place); }
    ndarray array(std::string_view place) const { return array_at(value, attachments, place); }
    template <array_element T>
    tensor_view<T> tensor(std::string_view place, const shape_rule& rule = {}) const {
        return detail::tensor_at<T>(value, attachments, place, rule);
    }
};

/// The answer to a call, chunk by chunk: see pool::stream.
///
///     auto stream = co_await pool.stream(std::move(req));
///     while (const auto piece = co_await stream.next()) {
///         show(piece->value);
///     }
///     show(stream.result().value);
///
/// Back-pressure: a worker may be stream_options::window chunks and window_bytes bytes ahead of the consumer.
/// Then its generator pauses until the consumer continues. Calls on other workers and other streams are not
/// affected.
/// Leaving: destroying the stream before its end, or cancel(), ends the generator in the worker. The
/// generator gets an exception at its current position, so that its `finally` blocks run; then the worker
/// takes the next call. A worker whose generator has not ended after cancel_grace is replaced.
/// Thread safety: none. At most one next() at a time, on any executor.
/// Lifetime: the stream may outlive its pool, but not the pool's execution context.
class SKEP_API reply_stream {
public:
    /// Constructs an empty stream: it has no chunk and no result.
    reply_stream() noexcept;
    reply_stream(reply_stream&&) noexcept;
    reply_stream& operator=(reply_stream&&) noexcept;
    ~reply_stream();

    /// Returns the next chunk, in the order of sending, or an empty optional after the last chunk. Chunks
    /// that have arrived come before the error that ended the stream; after cancel(), every next() fails.
    /// Errors, repeated by each further next(): remote_error (the generator's exception), timeout (the
    /// request's timeout or deadline passed, or its idle_timeout passed without a chunk although the worker
    /// could send one), worker_lost, cancelled, shutting_down. After its first chunk, a stream is never sent
    /// again, even if it is idempotent.
    /// Cancellation (all types): the wait ends with cancelled. The stream continues, and the next call
    /// returns a chunk that arrived meanwhile. Exception: if both sides of a `||` complete at the same time,
    /// the operator drops the second result, which may be a chunk. To limit the wait, use the request's
    /// idle_timeout.
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

    /// Returns the return value of the generator, with worker and times.
    /// Throws std::logic_error before next() has returned an empty optional.
    const reply& result() const;

    /// Leaves the stream, as the destructor does; later calls of next() fail with cancelled. Does nothing
    /// after the end of the stream.
    void cancel();

    /// Returns the executor of the stream's pool, the default for handlers. Returns the system executor if
    /// the stream is empty or its pool is gone.
    boost::asio::any_io_executor get_executor() const noexcept;

private:
    friend class stream_reader;

    explicit reply_stream(std::shared_ptr<stream_reader> reader) noexcept;

    /// Returns a chunk that has arrived without leaving the executor.
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
