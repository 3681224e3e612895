// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "server/call_server.hpp"

#include "server/answer_memory.hpp"
#include "server/call_failure.hpp"
#include "wire/answer_messages.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <new>
#include <utility>

namespace skep {

namespace json = boost::json;

call_server::call_server(const strand& executor, frame_output& output, std::size_t capacity,
                         std::size_t threads, const work& worker_functions, error_handler on_error)
    : work_(worker_functions),
      health_check_(detail::async_handler([this](worker_call& call) { return check_health(call); })),
      any_command_(worker_functions.any_command),
      on_error_(std::move(on_error)),
      services_(executor, output, on_error_),
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
    hello.batches = work_.batches;
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
    services_.cancelled.add_all(); // handlers on threads check for this
    places_.for_each_running([](served_call& call) { call.interrupt(); });
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

/// Places have no meaning if no memory is shared.
void call_server::release(std::span<const region_place> places) {
    if (services_.memory != nullptr) {
        services_.memory->release(places);
    }
}

void call_server::handle(credit_message credit) {
    release(credit.released);
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
    release(std::exchange(call.released, {}));
    if (batch_.expects(call)) {
        gather(std::move(call));
        return;
    }
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

void call_server::gather(call_message&& call) {
    auto calls = batch_.add(std::move(call));
    if (calls.empty()) {
        return;
    }
    if (!work_.batches.contains(calls.front().command)) {
        // Only the pool's configuration has batches of it. The handler takes one call, so each call takes a
        // place of its own, in turn.
        for (auto& each : calls) {
            each.batch = {};
            handle(std::move(each));
        }
        return;
    }
    places_.record(calls.back().id); // not before: a cancel is kept until the call begins
    if (is_stopping_) {
        return;
    }
    if (places_.has_place()) {
        begin(std::move(calls));
        return;
    }
    for (auto& each : calls) {
        if (services_.cancelled.contains(each.id)) {
            begin(std::move(each));
        } else {
            places_.wait(std::move(each));
        }
    }
}

void call_server::begin_waiting() {
    if (std::exchange(is_beginning_, true)) {
        return; // reached from begin() in the loop below, for a call that ended at once
    }
    while (auto next = places_.take_next()) {
        if (next->batch.size > 1) {
            begin(places_.take_batch(std::move(*next)));
        } else {
            begin(std::move(*next));
        }
    }
    is_beginning_ = false;
}

void call_server::begin(call_message&& message) {
    const auto call = accept(std::move(message));
    const auto* const handler = call == nullptr ? nullptr : find_handler(*call);
    if (handler == nullptr) {
        return;
    }
    if (is_of_batches(*handler)) {
        const auto batch = std::make_shared<served_batch>();
        batch->add(call);
        run(batch, *handler);
    } else {
        run(call, *handler);
    }
}

void call_server::begin(std::vector<call_message>&& messages) {
    const auto batch = std::make_shared<served_batch>();
    const command_handler* handler = nullptr;
    for (auto& each : messages) {
        const auto call = accept(std::move(each));
        const auto* const found = call == nullptr ? nullptr : find_handler(*call);
        if (found != nullptr) {
            handler = found;
            batch->add(call);
        }
    }
    if (handler != nullptr) {
        run(batch, *handler);
    }
}

/// Returns null if the call was given back to the host.
std::shared_ptr<served_call> call_server::accept(call_message&& message) {
    if (!services_.recalled.begin(message.id)) {
        services_.cancelled.remove(message.id);
        return nullptr;
    }
    const auto deadline = deadline_of(message);
    auto call = std::make_shared<served_call>(std::move(message), deadline, services_);
    ++counters_.in_flight;
    return call;
}

template <class Unit>
void call_server::run(const std::shared_ptr<Unit>& unit, const command_handler& handler) {
    typename Unit::result result;
    std::exception_ptr problem;
    try {
        if (const auto* const async = std::get_if<typename Unit::async_handler>(&handler)) {
            places_.run(unit);
            unit->run_by(calls_.spawn(nullptr, serve(unit, *async)));
            return;
        }
        const auto& plain = std::get<typename Unit::plain_handler>(handler);
        if (threads_) {
            places_.run(unit);
            run_on_thread(unit, plain);
            return;
        }
        result = plain(unit->face());
    } catch (...) {
        problem = std::current_exception();
    }
    finish(*unit, std::move(result), problem);
}

template <class Unit>
void call_server::run_on_thread(std::shared_ptr<Unit> unit, const typename Unit::plain_handler& handler) {
    asio::post(*threads_, [this, unit = std::move(unit), &handler] {
        typename Unit::result result;
        std::exception_ptr problem;
        try {
            if (unit->is_cancelled()) { // before a thread was free
                throw cancelled_failure();
            }
            result = handler(unit->face());
        } catch (...) {
            problem = std::current_exception();
        }
        asio::post(services_.executor,
                   [this, unit, result = std::move(result), problem = std::move(problem)]() mutable {
                       try {
                           finish(*unit, std::move(result), problem);
                       } catch (...) {
                           on_error_(std::current_exception());
                       }
                   });
    });
}

template <class Unit>
asio::awaitable<void> call_server::serve(std::shared_ptr<Unit> unit,
                                         const typename Unit::async_handler& handler) {
    typename Unit::result result;
    std::exception_ptr problem;
    try {
        auto running = detail::checked(handler(unit->face()), "the handler");
        result = co_await std::move(running);
    } catch (...) {
        problem = std::current_exception();
    }
    finish(*unit, std::move(result), problem);
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

/// Without memory for the answer, the owner ends the conversation.
template <class Unit>
void call_server::answer(Unit& unit, typename Unit::result result, const std::exception_ptr& problem) {
    try {
        if (problem) {
            unit.answer(problem);
        } else {
            unit.answer(std::move(result));
        }
    } catch (const std::bad_alloc&) {
        on_error_(std::current_exception());
    }
}

template <class Unit>
void call_server::finish(Unit& unit, typename Unit::result result, const std::exception_ptr& problem) {
    // A handler's reaction to SIGTERM is no answer. The call is lost, and may be sent to another worker.
    const bool is_lost = is_interrupted_ && unit.was_interrupted();
    if (!is_lost) {
        answer(unit, std::move(result), problem);
    }
    record_end(unit);
    places_.end(unit);
    if (is_stopping_ && places_.is_idle()) {
        idle_.open();
    }
    begin_waiting();
}

void call_server::record_end(const served_call& call) {
    services_.tools.forget(call);
    services_.cancelled.remove(call.message().id);
    --counters_.in_flight;
    if (call.message().command != health_check_command) { // a health check is work, but serves no caller
        ++counters_.completed;
    }
}

void call_server::record_end(const served_batch& batch) {
    for (const auto& each : batch.calls()) {
        record_end(*each);
    }
}

const command_handler* call_server::find_handler(served_call& call) {
    try {
        return &handler_for(call);
    } catch (...) {
        call.answer(std::current_exception());
        record_end(call);
        return nullptr;
    }
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
    if (found == work_.commands.end() && work_.any_command) {
        return any_command_;
    }
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
