// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "redis/redis_server.hpp"

#include "async/execute_surely.hpp"
#include "async/turns.hpp"

#include <boost/asio/cancellation_type.hpp>

namespace skep {

void throw_failed(std::string_view operation, const std::string& cause) {
    error_info info;
    info.detail = std::string(operation) + ": " + cause;
    throw error(errc::session_backend_failed, std::move(info));
}

redis_server::redis_server(const asio::any_io_executor& executor, redis_options options)
    : strand_(executor), options_(std::make_shared<const redis_options>(std::move(options))) {}

asio::awaitable<redis_reply> redis_server::ask(ptr self, std::string_view operation, std::string command) {
    const auto before = co_await asio::this_coro::cancellation_state;
    heed(before);
    redis_outcome outcome;
    auto performing = perform(std::move(self), std::move(command), outcome);
    co_await std::move(performing);
    if (outcome.is_cancelled) {
        throw error(errc::cancelled, {});
    }
    if (!outcome.reply) {
        throw_failed(operation, outcome.problem);
    }
    if (outcome.reply->type == REDIS_REPLY_ERROR) {
        throw_failed(operation, redis_refusal({outcome.reply->str, outcome.reply->len}));
    }
    co_return std::move(outcome.reply);
}

/// Suspends the caller until `outcome` is there. While he is, the exchange belongs to the connection alone, and he to it.
asio::awaitable<void> redis_server::perform(ptr self, std::string command, redis_outcome& outcome) {
    auto start = [self, added = std::make_shared<redis_exchange>(std::move(command), outcome)](
                     suspended_caller&& caller) mutable {
        // Weak: the caller's signal may outlive the execution context, which the server's strand must not.
        auto on_cancelled = [server = std::weak_ptr(self),
                             unwanted = std::weak_ptr(added)](asio::cancellation_type) {
            const auto still_there = server.lock();
            if (!still_there) {
                return;
            }
            auto give_up = [still_there, unwanted] {
                if (const auto still_waiting = unwanted.lock()) {
                    still_there->cancel(still_waiting);
                }
            };
            execute_surely(still_there->strand_, std::move(give_up));
        };
        auto slot = caller.cancellation();
        if (slot.is_connected()) {
            slot.assign(std::move(on_cancelled));
        }
        added->caller = std::move(caller);
        const auto where = self->strand_;
        auto begin = [self = std::move(self), added = std::move(added)] { self->begin(added); };
        execute_surely(where, std::move(begin));
    };
    return suspend(std::move(start));
}

void redis_server::begin(const exchange_ptr& added) {
    try {
        connection()->send(added);
        idle_.reset();
    } catch (const std::exception& problem) { // no memory, or no thread to look the host up on
        if (added->caller) {
            added->outcome.problem = problem.what();
            added->end();
        }
    }
}

redis_connection::ptr redis_server::connection() {
    auto latest = connection_.lock();
    if (latest && latest->is_usable()) {
        return latest;
    }
    auto keep = [server = weak_from_this()](redis_connection::ptr idle) {
        if (const auto still_there = server.lock()) {
            still_there->idle_ = std::move(idle);
        }
    };
    latest = std::make_shared<redis_connection>(strand_, options_, std::move(keep));
    latest->open();
    connection_ = latest;
    return latest;
}

void redis_server::cancel(const exchange_ptr& unwanted) {
    if (const auto connection = connection_.lock()) {
        connection->cancel(unwanted);
    }
}

} // namespace skep
