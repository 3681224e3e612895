// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "remote/served_link.hpp"

#include "async/pause.hpp"
#include "core/failure_json.hpp"
#include "core/node_call.hpp"
#include "core/with_detail.hpp"
#include "policy/remote_error.hpp"
#include "remote/forwarded_call.hpp"
#include "server/call_failure.hpp"
#include "wire/protocol_violation.hpp"

#include <chrono>
#include <new>
#include <span>
#include <utility>

namespace skep {

namespace {

constexpr duration between_looks_at_rest = std::chrono::milliseconds(10);

[[noreturn]] void throw_as_saturated() {
    error_message refusal;
    refusal.type = type_of_failure;
    refusal.code = to_string(errc::pool_saturated);
    refusal.message = "the node has no room for another call";
    refusal.data = failure_to_json(with_detail(refusal.message));
    throw passed_on_error(std::move(refusal));
}

/// Counts a call as long as it runs.
class counted {
public:
    counted(served_pool& pool, const std::string& session) : pool_(pool), session_(session) {
        pool_.begin_call(session_);
    }
    ~counted() { pool_.end_call(session_); }
    counted(const counted&) = delete;
    counted& operator=(const counted&) = delete;

private:
    served_pool& pool_;
    const std::string session_;
};

} // namespace

served_link::served_link(const strand& executor, hub_driver& driver, remote_link& accepted_link,
                         link_wish wish, served_pool& pool, const limit_options& limits, end_handler on_end)
    : executor_(executor),
      driver_(driver),
      link_(&accepted_link),
      wish_(std::move(wish)),
      pool_(pool),
      on_end_(std::move(on_end)),
      commands_(passing_on()),
      server_(executor, *this, client_rules::most_calls, 0, commands_,
              [this](const std::exception_ptr&) { ask_for_end("no memory"); }),
      tasks_(executor, [](const std::exception_ptr&) {}),
      frames_({limits.frame_bytes + longest_node_facts, limits.json_bytes + longest_node_facts}),
      messages_({limits.json_depth, limits.tree_bytes}) {}

client_view served_link::look() const {
    return {wish_.client,
            wish_.pool,
            calls(),
            memory(),
            link_ == nullptr ? duration() : link_->state().round_trip(),
            age()};
}

work served_link::passing_on() {
    work commands;
    commands.any_command = [this](worker_call& call) { return run(call); };
    return commands;
}

asio::awaitable<boost::json::value> served_link::run(worker_call& call) {
    if (!pool_.has_room()) {
        throw_as_saturated();
    }
    const counted running_call(pool_, call.session());
    link_context link{shared_from_this(), executor_};
    auto forwarding = forward_call(pool_.calls(), call, std::move(link));
    auto value = co_await std::move(forwarding);
    co_return value;
}

void served_link::start() {
    auto hello = server_.introduction();
    hello.sdk = "skep node";
    hello.slots = hello.capacity = pool_.most_calls();
    server_.announce(hello, false);
}

void served_link::read() {
    while (link_ != nullptr && link_->unread_bytes() > 0) {
        const auto space = frames_.prepare();
        frames_.commit(driver_.use().read(*link_, space));
        while (const auto frame = frames_.next()) {
            auto message = messages_.decode(*frame);
            rules_.check(message, calls());
            std::visit([this](auto& each) { handle(std::move(each)); }, message);
        }
    }
    server_.services().out.send();
}

void served_link::handle(welcome_message welcome) {
    welcome.limits = usable_limits(welcome.limits);
    welcome.capacity = 0; // changes with the pool
    server_.handle(std::move(welcome));
    server_.announce_ready();
}

void served_link::handle(cancel_message cancel) {
    if (rules_.has_come(cancel.id)) {
        server_.services().cancelled.add(cancel.id);
        server_.handle(cancel);
    }
}

bool served_link::write(std::span<const std::string_view> pieces) noexcept {
    if (link_ == nullptr) {
        return true; // the client is gone
    }
    try {
        std::string bytes;
        for (const auto each : pieces) {
            bytes += each;
        }
        driver_.use().send(*link_, std::move(bytes));
    } catch (const std::bad_alloc&) {
        ask_for_end("no memory for an answer");
    }
    return true;
}

void served_link::tell_load() {
    if (link_ != nullptr) {
        driver_.use().tell_load(*link_);
    }
}

/// The client sends no more calls; the link ends when the client has all answers.
void served_link::drain() {
    if (!std::exchange(is_draining_, true)) {
        server_.stop();
        tasks_.spawn(shared_from_this(), end_when_idle());
    }
}

asio::awaitable<void> served_link::end_when_idle() {
    co_await server_.drain();
    while (!is_settled()) {
        const auto next_look = clock::now() + between_looks_at_rest;
        co_await pause_until(executor_, next_look);
    }
    ask_for_end(reason_of_drained_link);
}

void served_link::ask_for_end(std::string_view reason) noexcept {
    if (link_ == nullptr) {
        return;
    }
    const auto self = shared_from_this(); // the node may let go of it at once
    try {
        on_end_(reason);
    } catch (const std::bad_alloc&) {
        end(reason);
    }
}

void served_link::end(std::string_view reason) noexcept {
    auto* const ended_link = std::exchange(link_, nullptr);
    if (ended_link == nullptr) {
        return;
    }
    try {
        if (!ended_link->state().outcome()) {
            driver_.use().close(*ended_link, std::string(reason));
        }
        driver_.use().forget(*ended_link);
    } catch (const std::bad_alloc&) {} // the link ends by its own rules
    server_.interrupt();
}

asio::awaitable<void> served_link::idle() {
    co_await server_.drain();
    co_await tasks_.join();
}

} // namespace skep
