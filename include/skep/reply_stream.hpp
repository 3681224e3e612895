// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/blob.hpp>
#include <skep/export.hpp>
#include <skep/reply.hpp>
#include <skep/value_as.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/json/value.hpp>

#include <memory>
#include <optional>
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
    /// Of nothing: it has no chunk and no result.
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

    /// What the generator has returned, with worker and times. Only after next() has returned nothing: throws
    /// std::logic_error before.
    const reply& result() const;

    /// Leaves the stream, as destroying it does; next() throws cancelled from then on. Does nothing after its end.
    void cancel();

private:
    friend class stream_reader;

    explicit reply_stream(std::unique_ptr<stream_reader> reader) noexcept;

    std::unique_ptr<stream_reader> reader_;
};

} // namespace skep
