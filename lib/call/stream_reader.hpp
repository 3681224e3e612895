// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/completion.hpp>
#include <skep/reply_stream.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <memory>
#include <optional>
#include <utility>

namespace skep {

/// Port: the consumer's end of a stream, behind a reply_stream. Used on the consumer's executor. May outlive
/// the pool.
class stream_reader {
public:
    static reply_stream stream_of(std::shared_ptr<stream_reader> reader) noexcept {
        return reply_stream(std::move(reader));
    }

    virtual ~stream_reader() = default;

    /// Returns the executor of the stream's pool; the system executor after the pool's end.
    virtual boost::asio::any_io_executor get_executor() const noexcept = 0;

    /// Returns true if take_next() has nothing to take yet.
    virtual bool has_to_wait() const noexcept = 0;

    /// Completes `caller` when there is something to take.
    virtual void wait(completion<void>&& caller) = 0;

    /// Marks the wait as cancelled: its caller ignores the result, and the chunk stays for the next call.
    virtual void cancel_next() noexcept = 0;

    /// Returns the next chunk, or nullopt after the last. Throws the error that ended the stream.
    virtual std::optional<chunk> take_next() = 0;

    /// Throws std::logic_error before take_next() has returned nullopt.
    virtual const reply& result() const = 0;

    /// Leaves the stream and cancels its call.
    virtual void leave() noexcept = 0;

    /// The same, and ends the delivery of progress.
    virtual void close() noexcept = 0;
};

} // namespace skep
