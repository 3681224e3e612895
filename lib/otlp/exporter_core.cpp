// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "otlp/exporter_core.hpp"

#include "async/checkpoint.hpp"
#include "core/clock.hpp"
#include "otlp/otlp_rules.hpp"
#include "otlp/spans_json.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

namespace skep {

using namespace std::chrono_literals;

otlp_exporter::core::core(const boost::asio::any_io_executor& executor, otlp_options options)
    : executor_(executor),
      options_(checked(std::move(options))),
      collector_(executor_, options_),
      tasks_(executor_, [](const std::exception_ptr&) {}), // cancelled, or out of memory
      changed_(executor_) {}

void otlp_exporter::core::begin(event_bus& bus) {
    spans_ = bus.subscribe<events::span>(options_.capacity);
    asio::post(executor_, [self = shared_from_this()] {
        try {
            self->tasks_.spawn(self, self->receive());
            self->tasks_.spawn(self, self->send_all());
        } catch (const std::exception&) { // out of memory
            self->end();
        }
    });
}

void otlp_exporter::core::end() {
    spans_.close();
}

otlp_counts otlp_exporter::core::counts() const noexcept {
    return {sent_, lost_, dropped_ + spans_.dropped()};
}

asio::awaitable<void> otlp_exporter::core::receive() {
    constexpr std::size_t taken_per_turn = 64; // leaves turns for sending
    std::size_t taken = 0;
    while (!has_all_) {
        co_await end_if_cancelled();
        try {
            std::optional<events::span> next = co_await spans_.next();
            has_all_ = !next;
            if (next) {
                add(std::move(*next));
            }
        } catch (const std::exception&) {} // out of memory: the next may succeed; or cancelled
        if (++taken % taken_per_turn == 0) {
            co_await end_turn();
        }
    }
    changed_.open();
}

void otlp_exporter::core::add(events::span span) {
    if (waiting_.size() >= options_.capacity) {
        ++dropped_;
        return;
    }
    try {
        waiting_.push_back(std::move(span));
    } catch (const std::exception&) { // out of memory
        ++dropped_;
    }
    if (waiting_.size() == 1 || waiting_.size() >= options_.batch) {
        changed_.open();
    }
}

asio::awaitable<void> otlp_exporter::core::send_all() {
    while (!has_all_ || !waiting_.empty()) {
        co_await end_if_cancelled();
        bool has_failed = false;
        try {
            co_await send_next();
        } catch (const std::exception& problem) { // out of memory; or cancelled
            has_failed = true;
            lose_batch(problem.what());
        }
        if (has_failed) {
            co_await wait_a_moment(clock::now() + 100ms);
        }
    }
}

asio::awaitable<void> otlp_exporter::core::send_next() {
    co_await wait_for_batch();
    auto batch = take_batch();
    if (!batch.empty()) {
        auto sending = send(std::move(batch));
        co_await std::move(sending);
    }
}

asio::awaitable<void> otlp_exporter::core::wait_for_batch() {
    while (waiting_.empty() && !has_all_) {
        changed_.close();
        co_await changed_.wait();
    }
    const auto limit = clock::now() + options_.interval;
    bool in_time = true;
    while (in_time && waiting_.size() < options_.batch && !has_all_) {
        changed_.close();
        in_time = co_await changed_.wait_until(limit);
    }
}

std::vector<events::span> otlp_exporter::core::take_batch() {
    const auto count = std::min(waiting_.size(), options_.batch);
    const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(count);
    std::vector<events::span> batch(std::make_move_iterator(waiting_.begin()), std::make_move_iterator(end));
    waiting_.erase(waiting_.begin(), end);
    return batch;
}

asio::awaitable<void> otlp_exporter::core::send(std::vector<events::span> batch) {
    sending_ = batch.size();
    auto body = to_otlp(batch, options_);
    batch.clear();
    co_await deliver(std::move(body));
}

asio::awaitable<void> otlp_exporter::core::deliver(std::string body) {
    auto backoff = options_.backoff;
    for (int attempt = 1;; ++attempt) {
        collector_answer answer = co_await collector_.post(body, options_.timeout);
        if (answer.is_taken) {
            const auto rejected = std::min<std::uint64_t>(answer.rejected, sending_);
            sent_ += std::exchange(sending_, 0) - rejected;
            lose(rejected, answer.problem);
            co_return;
        }
        if (!answer.may_be_repeated || attempt >= options_.attempts || is_hurried_) {
            lose_batch(answer.problem);
            co_return;
        }
        const auto limit =
            clock::now() + std::min(answer.retry_after.value_or(backoff), options_.max_backoff);
        backoff = std::min(2 * backoff, options_.max_backoff);
        co_await wait_a_moment(limit);
    }
}

/// Returns early if hurried.
asio::awaitable<void> otlp_exporter::core::wait_a_moment(time_point limit) {
    bool in_time = true;
    while (in_time && !is_hurried_) {
        changed_.close();
        in_time = co_await changed_.wait_until(limit);
    }
}

void otlp_exporter::core::lose_batch(const std::string& reason) {
    lose(std::exchange(sending_, 0), reason);
}

void otlp_exporter::core::lose(std::size_t count, const std::string& reason) {
    lost_ += count;
    if (count > 0 && options_.on_problem && !is_aborted_) {
        try {
            options_.on_problem(std::to_string(count) + " spans were lost, as the collector at " +
                                options_.host + ':' + std::to_string(options_.port) +
                                " did not take them: " + reason);
        } catch (...) {}
    }
}

asio::awaitable<void> otlp_exporter::core::finish() {
    constexpr auto time_to_end = 1s; // for a look-up, which cannot be cancelled
    is_hurried_ = true;
    changed_.open();
    co_await tasks_.join(clock::now() + options_.timeout);
    const auto left = std::exchange(sending_, 0) + waiting_.size();
    waiting_.clear();
    lose(left, "there was no time left");
    tasks_.cancel();
    co_await tasks_.join(clock::now() + time_to_end);
}

} // namespace skep
