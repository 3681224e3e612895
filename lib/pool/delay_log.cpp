// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "pool/delay_log.hpp"

#include "async/pause.hpp"

#include <chrono>
#include <exception>
#include <new>
#include <utility>

namespace skep {

namespace {

// Delay before the first line about an operation, and the interval from then on.
constexpr duration first_line = std::chrono::seconds(1);
constexpr duration line_interval = std::chrono::seconds(5);

std::string seconds_text(duration time) {
    return std::to_string(time / std::chrono::seconds(1)) + " s";
}

void log_delay(const pool_log& log, const char* operation, duration time_taken,
               const delay_description& describe) noexcept {
    if (!log.wants(log_level::info)) {
        return;
    }
    try {
        const auto text = describe();
        if (!text.empty()) {
            log(log_level::info, operation + (" has taken " + seconds_text(time_taken)) + "; " + text);
        }
    } catch (...) {} // out of memory
}

asio::awaitable<void> log_until_cancelled(const pool_parts& parts, const char* operation,
                                          delay_description describe) {
    const auto began = parts.context.now();
    auto next = began + first_line;
    for (;;) {
        co_await pause_until(parts.context.executor, next);
        const auto now = parts.context.now();
        log_delay(parts.log, operation, now - began, describe);
        next = now + line_interval;
    }
}

std::string describe_worker(const worker& subject, time_point now) {
    const auto& life = subject.life();
    const bool is_starting = life.state() == worker_state::starting;
    std::string text = to_string(subject.id()) + " (" + std::string(to_string(life.state()));
    if (is_starting) {
        text += " for " + seconds_text(now - subject.asked_for());
    }
    if (life.process().exists) {
        text += subject.node().empty() ? ", pid " + std::to_string(life.process().pid)
                                       : ", node " + subject.node();
    }
    if (is_starting) {
        text.append(": ").append(life.start().stage(life.process().has_greeted));
    }
    subject.calls().for_each(1, [&text](const call& each) { text += ", at " + each.req.command(); });
    return text + ")";
}

} // namespace

asio::awaitable<void> log_delays(pool_parts& parts, const char* operation, delay_description describe,
                                 asio::awaitable<void> body) {
    task_group::task_handle logging;
    try {
        auto lines = log_until_cancelled(parts, operation, std::move(describe));
        logging = parts.tasks.delays.spawn(parts.surroundings.owner.lock(), std::move(lines));
    } catch (const std::bad_alloc&) {} // the operation does without its log
    std::exception_ptr problem;
    try {
        co_await std::move(body);
    } catch (...) {
        problem = std::current_exception();
    }
    logging.cancel();
    if (problem) {
        std::rethrow_exception(problem);
    }
}

std::string describe_awaited(const pool_parts& parts, const std::function<bool(const worker&)>& is_awaited) {
    constexpr std::size_t most = 8;
    const auto now = parts.context.now();
    std::string text;
    std::size_t count = 0;
    parts.workers.for_each([&](const worker& each) {
        if (is_awaited(each) && ++count <= most) {
            text += (count == 1 ? "waiting for " : ", ") + describe_worker(each, now);
        }
    });
    return count <= most ? text : text + " and " + std::to_string(count - most) + " more";
}

} // namespace skep
