// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "redis/reply_scanner.hpp"

#include <hiredis/hiredis.h>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

// The part of hiredis that implements Redis' protocol. Its connections are not used: they write to a socket
// in such a way that SIGPIPE kills the host after the loss of the server, and they resolve host names
// synchronously.

namespace skep {

struct redis_deleter {
    void operator()(redisReply* reply) const noexcept { ::freeReplyObject(reply); }
    void operator()(redisReader* reader) const noexcept { ::redisReaderFree(reader); }
};

using redis_reply = std::unique_ptr<redisReply, redis_deleter>;

/// Returns a command in wire format.
std::string redis_command(const std::vector<std::string_view>& words);

/// Returns the reason of a refusal. Includes only the kind of the server's error: the rest may quote data.
std::string redis_refusal(std::string_view message);

/// Extracts replies from received bytes. Allocates memory for at most one reply of `reply_bytes`, and for the
/// bytes of the last feed().
class redis_parser {
public:
    explicit redis_parser(std::size_t reply_bytes);

    void feed(std::string_view bytes);

    /// Returns the next reply; null if it is incomplete.
    redis_reply take();

    /// Returns a violation by the server, such as "sent a reply of ..."; empty without a violation. Replies
    /// before the violation can still be taken.
    const std::string& problem() const noexcept { return problem_; }

private:
    reply_scanner scanner_; ///< checks each byte before hiredis
    std::unique_ptr<redisReader, redis_deleter> reader_;
    std::string problem_;
};

} // namespace skep
