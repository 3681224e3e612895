// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "server/conversation.hpp"

#include "core/text.hpp"
#include "process/standard_error.hpp"
#include "server/call_failure.hpp"
#include "wire/answer_messages.hpp"
#include "wire/protocol_violation.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <csignal>
#include <utility>

namespace skep {

namespace json = boost::json;

namespace {

constexpr std::string_view sdk = "cpp/" SKEP_VERSION;

/// Ends the process after a failure of the SDK itself, such as lack of memory.
[[noreturn]] void abort(const std::exception_ptr& problem) {
    try {
        std::rethrow_exception(problem);
    } catch (const protocol_violation& violation) {
        leave_as_host_breaks_protocol(violation.what());
    } catch (...) {
        write_to_standard_error("skep: the worker cannot go on: " + text_of(problem) + "\n");
        leave(exit_failed);
    }
}

} // namespace

conversation::conversation(const strand& executor, host_connection connection, std::size_t capacity,
                           std::size_t threads, const work& worker_functions)
    : work_(worker_functions),
      health_check_(detail::async_handler([this](worker_call& call) { return check_health(call); })),
      host_(std::move(connection)),
      services_(executor, host_.out()),
      hooks_(executor, worker_functions),
      calls_(executor, abort),
      reading_(executor, abort),
      welcomed_(executor),
      stop_(executor),
      places_(capacity),
      idle_(executor),
      terminate_(executor, SIGTERM) {
    if (threads > 0) {
        threads_.emplace(threads);
    }
}

asio::awaitable<int> conversation::run(std::string& previous_exit) {
    terminate_.async_wait([this](boost::system::error_code ec, int) {
        if (!ec) {
            on_terminate();
        }
    });
    greet();
    begin_to_listen();
    co_await welcomed_.wait();
    if (!welcome_time_) {
        co_return 0;
    }
    previous_exit = services_.welcome.previous_exit;
    const bool has_started = co_await hooks_.start();
    if (!has_started) {
        co_return hooks_.exit_status();
    }
    if (!stop_.is_open()) {
        append_ready(services_.out.text());
        services_.out.send();
        if (host_.calls() != nullptr) {
            reading_.spawn(nullptr, read_calls());
        }
    }
    co_await stop_.wait();
    co_await reading_.join();
    co_await calls_.join();
    while (!places_.is_idle()) { // calls on threads
        idle_.close();
        co_await idle_.wait();
    }
    services_.out.send();
    co_await hooks_.stop();
    co_return hooks_.exit_status();
}

void conversation::greet() {
    hello_message hello;
    hello.protocol = protocol_version;
    hello.token = host_.token();
    hello.pid = own_process_id();
    hello.sdk = sdk;
    hello.capacity = places_.capacity();
    for (const auto& [name, handler] : work_.commands) {
        hello.commands.push_back(name);
    }
    hello.health_check = health_check_command;
    hello.own_health_check = static_cast<bool>(work_.health_check);
    append_hello(services_.out.text(), hello, !host_.over_stdio());
    services_.out.send();
}

void conversation::begin_to_listen() {
    auto on_messages = [this](std::vector<host_message> messages) {
        asio::post(services_.executor,
                   [this, messages = std::move(messages)]() mutable { handle(std::move(messages)); });
    };
    listener_ = host_.listen(services_.executor, counters_, services_.cancelled, std::move(on_messages));
}

void conversation::on_terminate() {
    is_terminating_ = true;
    stop();
    hooks_.interrupt();
    places_.for_each_running([this](served_call& call) {
        services_.cancelled.add(call.message().id); // handlers on threads check for this
        call.interrupt();
    });
}

void conversation::stop() {
    stop_.open();
    places_.drop_waiting();
    reading_.cancel();
    welcomed_.open();
}

asio::awaitable<void> conversation::read_calls() {
    frame_decoder frames(limits_of_input(services_.welcome.limits));
    host_message_decoder messages;
    while (!stop_.is_open()) {
        const auto room = frames.prepare();
        const auto count = co_await host_.calls()->read(room);
        if (count == 0 && !stop_.is_open()) {
            leave_as_host_is_gone();
        }
        frames.commit(count);
        while (const auto frame = frames.next()) {
            auto message = messages.decode(*frame);
            auto* const call = std::get_if<call_message>(&message);
            if (call == nullptr) {
                throw protocol_violation("something else than a call came over the data channel");
            }
            accept(std::move(*call));
        }
        services_.out.send(); // before the next read
    }
}

void conversation::handle(std::vector<host_message> messages) {
    try {
        for (auto& each : messages) {
            if (welcome_time_.has_value() == std::holds_alternative<welcome_message>(each)) {
                throw protocol_violation("one welcome comes, and comes first");
            }
            std::visit([this](auto& message) { handle(std::move(message)); }, each);
        }
    } catch (...) {
        abort(std::current_exception());
    }
}

void conversation::handle(welcome_message welcome) {
    services_.welcome = std::move(welcome);
    welcome_time_ = clock::now();
    if (services_.welcome.capacity > 0) {
        places_.limit(services_.welcome.capacity);
    }
    welcomed_.open();
}

void conversation::handle(call_message call) {
    if (host_.calls() != nullptr) {
        throw protocol_violation("a call came over the control channel");
    }
    accept(std::move(call));
}

void conversation::handle(cancel_message cancel) {
    if (auto* const running = places_.find(cancel.id)) {
        running->interrupt();
    } else if (auto waiting = places_.take_waiting(cancel.id)) {
        begin(std::move(*waiting)); // begin() finds the call cancelled
    } else if (places_.has_come(cancel.id)) {
        services_.cancelled.remove(cancel.id);
    }
}

void conversation::handle(credit_message credit) {
    if (auto* const running = places_.find(credit.id)) {
        running->grant(credit.more);
    }
}

void conversation::handle(tool_result_message result) {
    const auto number = result.tool_call;
    handle_tool_answer(number, std::move(result));
}

void conversation::handle(tool_error_message error) {
    const auto number = error.tool_call;
    handle_tool_answer(number, std::move(error));
}

void conversation::handle_tool_answer(std::uint64_t number, decltype(open_tool_call::answer) answer) {
    if (const auto answered = services_.tools.end(number)) {
        answered->answer = std::move(answer);
        answered->outer.handle_tool_answer(*answered);
    }
}

void conversation::accept(call_message&& call) {
    places_.record(call.id);
    if (stop_.is_open()) {
        return;
    }
    const bool is_cancelled = services_.cancelled.contains(call.id); // a cancel may arrive before its call
    if (is_cancelled || places_.has_place()) {
        begin(std::move(call));
    } else {
        places_.wait(std::move(call));
    }
}

void conversation::begin_waiting() {
    if (std::exchange(is_beginning_, true)) {
        return; // reached from begin() in the loop below, for a call that ended at once
    }
    while (auto next = places_.take_next()) {
        begin(std::move(*next));
    }
    is_beginning_ = false;
}

void conversation::begin(call_message&& message) {
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

void conversation::run_on_thread(std::shared_ptr<served_call> call, const detail::plain_handler& handler) {
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
                           abort(std::current_exception());
                       }
                   });
    });
}

asio::awaitable<void> conversation::serve(std::shared_ptr<served_call> call,
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

asio::awaitable<json::value> conversation::check_health(worker_call& call) {
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

void conversation::finish(served_call& call, json::value value, const std::exception_ptr& problem) {
    const auto id = call.message().id;
    services_.tools.forget(call);
    // A handler's reaction to SIGTERM is no answer. The call is lost, and may be sent to another worker.
    const bool is_lost = is_terminating_ && call.was_interrupted();
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
    if (stop_.is_open() && places_.is_idle()) {
        idle_.open();
    }
    begin_waiting();
}

const command_handler& conversation::handler_for(const served_call& call) const {
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

std::optional<time_point> conversation::deadline_of(const call_message& call) const {
    if (!call.left) {
        return std::nullopt;
    }
    const auto now = clock::now();
    const auto sent = call.sent_after ? std::min(now, *welcome_time_ + *call.sent_after) : now;
    return sent + *call.left;
}

} // namespace skep
