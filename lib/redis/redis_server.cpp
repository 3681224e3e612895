// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "redis/redis_server.hpp"

#include "async/checkpoint.hpp"
#include "redis/session_replies.hpp"
#include <skep/execute_with_retry.hpp>

#include <boost/asio/cancellation_type.hpp>

#include <algorithm>
#include <chrono>

namespace skep {

namespace {

/// Limits the load caused by a server that ends each connection at once, perhaps after a TLS handshake.
constexpr std::chrono::milliseconds between_connections(100);

} // namespace

redis_server::redis_server(const asio::any_io_executor& executor, redis_options options)
    : strand_(executor),
      options_(std::make_shared<const redis_options>(std::move(options))),
      tls_(make_redis_tls(*options_)),
      waiting_(std::make_shared<waiting_operations>(options_->waiting_limit, options_->waiting_bytes)) {}

asio::awaitable<redis_reply> redis_server::ask(ptr self, std::string_view operation, std::string command) {
    const auto before = co_await asio::this_coro::cancellation_state;
    heed(before);
    redis_outcome outcome;
    auto place = self->waiting_->enter(command.size(), outcome.problem);
    if (!outcome.problem.empty()) {
        throw_failed(operation, outcome.problem);
    }
    auto performing = perform(std::move(self), std::move(command), std::move(place), outcome);
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

/// Suspends the caller until `outcome` is set. Meanwhile the exchange belongs to the connection alone, and
/// the caller to the exchange.
asio::awaitable<void> redis_server::perform(ptr self, std::string command, waiting_operations::place place,
                                            redis_outcome& outcome) {
    auto start = [self,
                  added = std::make_shared<redis_exchange>(std::move(command), outcome, std::move(place))](
                     suspended_caller&& caller) mutable {
        // Weak: the caller's signal may outlive the execution context, but the server's strand must not.
        auto on_cancelled = [server = std::weak_ptr(self),
                             unwanted = std::weak_ptr(added)](asio::cancellation_type) {
            const auto still_there = server.lock();
            if (!still_there) {
                return;
            }
            auto abandon = [still_there, unwanted] {
                if (const auto still_waiting = unwanted.lock()) {
                    still_there->cancel(still_waiting);
                }
            };
            execute_with_retry(still_there->strand_, std::move(abandon));
        };
        auto slot = caller.get_cancellation_slot();
        if (slot.is_connected()) {
            slot.assign(std::move(on_cancelled));
        }
        added->caller = std::move(caller);
        const auto where = self->strand_;
        auto begin = [self = std::move(self), added = std::move(added)] { self->begin(added); };
        execute_with_retry(where, std::move(begin));
    };
    return suspend(std::move(start));
}

void redis_server::begin(const exchange_ptr& new_exchange) {
    std::string problem = "the sessions were closed";
    try {
        if (!is_closed_) {
            connection()->send(new_exchange);
            idle_.reset();
            return;
        }
    } catch (const std::exception& failure) { // no memory, or no thread for the look-up
        problem = failure.what();
        if (const auto latest = connection_.lock()) {
            latest->lose(problem); // it may be about to send an abandoned command
        }
    }
    if (new_exchange->caller) {
        new_exchange->outcome.problem = problem;
        new_exchange->end();
    }
}

void redis_server::close(const ptr& self) noexcept {
    try {
        auto step = [self] {
            self->is_closed_ = true;
            if (const auto latest = self->connection_.lock()) {
                latest->lose("the sessions were closed");
            }
            self->idle_.reset();
        };
        execute_with_retry(self->strand_, std::move(step));
    } catch (const std::exception&) {} // out of memory: operations in progress time out
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
    const auto begin = std::max(next_connection_, std::chrono::steady_clock::now());
    latest = std::make_shared<redis_connection>(strand_, options_, tls_, begin, std::move(keep));
    next_connection_ = begin + between_connections;
    connection_ = latest;
    latest->open();
    return latest;
}

void redis_server::cancel(const exchange_ptr& unwanted_exchange) {
    if (const auto connection = connection_.lock()) {
        connection->cancel(unwanted_exchange);
    }
}

} // namespace skep
