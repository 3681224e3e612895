// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "server/conversation.hpp"

#include "core/text.hpp"
#include "process/standard_error.hpp"
#include "wire/protocol_violation.hpp"

#include <boost/asio/post.hpp>

#include <csignal>
#include <utility>

namespace skep {

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
    : executor_(executor),
      host_(std::move(connection)),
      calls_(executor, host_.out(), capacity, threads, worker_functions, abort),
      hooks_(executor, worker_functions, write_to_standard_error),
      reading_(executor, abort),
      welcomed_(executor),
      stop_(executor),
      terminate_(executor, SIGTERM) {}

asio::awaitable<int> conversation::run(std::string& previous_exit) {
    terminate_.async_wait([this](boost::system::error_code ec, int) {
        if (!ec) {
            on_terminate();
        }
    });
    greet();
    begin_to_listen();
    co_await welcomed_.wait();
    if (!has_welcome_) {
        co_return 0;
    }
    previous_exit = calls_.services().welcome.previous_exit;
    const bool has_started = co_await hooks_.start();
    if (!has_started) {
        co_return hooks_.exit_status();
    }
    if (!stop_.is_open()) {
        calls_.announce_ready();
        if (host_.calls() != nullptr) {
            reading_.spawn(nullptr, read_calls());
        }
    }
    co_await stop_.wait();
    co_await reading_.join();
    co_await calls_.drain();
    co_await hooks_.stop();
    co_return hooks_.exit_status();
}

void conversation::greet() {
    auto hello = calls_.introduction();
    hello.token = host_.token();
    hello.pid = own_process_id();
    hello.sdk = sdk;
    hello.recall = !host_.over_stdio();
    hello.shared = host_.has_regions() ? 1 : 0;
    calls_.announce(hello, !host_.over_stdio());
}

void conversation::begin_to_listen() {
    auto on_messages = [this](std::vector<host_message> messages) {
        asio::post(executor_,
                   [this, messages = std::move(messages)]() mutable { handle(std::move(messages)); });
    };
    listener_ = host_.listen(executor_, calls_.counters(), calls_.services(), std::move(on_messages));
}

void conversation::on_terminate() {
    calls_.interrupt();
    stop();
    hooks_.interrupt();
}

void conversation::stop() {
    calls_.stop();
    stop_.open();
    reading_.cancel();
    welcomed_.open();
}

asio::awaitable<void> conversation::read_calls() {
    frame_decoder frames(limits_of_input(calls_.services().welcome.limits));
    host_message_decoder messages;
    auto* const regions = host_.regions();
    while (!stop_.is_open()) {
        const auto room = frames.prepare();
        const auto count = co_await host_.calls()->read(room);
        if (count == 0 && !stop_.is_open()) {
            leave_as_host_is_gone();
        }
        frames.commit(count);
        while (const auto frame = frames.next()) {
            auto message = messages.decode(*frame, regions);
            auto* const call = std::get_if<call_message>(&message);
            if (call == nullptr) {
                throw protocol_violation("something else than a call came over the data channel");
            }
            calls_.handle(std::move(*call));
        }
        calls_.services().out.send(); // before the next read
    }
}

void conversation::handle(std::vector<host_message> messages) {
    try {
        for (auto& each : messages) {
            if (has_welcome_ == std::holds_alternative<welcome_message>(each)) {
                throw protocol_violation("one welcome comes, and comes first");
            }
            std::visit([this](auto& message) { handle(std::move(message)); }, each);
        }
    } catch (...) {
        abort(std::current_exception());
    }
}

void conversation::handle(welcome_message welcome) {
    if (welcome.shared) {
        host_.share(*welcome.shared);
        calls_.services().memory = host_.answers();
    }
    calls_.handle(std::move(welcome));
    has_welcome_ = true;
    welcomed_.open();
}

void conversation::handle(call_message call) {
    if (host_.calls() != nullptr) {
        throw protocol_violation("a call came over the control channel");
    }
    calls_.handle(std::move(call));
}

} // namespace skep
