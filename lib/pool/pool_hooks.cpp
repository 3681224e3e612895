// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "pool/pool_hooks.hpp"

#include <utility>

namespace skep {

pool_hooks::pool_hooks(const pool_context& context, const pool_config& config, const pool_log& log)
    : context_(context),
      options_(config.initialization),
      log_(log),
      starters_(context.executor),
      enders_(context.executor),
      farewells_(context.executor, [this](std::exception_ptr problem) {
          log_(log_level::error, "after_end was not called", problem);
      }) {}

asio::awaitable<std::string> pool_hooks::before_first_worker() {
    if (!options_.delegate) {
        co_return std::string();
    }
    auto body = [delegate = options_.delegate] { return delegate->before_first_worker(); };
    const auto deadline = deadline_in(options_.before_first_worker_timeout);
    const guest_outcome outcome = co_await starters_.run(std::move(body), deadline);
    const auto complaint = outcome.complaint();
    co_return complaint.empty() ? complaint : "before_first_worker: " + complaint;
}

void pool_hooks::after_end(const std::shared_ptr<void>& owner, worker_exit end) {
    if (options_.delegate) {
        farewells_.spawn(owner, say_farewell(std::move(end)));
    }
}

asio::awaitable<void> pool_hooks::say_farewell(worker_exit end) {
    const auto who = to_string(end.id);
    auto body = [delegate = options_.delegate, end = std::move(end)] { return delegate->after_end(end); };
    const auto deadline = deadline_in(options_.after_end_timeout);
    const guest_outcome outcome = co_await enders_.run(std::move(body), deadline);
    if (const auto complaint = outcome.complaint(); !complaint.empty()) {
        log_(log_level::warning, "after_end of " + who + ": " + complaint);
    }
}

} // namespace skep
