// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

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

/// Takes replies out of the bytes that arrive.
class redis_parser {
public:
    redis_parser();

    /// False if that is not Redis' protocol, or memory is short.
    bool feed(std::string_view bytes) noexcept;

    /// The next reply; null if it has not arrived in full. False as above.
    bool take(redis_reply& next) noexcept;

private:
    std::unique_ptr<redisReader, redis_deleter> reader_;
};

} // namespace skep
