// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "testing/scripted_worker.hpp"

#include "core/text.hpp"
#include "server/listener.hpp"
#include "wire/answer_messages.hpp"

#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>

#include <array>
#include <csignal>
#include <type_traits>
#include <utility>

namespace skep::testing {

namespace {

constexpr int exit_host_gone = 70;

boost::system::system_error worker_is_gone() {
    return boost::system::system_error(asio::error::operation_aborted);
}

} // namespace

scripted_worker::scripted_worker(const strand& executor, launch_order order, int pid, std::size_t capacity,
                                 std::shared_ptr<const work> functions, std::shared_ptr<memory_channel> data,
                                 std::shared_ptr<memory_channel> control)
    : order_(std::move(order)),
      pid_(pid),
      data_(std::move(data)),
      control_(std::move(control)),
      data_out_(*data_),
      control_out_(*control_),
      script_(std::move(functions)),
      functions_(guarded_script()),
      calls_(executor, data_out_, capacity, 0, functions_,
             [this](const std::exception_ptr& problem) { fail(problem); }),
      hooks_(executor, functions_, [this](std::string_view text) { add_output(text); }),
      tasks_(executor, [this](const std::exception_ptr& problem) { fail(problem); }),
      life_(executor, [](const std::exception_ptr&) {}),
      welcomed_(executor),
      stop_(executor),
      ended_(executor) {}

void scripted_worker::start() {
    tasks_.spawn(shared_from_this(), run());
    tasks_.spawn(shared_from_this(), listen(data_->to_worker));
    tasks_.spawn(shared_from_this(), listen(control_->to_worker));
    life_.spawn(shared_from_this(), outlive_handlers());
}

asio::awaitable<void> scripted_worker::run() {
    greet();
    co_await welcomed_.wait();
    if (!has_welcome_) {
        end(exit_status::exited(0));
        co_return;
    }
    const bool has_started = co_await hooks_.start();
    if (!has_started) {
        end(exit_status::exited(hooks_.exit_status()));
        co_return;
    }
    if (!stop_.is_open()) {
        calls_.announce_ready();
    }
    co_await stop_.wait();
    co_await calls_.drain();
    co_await hooks_.stop();
    end(exit_status::exited(hooks_.exit_status()));
}

void scripted_worker::greet() {
    auto hello = calls_.introduction();
    hello.token = order_.token;
    hello.pid = pid_;
    hello.sdk = "testing";
    calls_.announce(hello, true);
}

asio::awaitable<void> scripted_worker::listen(memory_pipe& input) {
    frame_decoder frames(limits_of_input());
    host_message_decoder messages;
    for (;;) {
        const auto room = frames.prepare();
        const auto count = co_await input.read(room);
        if (count == 0) {
            end(exit_status::exited(exit_host_gone));
            co_return;
        }
        if (is_frozen_) {
            co_return;
        }
        frames.commit(count);
        while (const auto frame = frames.next()) {
            auto message = messages.decode(*frame);
            if (const auto* const welcome = std::get_if<welcome_message>(&message)) {
                frames.set_limits(limits_of_input(welcome->limits));
            }
            std::visit([this](auto& each) { handle(std::move(each)); }, message);
        }
        calls_.services().out.send();
    }
}

void scripted_worker::handle(welcome_message welcome) {
    calls_.handle(std::move(welcome));
    has_welcome_ = true;
    welcomed_.open();
}

void scripted_worker::handle(cancel_message cancel) {
    calls_.services().cancelled.add(cancel.id);
    calls_.handle(cancel);
}

void scripted_worker::handle(ping_message ping) {
    std::string frame;
    append_pong(frame, {ping.sequence, calls_.counters().in_flight, calls_.counters().completed});
    const std::array<std::string_view, 1> whole{frame};
    control_out_.write(whole);
}

void scripted_worker::stop() {
    calls_.stop();
    stop_.open();
    welcomed_.open();
}

void scripted_worker::terminate() {
    if (has_ended() || is_frozen_) {
        return; // a stopped process gets SIGTERM when it continues
    }
    calls_.interrupt();
    stop();
    hooks_.interrupt();
}

void scripted_worker::freeze() {
    is_frozen_ = true;
    data_out_.freeze();
    control_out_.freeze();
}

void scripted_worker::end(const exit_status& status, std::string_view output) {
    if (has_ended()) {
        return;
    }
    status_ = status;
    output_ += output;
    data_->end();
    control_->end();
    has_ended_ = true;
    ended_.notify_all();
    calls_.interrupt();
    stop();
    hooks_.interrupt();
    tasks_.cancel();
}

/// Keeps the worker alive for handlers that do not heed the cancellation at once.
asio::awaitable<void> scripted_worker::outlive_handlers() {
    co_await wait_for_end();
    co_await calls_.drain();
}

asio::awaitable<void> scripted_worker::wait_for_end() {
    while (!has_ended_) {
        co_await ended_.wait();
    }
}

void scripted_worker::fail(const std::exception_ptr& problem) {
    end(exit_status::exited(exit_failed), "skep: the worker cannot go on: " + text_of(problem) + "\n");
}

template <class Function>
auto scripted_worker::guard(Function&& function) -> decltype(function()) {
    try {
        return function();
    } catch (const worker_exit& exit) {
        end(exit.status(), exit.output());
        throw worker_is_gone();
    }
}

template <class T>
asio::awaitable<T> scripted_worker::guard_async(asio::awaitable<T> guarded_function) {
    const auto self = shared_from_this();
    std::optional<worker_exit> exit;
    try {
        if constexpr (std::is_void_v<T>) {
            co_await std::move(guarded_function);
            co_return;
        } else {
            T value = co_await std::move(guarded_function);
            co_return value;
        }
    } catch (const worker_exit& requested_exit) {
        exit.emplace(requested_exit);
    }
    end(exit->status(), exit->output());
    throw worker_is_gone();
}

template <class Result, class Subject>
std::function<Result(Subject)> scripted_worker::guarded(const std::function<Result(Subject)>& handler) {
    return [this, &handler](Subject subject) {
        return guard([&] {
            if constexpr (detail::awaited<Result>::is_awaitable) {
                return guard_async(handler(subject));
            } else {
                return handler(subject);
            }
        });
    };
}

work scripted_worker::guarded_script() {
    work result;
    result.batches = script_->batches;
    for (const auto& [name, handler] : script_->commands) {
        std::visit([&](const auto& function) { result.add(name, guarded(function)); }, handler);
    }
    if (script_->health_check) {
        result.health_check = [this](worker_call& call) {
            return guard([&] { return guard_async(script_->health_check(call)); });
        };
    }
    for (const auto& hook : script_->start_hooks) {
        result.start_hooks.push_back([this, &hook] { return guard([&] { return guard_async(hook()); }); });
    }
    for (const auto& hook : script_->stop_hooks) {
        result.stop_hooks.push_back([this, &hook] { return guard([&] { return guard_async(hook()); }); });
    }
    return result;
}

} // namespace skep::testing
