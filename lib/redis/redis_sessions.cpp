// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "redis/redis_rules.hpp"
#include "redis/redis_server.hpp"
#include "redis/session_scripts.hpp"
#include "redis/session_text.hpp"
#include <skep/error.hpp>
#include <skep/redis_sessions.hpp>

#include <boost/asio/awaitable.hpp>

#include <atomic>
#include <charconv>
#include <initializer_list>

namespace skep {

struct redis_sessions::state {
    state(const asio::any_io_executor& executor, redis_options options)
        : server(std::make_shared<redis_server>(executor, std::move(options))),
          index(server->prefix() + ":index"),
          versions(server->prefix() + ":version") {}

    /// A command that runs a script on one session.
    std::string on_session(std::string_view script, const std::string& id,
                           std::initializer_list<std::string_view> arguments) const {
        const auto key = server->prefix() + ":session:" + id;
        std::vector<std::string_view> words{"EVAL", script, "3", key, index, versions, id};
        words.insert(words.end(), arguments);
        return redis_command(words);
    }

    const redis_server::ptr server;
    const std::string index;
    const std::string versions;
    std::atomic<std::uint64_t> expired{0};
};

namespace {

/// The server holds something else than what the scripts keep there.
[[noreturn]] void throw_foreign(std::string_view operation) {
    throw_failed(operation, "what a key under the prefix holds is no session");
}

std::string_view text_of(const redisReply& reply) {
    return reply.str == nullptr ? std::string_view() : std::string_view(reply.str, reply.len);
}

/// A number, as such or as text.
template <class Number = long long>
Number number_of(std::string_view operation, const redisReply& reply) {
    if (reply.type == REDIS_REPLY_INTEGER) {
        return static_cast<Number>(reply.integer);
    }
    const auto text = text_of(reply);
    Number number{};
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (text.empty() || problem != std::errc() || end != text.data() + text.size()) {
        throw_foreign(operation);
    }
    return number;
}

const redisReply& element(std::string_view operation, const redisReply& reply, std::size_t at) {
    if (reply.type != REDIS_REPLY_ARRAY || at >= reply.elements) {
        throw_foreign(operation);
    }
    return *reply.element[at];
}

std::string nanoseconds(std::chrono::nanoseconds span) {
    return std::to_string(span.count());
}

duration microseconds(std::string_view operation, const redisReply& reply) {
    return std::chrono::microseconds(number_of(operation, reply));
}

/// What session_scripts::find() replies.
session to_session(std::string_view operation, std::string id, const redisReply& fields) {
    const auto at = [&](std::size_t index) -> const redisReply& { return element(operation, fields, index); };
    const std::chrono::nanoseconds ttl(number_of(operation, at(1)));
    const std::chrono::nanoseconds created(number_of(operation, at(2)));
    auto data = to_session_data(text_of(at(3)), ttl);
    if (!data) {
        throw_foreign(operation);
    }
    const auto version = number_of<std::uint64_t>(operation, at(0));
    const auto when = std::chrono::duration_cast<session::wall_time::duration>(created);
    return {std::move(id),
            std::move(*data),
            session::wall_time(when),
            microseconds(operation, at(4)),
            microseconds(operation, at(5)),
            version};
}

} // namespace

redis_sessions::redis_sessions(const asio::any_io_executor& executor, redis_options options) {
    check(options);
    state_ = std::make_unique<state>(executor, std::move(options));
}

redis_sessions::~redis_sessions() = default;

auto redis_sessions::insert(std::string id, session_data data, session::wall_time created_at,
                            std::size_t quota) -> awaitable<session_insertion> {
    auto command = state_->on_session(session_scripts::insert(), id,
                                      {std::to_string(quota), nanoseconds(data.ttl()),
                                       nanoseconds(created_at.time_since_epoch()), to_text(data)});
    auto asking = redis_server::ask(state_->server, "insert", std::move(command));
    const redis_reply reply = co_await std::move(asking);
    const auto at = [&](std::size_t index) -> const redisReply& { return element("insert", *reply, index); };
    session_insertion result;
    result.is_new = number_of("insert", at(0)) == 1;
    result.count = number_of<std::size_t>("insert", at(1));
    state_->expired += number_of<std::uint64_t>("insert", at(2));
    if (result.is_new) {
        const auto version = number_of<std::uint64_t>("insert", at(3));
        result.stored =
            session(std::move(id), std::move(data), created_at, duration::zero(), duration::zero(), version);
    } else if (reply->elements > 3) {
        result.stored = to_session("insert", std::move(id), at(3));
    }
    co_return result;
}

auto redis_sessions::find(std::string id, session_access access) -> awaitable<std::optional<session>> {
    const std::string_view is_access = access == session_access::touch ? "1" : "0";
    auto command = state_->on_session(session_scripts::find(), id, {is_access});
    auto asking = redis_server::ask(state_->server, "find", std::move(command));
    const redis_reply reply = co_await std::move(asking);
    std::optional<session> found;
    if (reply->type != REDIS_REPLY_NIL) {
        found = to_session("find", std::move(id), *reply);
    }
    co_return found;
}

auto redis_sessions::replace(session seen, session_data data) -> awaitable<session_replacement> {
    auto command =
        state_->on_session(session_scripts::replace(), seen.id(),
                           {std::to_string(seen.version()), nanoseconds(data.ttl()), to_text(data)});
    auto asking = redis_server::ask(state_->server, "replace", std::move(command));
    const redis_reply reply = co_await std::move(asking);
    session_replacement result;
    result.is_gone = reply->type == REDIS_REPLY_NIL;
    if (reply->type == REDIS_REPLY_ARRAY) {
        const auto version = number_of<std::uint64_t>("replace", element("replace", *reply, 0));
        const auto age = microseconds("replace", element("replace", *reply, 1));
        result.stored =
            session(seen.id(), std::move(data), seen.created_at(), age, duration::zero(), version);
    }
    co_return result;
}

redis_sessions::awaitable<bool> redis_sessions::touch(std::string id) {
    auto command = state_->on_session(session_scripts::touch(), id, {});
    auto asking = redis_server::ask(state_->server, "touch", std::move(command));
    const redis_reply reply = co_await std::move(asking);
    co_return number_of("touch", *reply) == 1;
}

redis_sessions::awaitable<bool> redis_sessions::remove(std::string id) {
    auto command = state_->on_session(session_scripts::remove(), id, {});
    auto asking = redis_server::ask(state_->server, "remove", std::move(command));
    const redis_reply reply = co_await std::move(asking);
    co_return number_of("remove", *reply) == 1;
}

redis_sessions::awaitable<session_sweep> redis_sessions::sweep(std::size_t most) {
    auto command =
        redis_command({"EVAL", session_scripts::sweep(), "1", state_->index, std::to_string(most)});
    auto asking = redis_server::ask(state_->server, "sweep", std::move(command));
    const redis_reply reply = co_await std::move(asking);
    const auto removed = number_of<std::size_t>("sweep", *reply);
    state_->expired += removed;
    co_return session_sweep{removed, removed < most};
}

redis_sessions::awaitable<session_usage> redis_sessions::usage() {
    auto command = redis_command({"ZCARD", state_->index});
    auto asking = redis_server::ask(state_->server, "usage", std::move(command));
    const redis_reply reply = co_await std::move(asking);
    co_return session_usage{number_of<std::size_t>("usage", *reply), state_->expired, 0};
}

} // namespace skep
