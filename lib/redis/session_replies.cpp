// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "redis/session_replies.hpp"

#include "core/with_detail.hpp"
#include "redis/session_text.hpp"
#include "session/session_rules.hpp"
#include <skep/error.hpp>

#include <charconv>
#include <chrono>
#include <limits>
#include <memory>

namespace skep {

void throw_failed(std::string_view operation, const std::string& cause) {
    throw error(errc::session_backend_failed, with_detail(std::string(operation) + ": " + cause));
}

namespace session_replies {

namespace {

using std::chrono::microseconds;
using std::chrono::nanoseconds;

/// The key holds foreign data, or the reply does not come from the script.
[[noreturn]] void throw_foreign(std::string_view operation) {
    throw_failed(operation, "what a key under the prefix holds is no session");
}

std::string_view text_of(const redisReply& reply) {
    return reply.str == nullptr ? std::string_view() : std::string_view(reply.str, reply.len);
}

/// Returns a number in 0..most, sent as an integer or as text.
std::uint64_t number_of(std::string_view operation, const redisReply& reply,
                        std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) {
    std::uint64_t number = 0;
    bool is_good = false;
    if (reply.type == REDIS_REPLY_INTEGER) {
        number = static_cast<std::uint64_t>(reply.integer);
        is_good = reply.integer >= 0;
    } else {
        const auto text = text_of(reply);
        const auto* const end = text.data() + text.size();
        const auto [stop, problem] = std::from_chars(text.data(), end, number);
        is_good = !text.empty() && problem == std::errc() && stop == end;
    }
    if (!is_good || number > most) {
        throw_foreign(operation);
    }
    return number;
}

const redisReply& element(std::string_view operation, const redisReply& reply, std::size_t index) {
    if (reply.type != REDIS_REPLY_ARRAY || index >= reply.elements) {
        throw_foreign(operation);
    }
    return *reply.element[index];
}

/// Returns the time since a moment on the server's clock.
duration time_since(std::string_view operation, const redisReply& reply) {
    constexpr auto most = std::chrono::duration_cast<microseconds>(duration::max()).count();
    return microseconds(number_of(operation, reply, static_cast<std::uint64_t>(most)));
}

duration ttl_of(std::string_view operation, const redisReply& reply) {
    const nanoseconds ttl(
        number_of(operation, reply, static_cast<std::uint64_t>(nanoseconds(longest_session_ttl).count())));
    if (ttl < shortest_session_ttl) {
        throw_foreign(operation);
    }
    return ttl;
}

/// On the clock of the creating host, in nanoseconds; may be before 1970.
session::wall_time creation_of(std::string_view operation, const redisReply& reply) {
    const auto text = text_of(reply);
    const auto* const end = text.data() + text.size();
    long long created = 0;
    const auto [stop, problem] = std::from_chars(text.data(), end, created);
    if (text.empty() || problem != std::errc() || stop != end) {
        throw_foreign(operation);
    }
    return session::wall_time(std::chrono::duration_cast<session::wall_time::duration>(nanoseconds(created)));
}

/// Sets the session's last worker from a script's reply.
void set_last_worker(std::string_view operation, session& target, const redisReply& reply) {
    if (reply.type == REDIS_REPLY_NIL) {
        return;
    }
    auto worker = to_worker_id(text_of(reply));
    if (!worker) {
        throw_foreign(operation);
    }
    target.set_last_worker(std::make_shared<const worker_id>(std::move(*worker)));
}

/// Converts the reply of session_scripts::find().
session to_session(std::string_view operation, std::string id, const redisReply& fields) {
    const auto at = [&](std::size_t index) -> const redisReply& { return element(operation, fields, index); };
    const auto ttl = ttl_of(operation, at(1));
    auto data = to_session_data(text_of(at(3)), ttl);
    if (!data) {
        throw_foreign(operation);
    }
    const auto version = number_of(operation, at(0));
    session result(std::move(id), std::move(*data), creation_of(operation, at(2)),
                   time_since(operation, at(4)), time_since(operation, at(5)), version);
    set_last_worker(operation, result, at(6));
    return result;
}

} // namespace

session_insertion insertion(const redisReply& reply, std::string id, session_data data,
                            session::wall_time created_at, std::uint64_t& trimmed_count) {
    const auto at = [&](std::size_t index) -> const redisReply& { return element("insert", reply, index); };
    session_insertion result;
    result.is_new = number_of("insert", at(0), 1) == 1;
    result.count = number_of("insert", at(1));
    trimmed_count = number_of("insert", at(2));
    if (result.is_new) {
        const auto version = number_of("insert", at(3));
        result.stored =
            session(std::move(id), std::move(data), created_at, duration::zero(), duration::zero(), version);
    } else if (reply.elements > 3) {
        result.stored = to_session("insert", std::move(id), at(3));
    }
    return result;
}

session found(const redisReply& reply, std::string id) {
    return to_session("find", std::move(id), reply);
}

session_replacement replacement(const redisReply& reply, const session& old_session, session_data data) {
    session_replacement result;
    result.is_gone = reply.type == REDIS_REPLY_NIL;
    if (reply.type == REDIS_REPLY_ARRAY) {
        const auto version = number_of("replace", element("replace", reply, 0));
        const auto age = time_since("replace", element("replace", reply, 1));
        result.stored = session(old_session.id(), std::move(data), old_session.created_at(), age,
                                duration::zero(), version);
        set_last_worker("replace", *result.stored, element("replace", reply, 2));
    } else if (!result.is_gone) {
        number_of("replace", reply, 0); // the version differs
    }
    return result;
}

bool is_one(std::string_view operation, const redisReply& reply) {
    return number_of(operation, reply, 1) == 1;
}

std::size_t count(std::string_view operation, const redisReply& reply, std::size_t most) {
    return number_of(operation, reply, most);
}

} // namespace session_replies

} // namespace skep
