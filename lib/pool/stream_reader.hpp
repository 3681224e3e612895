// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "call/call_ties.hpp"
#include "call/stream_call.hpp"
#include <skep/reply_stream.hpp>

#include <memory>
#include <optional>

namespace skep {

class pool_core;

using stream_ptr = boost::intrusive_ptr<stream_call>;

/// The consumer's end of a stream, on the consumer's executor. May outlive the pool.
class stream_reader {
public:
    static reply_stream open(const std::shared_ptr<pool_core>& pool, stream_ptr stream);

    stream_reader(const std::shared_ptr<pool_core>& pool, stream_ptr stream) noexcept;
    ~stream_reader() { close(); }
    stream_reader(const stream_reader&) = delete;
    stream_reader& operator=(const stream_reader&) = delete;

    /// Returns null after the pool's end.
    std::shared_ptr<pool_core> pool() const noexcept { return pool_.lock(); }

    /// Returns true if take_next() has nothing to take yet.
    bool has_to_wait() const noexcept;

    /// Completes `caller` when there is something to take.
    void wait(completion<void>&& caller);

    /// Marks the wait as cancelled: its caller ignores the result, and the chunk stays for the next call.
    void cancel_next() noexcept { stream_->given().was_cancelled = true; }
    std::optional<chunk> take_next();

    const reply& result() const;

    /// Leaves the stream and cancels its call.
    void leave() noexcept;

    /// The same, and ends the delivery of progress.
    void close() noexcept;

private:
    std::weak_ptr<pool_core> pool_;
    stream_ptr stream_;
    progress_scope progress_;
    bool is_over_ = false; ///< nothing is left to take
    bool has_left_ = false;
};

} // namespace skep
