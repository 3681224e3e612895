// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "server/call_server.hpp"

#include "server/call_failure.hpp"
#include "wire/answer_messages.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>

namespace skep {

namespace json = boost::json;

call_server::call_server(const strand& executor, frame_output& output, std::size_t capacity,
                         std::size_t threads, const work& worker_functions, error_handler on_error)
    : work_(worker_functions),
      health_check_(detail::async_handler([this](worker_call& call) { return check_health(call); })),
      on_error_(std::move(on_error)),
      services_(executor, output),
      calls_(executor, on_error_),
      places_(capacity),
      idle_(executor) {
    if (threads > 0) {
        threads_.emplace(threads);
    }
}

hello_message call_server::introduction() const {
    hello_message hello;
    hello.protocol = protocol_version;
    hello.capacity = places_.capacity();
    for (const auto& [name, handler] : work_.commands) {
        hello.commands.push_back(name);
    }
    hello.health_check = health_check_command;
    hello.own_health_check = static_cast<bool>(work_.health_check);
    return hello;
}

void call_server::announce(const hello_message& hello, bool has_control) {
    append_hello(services_.out.text(), hello, has_control);
    services_.out.send();
}

void call_server::handle(welcome_message welcome) {
    services_.welcome = std::move(welcome);
    welcome_time_ = clock::now();
    if (services_.welcome.capacity > 0) {
        places_.limit(services_.welcome.capacity);
    }
}

void call_server::announce_ready() {
    append_ready(services_.out.text());
    services_.out.send();
}

void call_server::interrupt() {
    is_interrupted_ = true;
    stop();
    places_.for_each_running([this](served_call& call) {
        services_.cancelled.add(call.message().id); // handlers on threads check for this
        call.interrupt();
    });
}

void call_server::stop() {
    is_stopping_ = true;
    places_.drop_waiting();
}

asio::awaitable<void> call_server::drain() {
    co_await calls_.join();
    while (!places_.is_idle()) { // calls on threads
        idle_.close();
        co_await idle_.wait();
    }
    services_.out.send();
}

void call_server::handle(cancel_message cancel) {
    if (auto* const running = places_.find(cancel.id)) {
        running->interrupt();
    } else if (auto waiting = places_.take_waiting(cancel.id)) {
        begin(std::move(*waiting)); // begin() finds the call cancelled
    } else if (places_.has_come(cancel.id)) {
        services_.cancelled.remove(cancel.id);
    }
}

void call_server::handle(credit_message credit) {
    if (auto* const running = places_.find(credit.id)) {
        running->grant(credit.more);
    }
}

void call_server::handle(tool_result_message result) {
    const auto number = result.tool_call;
    handle_tool_answer(number, std::move(result));
}

void call_server::handle(tool_error_message error) {
    const auto number = error.tool_call;
    handle_tool_answer(number, std::move(error));
}

void call_server::handle_tool_answer(std::uint64_t number, decltype(open_tool_call::answer) answer) {
    if (const auto answered = services_.tools.end(number)) {
        answered->answer = std::move(answer);
        answered->outer.handle_tool_answer(*answered);
    }
}

void call_server::handle(call_message call) {
    places_.record(call.id);
    if (is_stopping_) {
        return;
    }
    const bool is_cancelled = services_.cancelled.contains(call.id); // a cancel may arrive before its call
    if (is_cancelled || places_.has_place()) {
        begin(std::move(call));
    } else {
        places_.wait(std::move(call));
    }
}

void call_server::begin_waiting() {
    if (std::exchange(is_beginning_, true)) {
        return; // reached from begin() in the loop below, for a call that ended at once
    }
    while (auto next = places_.take_next()) {
        begin(std::move(*next));
    }
    is_beginning_ = false;
}

void call_server::begin(call_message&& message) {
    if (!services_.recalled.begin(message.id)) {
        services_.cancelled.remove(message.id);
        return;
    }
    const auto deadline = deadline_of(message);
    const auto call = std::make_shared<served_call>(std::move(message), deadline, services_);
    ++counters_.in_flight;
    json::value value;
    std::exception_ptr problem;
    try {
        const auto& handler = handler_for(*call);
        if (const auto* const async = std::get_if<detail::async_handler>(&handler)) {
            places_.run(call);
            call->run_by(calls_.spawn(nullptr, serve(call, *async)));
            return;
        }
        const auto& plain = std::get<detail::plain_handler>(handler);
        if (threads_) {
            places_.run(call);
            run_on_thread(call, plain);
            return;
        }
        value = plain(call->face());
    } catch (...) {
        problem = std::current_exception();
    }
    finish(*call, std::move(value), problem);
}

void call_server::run_on_thread(std::shared_ptr<served_call> call, const detail::plain_handler& handler) {
    asio::post(*threads_, [this, call = std::move(call), &handler] {
        json::value value;
        std::exception_ptr problem;
        try {
            if (call->is_cancelled()) { // before a thread was free
                throw cancelled_failure();
            }
            value = handler(call->face());
        } catch (...) {
            problem = std::current_exception();
        }
        asio::post(services_.executor,
                   [this, call, value = std::move(value), problem = std::move(problem)]() mutable {
                       try {
                           finish(*call, std::move(value), problem);
                       } catch (...) {
                           on_error_(std::current_exception());
                       }
                   });
    });
}

asio::awaitable<void> call_server::serve(std::shared_ptr<served_call> call,
                                         const detail::async_handler& handler) {
    json::value value;
    std::exception_ptr problem;
    try {
        auto running = detail::checked(handler(call->face()), "the handler");
        value = co_await std::move(running);
    } catch (...) {
        problem = std::current_exception();
    }
    finish(*call, std::move(value), problem);
}

asio::awaitable<json::value> call_server::check_health(worker_call& call) {
    if (!work_.health_check) {
        co_return nullptr;
    }
    auto running = detail::checked(work_.health_check(call), "the health check");
    auto value = co_await std::move(running);
    if (value == false) {
        throw call_failure("skep.Unhealthy", "the health check returned false");
    }
    co_return value;
}

void call_server::finish(served_call& call, json::value value, const std::exception_ptr& problem) {
    const auto id = call.message().id;
    services_.tools.forget(call);
    // A handler's reaction to SIGTERM is no answer. The call is lost, and may be sent to another worker.
    const bool is_lost = is_interrupted_ && call.was_interrupted();
    if (!is_lost) {
        if (problem) {
            call.answer(problem);
        } else {
            call.answer(std::move(value));
        }
    }
    services_.cancelled.remove(id);
    --counters_.in_flight;
    if (call.message().command != health_check_command) { // a health check is work, but serves no caller
        ++counters_.completed;
    }
    places_.end(id);
    if (is_stopping_ && places_.is_idle()) {
        idle_.open();
    }
    begin_waiting();
}

const command_handler& call_server::handler_for(const served_call& call) const {
    const auto& command = call.message().command;
    if (call.is_cancelled()) {
        throw cancelled_failure();
    }
    if (call.deadline() && *call.deadline() <= clock::now()) {
        throw call_failure("skep.DeadlineExceeded",
                           "the deadline of '" + command + "' passed before it started");
    }
    if (command == health_check_command) {
        return health_check_;
    }
    const auto found = work_.commands.find(command);
    if (found == work_.commands.end()) {
        std::string known;
        for (const auto& [name, handler] : work_.commands) {
            known += (known.empty() ? "" : ", ") + name;
        }
        throw call_failure("skep.UnknownCommand", "unknown command '" + command + "'; this worker knows " +
                                                      (known.empty() ? "none" : known));
    }
    return found->second;
}

std::optional<time_point> call_server::deadline_of(const call_message& call) const {
    if (!call.left) {
        return std::nullopt;
    }
    const auto now = clock::now();
    const auto sent = call.sent_after ? std::min(now, *welcome_time_ + *call.sent_after) : now;
    return sent + *call.left;
}

} // namespace skep
