// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "support/remote_sessions.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>

namespace skep::test {

namespace asio = boost::asio;
namespace json = boost::json;

namespace {

using record = key_value_server::record;

std::string to_text(const session_data& data) {
    return json::serialize(json::object{{"metadata", data.metadata()}, {"programs", data.programs()}});
}

session to_session(const std::string& id, const record& stored) {
    session_data data;
    data.ttl(stored.ttl);
    const auto parsed = json::parse(stored.text);
    for (const auto& fact : parsed.at("metadata").as_object()) {
        data.metadata(fact.key(), fact.value());
    }
    for (const auto& program : parsed.at("programs").as_object()) {
        data.put_program(program.key(), program.value());
    }
    const auto now = clock::now();
    session result(id, std::move(data), stored.created_at, now - stored.created, now - stored.last_accessed,
                   stored.version);
    result.set_last_worker(stored.last_worker);
    return result;
}

bool has_expired(const record& stored) {
    return stored.last_accessed + stored.ttl < clock::now();
}

} // namespace

record* key_value_server::find(const std::string& key) {
    expired += std::erase_if(records, [](const auto& each) { return has_expired(each.second); });
    const auto found = records.find(key);
    return found == records.end() ? nullptr : &found->second;
}

auto remote_sessions::travel(std::string operation) -> awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    co_await asio::post(executor, asio::use_awaitable);
    if (on_arrival) {
        on_arrival(operation);
    }
}

auto remote_sessions::insert(std::string id, session_data data, session::wall_time created_at,
                             std::size_t quota) -> awaitable<session_insertion> {
    co_await travel("insert");
    session_insertion result;
    if (auto* const there = server_->find(id)) {
        there->last_accessed = clock::now();
        result.stored = to_session(id, *there);
    } else if (server_->records.size() < quota) {
        const auto now = clock::now();
        const record added{to_text(data), data.ttl(), created_at, now, now, ++server_->last_version};
        server_->records.insert_or_assign(id, added);
        result.is_new = true;
        result.stored = to_session(id, added);
    }
    result.count = server_->records.size();
    co_return result;
}

auto remote_sessions::find(std::string id, session_access access) -> awaitable<std::optional<session>> {
    co_await travel("find");
    auto* const there = server_->find(id);
    if (there == nullptr) {
        co_return std::nullopt;
    }
    if (access == session_access::touch) {
        there->last_accessed = clock::now();
    }
    co_return to_session(id, *there);
}

auto remote_sessions::replace(session seen, session_data data) -> awaitable<session_replacement> {
    co_await travel("replace");
    session_replacement result;
    auto* const there = server_->find(seen.id());
    result.is_gone = there == nullptr;
    if (there != nullptr && there->version == seen.version()) {
        there->text = to_text(data);
        there->ttl = data.ttl();
        there->last_accessed = clock::now();
        there->version = ++server_->last_version;
        result.stored = to_session(seen.id(), *there);
    }
    co_return result;
}

auto remote_sessions::touch(std::string id) -> awaitable<bool> {
    co_await travel("touch");
    auto* const there = server_->find(id);
    if (there != nullptr) {
        there->last_accessed = clock::now();
    }
    co_return there != nullptr;
}

auto remote_sessions::record_worker(std::string id, worker_id worker) -> awaitable<bool> {
    co_await travel("record_worker");
    auto* const there = server_->find(id);
    if (there != nullptr) {
        there->last_accessed = clock::now();
        there->last_worker = std::make_shared<const worker_id>(std::move(worker));
    }
    co_return there != nullptr;
}

auto remote_sessions::remove(std::string id) -> awaitable<bool> {
    co_await travel("remove");
    const bool was_there = server_->find(id) != nullptr;
    server_->records.erase(id);
    co_return was_there;
}

auto remote_sessions::sweep(std::size_t) -> awaitable<session_sweep> {
    co_return session_sweep{0, true};
}

auto remote_sessions::usage() -> awaitable<session_usage> {
    co_await travel("usage");
    session_usage result;
    result.count = server_->records.size();
    result.expired = server_->expired;
    co_return result;
}

} // namespace skep::test
