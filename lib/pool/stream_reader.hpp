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

/// A consumer's end of a stream, on its own executor. The pool may be gone before it.
class stream_reader {
public:
    static reply_stream open(const std::shared_ptr<pool_core>& pool, stream_ptr stream);

    stream_reader(const std::shared_ptr<pool_core>& pool, stream_ptr stream) noexcept;
    ~stream_reader() { close(); }
    stream_reader(const stream_reader&) = delete;
    stream_reader& operator=(const stream_reader&) = delete;

    /// Null if it is gone.
    std::shared_ptr<pool_core> pool() const noexcept { return pool_.lock(); }

    /// Whether take_next() has nothing to take yet.
    bool has_to_wait() const noexcept;

    /// Completes when there is something to take.
    void wait(completion<void>&& caller);

    /// Whoever has cancelled a wait does not look at what it returns: the chunk is for the next time.
    void cancel_next() noexcept { stream_->given().was_cancelled = true; }
    std::optional<chunk> take_next();

    const reply& result() const;

    /// Leaves the stream: its producer is told.
    void leave() noexcept;

    /// The same, and no progress is told of any more.
    void close() noexcept;

private:
    std::weak_ptr<pool_core> pool_;
    stream_ptr stream_;
    progress_scope progress_;
    bool is_over_ = false; ///< there is nothing more to take
    bool has_left_ = false;
};

} // namespace skep
