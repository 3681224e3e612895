// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// What a Redis server sends, cut anywhere, gives the same replies as in one piece, or is refused; no reply
// takes more than its limits; and what is made of a reply is a session or an error.

#include "check.hpp"
#include "redis/redis_protocol.hpp"
#include "redis/session_replies.hpp"
#include <skep/error.hpp>

#include <algorithm>
#include <chrono>
#include <fuzzer/FuzzedDataProvider.h>
#include <string>
#include <string_view>
#include <vector>

namespace skep::fuzz {

namespace {

/// What becomes of a stream: the replies, as they came.
struct outcome {
    std::vector<std::string> replies;
    std::string problem;

    bool operator==(const outcome&) const = default;
};

struct measures {
    std::size_t elements = 0;
    std::size_t depth = 0;
};

/// The bytes that stand for it; an array of nil like a nil.
std::string encoded(const redisReply& reply, measures& taken, std::size_t depth) {
    taken.depth = std::max(taken.depth, depth);
    const std::string text(reply.str == nullptr ? "" : reply.str, reply.len);
    switch (reply.type) {
    case REDIS_REPLY_STATUS: return "+" + text + "\r\n";
    case REDIS_REPLY_ERROR: return "-" + text + "\r\n";
    case REDIS_REPLY_INTEGER: return ":" + std::to_string(reply.integer) + "\r\n";
    case REDIS_REPLY_NIL: return "$-1\r\n";
    case REDIS_REPLY_STRING: return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
    case REDIS_REPLY_ARRAY: break;
    default: require(false, "no other type comes through");
    }
    taken.elements += reply.elements;
    auto bytes = "*" + std::to_string(reply.elements) + "\r\n";
    for (std::size_t i = 0; i < reply.elements; ++i) {
        bytes += encoded(*reply.element[i], taken, depth + 1);
    }
    return bytes;
}

template <class Piece>
outcome parsed(std::string_view bytes, std::size_t reply_bytes, Piece piece) {
    redis_parser parser(reply_bytes);
    outcome result;
    while (!bytes.empty() && result.problem.empty()) {
        const auto next = bytes.substr(0, std::max<std::size_t>(piece(), 1));
        bytes.remove_prefix(next.size());
        parser.feed(next);
        while (const auto reply = parser.take()) {
            measures taken;
            result.replies.push_back(encoded(*reply, taken, 0));
            require(result.replies.back().size() <= reply_bytes, "a reply keeps its limit");
            require(taken.elements <= reply_scanner::most_elements, "a reply has so many elements at most");
            require(taken.depth <= reply_scanner::deepest, "a reply is so deep at most");
        }
        result.problem = parser.problem();
    }
    return result;
}

template <class Function>
void expect_error_at_most(Function function) {
    try {
        function();
    } catch (const error&) {}
}

void interpret(const redisReply& reply) {
    session_data data;
    data.ttl(std::chrono::hours(1));
    const session seen("a", data, {}, duration::zero(), duration::zero(), 1);
    expect_error_at_most([&] {
        std::uint64_t trimmed = 0;
        session_replies::insertion(reply, "a", data, {}, trimmed);
    });
    expect_error_at_most([&] { session_replies::found(reply, "a"); });
    expect_error_at_most([&] { session_replies::replacement(reply, seen, data); });
    expect_error_at_most([&] { session_replies::is_one("touch", reply); });
    expect_error_at_most([&] {
        require(session_replies::count("sweep", reply, 128) <= 128, "no more was swept than wanted");
    });
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    FuzzedDataProvider input(data, size);
    const auto reply_bytes = input.ConsumeIntegralInRange<std::size_t>(1, 1u << 20);
    auto cuts = input.ConsumeIntegral<std::uint32_t>();
    const auto bytes = input.ConsumeRemainingBytesAsString();
    const auto any_piece = [&cuts] {
        cuts = cuts * 1664525 + 1013904223;
        return std::size_t(1) << (cuts >> 28);
    };
    const auto whole = parsed(bytes, reply_bytes, [] { return std::string_view::npos; });
    require(parsed(bytes, reply_bytes, any_piece) == whole, "replies of pieces cut anywhere");
    redis_parser parser(reply_bytes);
    parser.feed(bytes);
    while (const auto reply = parser.take()) {
        interpret(*reply);
    }
    return 0;
}

} // namespace skep::fuzz
