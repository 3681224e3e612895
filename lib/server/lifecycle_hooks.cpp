// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "server/lifecycle_hooks.hpp"

#include "core/text.hpp"

#include <exception>
#include <string>
#include <utility>

namespace skep {

lifecycle_hooks::lifecycle_hooks(const strand& executor, const work& worker_functions,
                                 std::function<void(std::string_view)> report)
    : work_(worker_functions),
      report_(std::move(report)),
      starting_(executor, [this](const std::exception_ptr& problem) { fail("on_start", problem); }) {}

asio::awaitable<bool> lifecycle_hooks::start() {
    starting_.spawn(nullptr, run_start_hooks());
    co_await starting_.join();
    co_return has_started_;
}

asio::awaitable<void> lifecycle_hooks::run_start_hooks() {
    for (const auto& hook : work_.start_hooks) {
        auto running = detail::checked(hook(), "an on_start hook");
        co_await std::move(running);
    }
    has_started_ = true;
}

asio::awaitable<void> lifecycle_hooks::stop() {
    for (auto hook = work_.stop_hooks.rbegin(); hook != work_.stop_hooks.rend(); ++hook) {
        try {
            auto running = detail::checked((*hook)(), "an on_stop hook");
            co_await std::move(running);
        } catch (...) {
            fail("on_stop", std::current_exception());
        }
    }
}

void lifecycle_hooks::fail(const char* hook_name, const std::exception_ptr& problem) {
    report_("skep: " + std::string(hook_name) + " failed: " + text_of(problem) + "\n");
    exit_status_ = exit_failed;
}

} // namespace skep
