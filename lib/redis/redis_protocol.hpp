// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "redis/reply_scanner.hpp"

#include <hiredis/hiredis.h>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

// What hiredis knows of Redis' protocol. Its connections are not used: they write to a socket such that SIGPIPE kills the
// host when the server has gone, and look host names up on the caller's time.

namespace skep {

struct redis_deleter {
    void operator()(redisReply* reply) const noexcept { ::freeReplyObject(reply); }
    void operator()(redisReader* reader) const noexcept { ::redisReaderFree(reader); }
};

using redis_reply = std::unique_ptr<redisReply, redis_deleter>;

/// As it is sent.
std::string redis_command(const std::vector<std::string_view>& words);

/// Why the server refused a command. Of what it says only the kind of the error: the rest may quote data.
std::string redis_refusal(std::string_view message);

/// Takes replies out of the bytes that arrive. Takes memory for at most one reply of `reply_bytes` and for the bytes of the
/// last feed().
class redis_parser {
public:
    explicit redis_parser(std::size_t reply_bytes);

    void feed(std::string_view bytes);

    /// The next reply; null if it has not arrived in full.
    redis_reply take();

    /// What the server did wrong, as "sent a reply of ..."; empty: nothing. The replies before that can be taken.
    const std::string& problem() const noexcept { return problem_; }

private:
    reply_scanner scanner_; ///< which looks at each byte before hiredis does
    std::unique_ptr<redisReader, redis_deleter> reader_;
    std::string problem_;
};

} // namespace skep
