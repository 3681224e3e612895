// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/error.hpp>
#include <skep/reply.hpp>
#include <skep/reply_stream.hpp>

#include <cstddef>
#include <memory>

namespace skep {

/// Where what comes of a call goes. It is told one answer or one failure, and then woken, once; used on the strand. That
/// of a private call is woken without either if its worker is lost.
class call_sink {
public:
    virtual void put_answer(reply answer) noexcept = 0;
    virtual void put_failure(std::unique_ptr<error> failure) noexcept = 0;

    /// The same where there is no memory for more.
    virtual void put_failure(errc code) noexcept = 0;

    /// A worker has the call.
    virtual void on_sent() {}

    /// A piece of a stream, before its answer or failure.
    virtual void put_chunk(chunk, std::size_t /* bytes */) {}

    /// Lets the caller go on with what was put. The last thing that happens to a call.
    virtual void wake() = 0;

    /// Destroys what would wake the caller. For when no coroutine will ever run again.
    virtual void forget() noexcept = 0;

protected:
    ~call_sink() = default;
};

} // namespace skep
