// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/with_detail.hpp"
#include "redis/redis_rules.hpp"
#include "redis/redis_server.hpp"
#include "redis/session_replies.hpp"
#include "redis/session_scripts.hpp"
#include "redis/session_text.hpp"
#include <skep/error.hpp>
#include <skep/redis_sessions.hpp>

#include <boost/asio/awaitable.hpp>

#include <atomic>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace skep {

struct redis_sessions::state {
    state(const asio::any_io_executor& executor, redis_options options)
        : server(std::make_shared<redis_server>(executor, std::move(options))),
          index(server->options().prefix + ":index"),
          versions(server->options().prefix + ":version"),
          session_bytes(server->options().session_bytes) {}
    ~state() { redis_server::close(server); }
    state(const state&) = delete;
    state& operator=(const state&) = delete;

    /// Returns a command that runs a script on one session.
    std::string on_session(std::string_view script, const std::string& id,
                           std::initializer_list<std::string_view> arguments) const {
        const auto key = server->options().prefix + ":session:" + id;
        std::vector<std::string_view> words{"EVAL", script, "3", key, index, versions, id};
        words.insert(words.end(), arguments);
        return redis_command(words);
    }

    const redis_server::ptr server;
    const std::string index;
    const std::string versions;
    const std::size_t session_bytes;
    std::atomic<std::uint64_t> expired{0};
};

namespace {

std::string nanoseconds(std::chrono::nanoseconds span) {
    return std::to_string(span.count());
}

/// Returns the text of a session's contents, limited to the size that the service can read again.
std::string text_within(const session_data& data, std::size_t most) {
    auto text = to_text(data);
    if (text.size() > most) {
        throw error(errc::invalid_session,
                    with_detail("it takes " + std::to_string(text.size()) +
                                " bytes as text: must be at most " + std::to_string(most) +
                                " (redis_options::session_bytes)"));
    }
    return text;
}

} // namespace

redis_sessions::redis_sessions(const asio::any_io_executor& executor, redis_options options) {
    check(options);
    state_ = std::make_unique<state>(executor, std::move(options));
}

redis_sessions::~redis_sessions() = default;

auto redis_sessions::insert(std::string id, session_data data, session::wall_time created_at,
                            std::size_t quota) -> awaitable<session_insertion> {
    const auto most = std::to_string(state_->session_bytes);
    const auto text = text_within(data, state_->session_bytes);
    auto command = state_->on_session(session_scripts::insert(), id,
                                      {std::to_string(quota), nanoseconds(data.ttl()),
                                       nanoseconds(created_at.time_since_epoch()), text, most});
    auto asking = redis_server::ask(state_->server, "insert", std::move(command));
    const redis_reply reply = co_await std::move(asking);
    std::uint64_t trimmed = 0;
    auto result = session_replies::insertion(*reply, std::move(id), std::move(data), created_at, trimmed);
    state_->expired += trimmed;
    co_return result;
}

auto redis_sessions::find(std::string id, session_access access) -> awaitable<std::optional<session>> {
    const std::string_view is_access = access == session_access::touch ? "1" : "0";
    const auto most = std::to_string(state_->session_bytes);
    auto command = state_->on_session(session_scripts::find(), id, {is_access, most});
    auto asking = redis_server::ask(state_->server, "find", std::move(command));
    const redis_reply reply = co_await std::move(asking);
    std::optional<session> found;
    if (reply->type != REDIS_REPLY_NIL) {
        found = session_replies::found(*reply, std::move(id));
    }
    co_return found;
}

auto redis_sessions::replace(session old_session, session_data data) -> awaitable<session_replacement> {
    const auto text = text_within(data, state_->session_bytes);
    auto command = state_->on_session(session_scripts::replace(), old_session.id(),
                                      {std::to_string(old_session.version()), nanoseconds(data.ttl()), text});
    auto asking = redis_server::ask(state_->server, "replace", std::move(command));
    const redis_reply reply = co_await std::move(asking);
    co_return session_replies::replacement(*reply, old_session, std::move(data));
}

redis_sessions::awaitable<bool> redis_sessions::touch(std::string id) {
    auto command = state_->on_session(session_scripts::touch(), id, {});
    auto asking = redis_server::ask(state_->server, "touch", std::move(command));
    const redis_reply reply = co_await std::move(asking);
    co_return session_replies::is_one("touch", *reply);
}

redis_sessions::awaitable<bool> redis_sessions::record_worker(std::string id, worker_id worker) {
    auto command = state_->on_session(session_scripts::record_worker(), id, {to_string(worker)});
    auto asking = redis_server::ask(state_->server, "record_worker", std::move(command));
    const redis_reply reply = co_await std::move(asking);
    co_return session_replies::is_one("record_worker", *reply);
}

redis_sessions::awaitable<bool> redis_sessions::remove(std::string id) {
    auto command = state_->on_session(session_scripts::remove(), id, {});
    auto asking = redis_server::ask(state_->server, "remove", std::move(command));
    const redis_reply reply = co_await std::move(asking);
    co_return session_replies::is_one("remove", *reply);
}

redis_sessions::awaitable<session_sweep> redis_sessions::sweep(std::size_t most) {
    auto command =
        redis_command({"EVAL", session_scripts::sweep(), "1", state_->index, std::to_string(most)});
    auto asking = redis_server::ask(state_->server, "sweep", std::move(command));
    const redis_reply reply = co_await std::move(asking);
    const auto removed = session_replies::count("sweep", *reply, most);
    state_->expired += removed;
    co_return session_sweep{removed, removed < most};
}

redis_sessions::awaitable<session_usage> redis_sessions::usage() {
    auto command = redis_command({"ZCARD", state_->index});
    auto asking = redis_server::ask(state_->server, "usage", std::move(command));
    const redis_reply reply = co_await std::move(asking);
    const auto count = session_replies::count("usage", *reply, std::numeric_limits<std::size_t>::max());
    co_return session_usage{count, state_->expired, 0};
}

} // namespace skep
