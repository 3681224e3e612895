// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "remote/hub_driver.hpp"

#include <utility>

namespace skep {

hub_driver::hub_driver(const strand& executor, const bus_factory& connect, const hub_options& options,
                       hub_user& user)
    : user_(user), wake_(executor), bus_(connect(executor, *this)), hub_(*bus_, options) {}

asio::awaitable<void> hub_driver::run() {
    for (;;) {
        hub_.tick(events_);
        tell_events();
        hub_.flush();
        wake_.close();
        co_await wake_.wait_until(hub_.next_tick());
    }
}

void hub_driver::on_message(const bus_message& message) {
    guard([&] {
        if (message.has_no_receiver || !user_.on_message(message)) {
            use().on_message(message, events_);
            tell_events();
        }
    });
}

void hub_driver::on_connection(bool is_up) {
    guard([&] {
        reconnects_ += is_up && was_lost_ ? 1 : 0;
        was_lost_ = !is_up;
        use().on_connection(is_up, events_);
        user_.on_connection(is_up);
        tell_events();
    });
}

void hub_driver::on_problem(const std::string& text) {
    guard([&] { user_.on_problem(text); });
}

/// An event may cause others.
void hub_driver::tell_events() {
    for (std::size_t i = 0; i < events_.size(); ++i) {
        auto event = std::move(events_[i]);
        user_.on_event(event);
    }
    events_.clear();
}

template <class Function>
void hub_driver::guard(const Function& function) noexcept {
    if (has_failed_) {
        return;
    }
    try {
        function();
    } catch (...) {
        has_failed_ = true;
        user_.on_failure(std::current_exception());
    }
}

} // namespace skep
