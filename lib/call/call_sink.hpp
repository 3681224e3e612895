// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/lazy_error.hpp>
#include <skep/reply.hpp>
#include <skep/reply_stream.hpp>

#include <cstddef>

namespace skep {

/// Receives the outcome of a call, on the strand. One answer or one failure comes last and resumes the
/// caller.
class call_sink {
public:
    virtual void put_answer(reply&& answer) = 0;
    virtual void put_failure(lazy_error&& failure) = 0;

    /// Ends a private call whose worker is lost, in place of an answer or failure.
    virtual void put_loss() noexcept {}

    /// A worker has the call.
    virtual void on_sent() {}

    /// A chunk of a stream, before the answer or failure.
    virtual void put_chunk(chunk, std::size_t /* bytes */) {}

    /// Destroys the continuation of the caller. Called when no coroutine will ever run again.
    virtual void forget() noexcept = 0;

protected:
    ~call_sink() = default;
};

} // namespace skep
