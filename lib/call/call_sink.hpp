// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/lazy_error.hpp>
#include <skep/reply.hpp>
#include <skep/reply_stream.hpp>

#include <cstddef>

namespace skep {

/// Where what comes of a call goes; used on the strand. The last that its caller has of it is one answer or one failure, with
/// which he goes on.
class call_sink {
public:
    virtual void put_answer(reply&& answer) = 0;
    virtual void put_failure(lazy_error&& failure) = 0;

    /// The same of a private call whose worker is lost.
    virtual void put_loss() noexcept {}

    /// A worker has the call.
    virtual void on_sent() {}

    /// A piece of a stream, before its answer or failure.
    virtual void put_chunk(chunk, std::size_t /* bytes */) {}

    /// Destroys what would let the caller go on. For when no coroutine will ever run again.
    virtual void forget() noexcept = 0;

protected:
    ~call_sink() = default;
};

} // namespace skep
