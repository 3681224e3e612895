// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "remote/served_link.hpp"

#include "remote/forwarded_call.hpp"
#include "server/listener.hpp"
#include "wire/protocol_violation.hpp"

#include <array>
#include <new>
#include <span>
#include <utility>

namespace skep {

namespace {

/// Returns the work of a worker that passes every command on.
work passing_on_to(call_interface& calls) {
    work made;
    made.any_command = [&calls](worker_call& call) { return forward_call(calls, call); };
    return made;
}

} // namespace

served_link::served_link(const strand& executor, hub_driver& driver, remote_link& accepted_link,
                         call_interface& calls, std::size_t most_calls)
    : executor_(executor),
      driver_(driver),
      link_(&accepted_link),
      commands_(passing_on_to(calls)),
      server_(executor, *this, most_calls, 0, commands_,
              [this](const std::exception_ptr&) { end("no memory"); }),
      tasks_(executor, [](const std::exception_ptr&) {}),
      frames_(limits_of_input()) {}

void served_link::start() {
    auto hello = server_.introduction();
    hello.sdk = "skep node";
    hello.slots = hello.capacity;
    server_.announce(hello, false);
}

void served_link::read() {
    while (link_ != nullptr && link_->unread_bytes() > 0) {
        const auto space = frames_.prepare();
        frames_.commit(driver_.use().read(*link_, space));
        while (const auto frame = frames_.next()) {
            auto message = messages_.decode(*frame);
            std::visit([this](auto& each) { handle(std::move(each)); }, message);
        }
    }
    server_.services().out.send();
}

void served_link::handle(welcome_message welcome) {
    frames_.set_limits(limits_of_input(welcome.limits));
    server_.handle(std::move(welcome));
    server_.announce_ready();
}

void served_link::handle(cancel_message cancel) {
    server_.services().cancelled.add(cancel.id);
    server_.handle(cancel);
}

bool served_link::write(std::span<const std::string_view> pieces) noexcept {
    if (link_ == nullptr) {
        return true; // nobody hears the answer
    }
    try {
        std::string bytes;
        for (const auto each : pieces) {
            bytes += each;
        }
        driver_.use().send(*link_, std::move(bytes));
    } catch (const std::bad_alloc&) {
        end("no memory for an answer");
    }
    return true;
}

void served_link::drain() {
    if (!std::exchange(is_draining_, true)) {
        server_.stop();
        tasks_.spawn(shared_from_this(), end_when_idle());
    }
}

asio::awaitable<void> served_link::end_when_idle() {
    co_await server_.drain();
    end("drained");
}

void served_link::end(std::string reason) {
    if (link_ == nullptr) {
        return;
    }
    auto& ended_link = *std::exchange(link_, nullptr);
    if (!ended_link.state().outcome()) {
        driver_.use().flush();
        driver_.use().close(ended_link, std::move(reason));
    }
    driver_.use().forget(ended_link);
    server_.interrupt();
}

asio::awaitable<void> served_link::idle() {
    co_await server_.drain();
    co_await tasks_.join();
}

} // namespace skep
