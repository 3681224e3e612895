// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "otlp/exporter_core.hpp"

#include "core/clock.hpp"
#include "core/range_check.hpp"
#include "otlp/spans_json.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

namespace skep {

using namespace std::chrono_literals;

namespace {

/// So that nothing can be slipped into a request.
bool is_visible(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7F; });
}

bool is_line(std::string_view text) {
    return std::none_of(text.begin(), text.end(), [](unsigned char c) { return c < ' ' || c == 0x7F; });
}

void check_texts(const otlp_options& options, const config_path& where) {
    if (options.host.empty() || !is_visible(options.host)) {
        where.reject("host", in_quotes(options.host), "must be a name or an address");
    }
    if (!options.path.starts_with('/') || !is_visible(options.path)) {
        where.reject("path", in_quotes(options.path),
                     "must begin with / and have visible ASCII characters only");
    }
    for (const auto& [name, value] : options.headers) {
        const bool is_name = !name.empty() && is_visible(name) && name.find(':') == std::string::npos;
        if (!is_name || !is_line(value)) {
            where.reject("headers", in_quotes(name),
                         "must be the name of a header, with a value of one line");
        }
    }
}

otlp_options checked(otlp_options options) {
    check_ranges([&options](auto& range) {
        check_texts(options, range.where());
        range.number("batch", options.batch, 1, 10'000);
        range.time("interval", options.interval, 10ms, 1min);
        range.number("capacity", options.capacity, 1, 1'000'000);
        range.time("timeout", options.timeout, 10ms, 1min);
        range.number("attempts", options.attempts, 1, 100);
        range.time("backoff", options.backoff, 1ms, 1min);
        range.time("max_backoff", options.max_backoff, 1ms, 10min);
    });
    return options;
}

} // namespace

otlp_exporter::core::core(const boost::asio::any_io_executor& executor, otlp_options options)
    : executor_(executor),
      options_(checked(std::move(options))),
      collector_(executor_, options_),
      tasks_(executor_, [](const std::exception_ptr&) {}), // it was cancelled, or there is no memory for it
      changed_(executor_) {}

void otlp_exporter::core::begin(event_bus& from) {
    spans_ = from.subscribe<events::span>(options_.capacity);
    asio::post(executor_, [self = shared_from_this()] {
        self->tasks_.spawn(self, self->receive());
        self->tasks_.spawn(self, self->send_all());
    });
}

void otlp_exporter::core::end() {
    spans_.close();
}

otlp_counts otlp_exporter::core::counts() const noexcept {
    return {sent_, lost_, dropped_ + spans_.dropped()};
}

asio::awaitable<void> otlp_exporter::core::receive() {
    std::optional<events::span> next;
    do {
        auto receiving = spans_.next();
        next = co_await std::move(receiving);
        if (next) {
            take(std::move(*next));
        }
    } while (next);
    has_all_ = true;
    changed_.open();
}

void otlp_exporter::core::take(events::span span) {
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
        co_await wait_for_batch();
        auto batch = take_batch();
        if (!batch.empty()) {
            co_await send(std::move(batch));
        }
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
    std::string body;
    try {
        body = to_otlp(batch, options_);
    } catch (const std::exception& problem) { // out of memory
        lose_batch(problem.what());
        co_return;
    }
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
        bool in_time = true;
        while (in_time && !is_hurried_) {
            changed_.close();
            in_time = co_await changed_.wait_until(limit);
        }
    }
}

void otlp_exporter::core::lose_batch(const std::string& why) {
    lose(std::exchange(sending_, 0), why);
}

void otlp_exporter::core::lose(std::size_t count, const std::string& why) {
    lost_ += count;
    if (count > 0 && options_.on_problem) {
        try {
            options_.on_problem(std::to_string(count) + " spans were lost, as the collector at " +
                                options_.host + ':' + std::to_string(options_.port) +
                                " did not take them: " + why);
        } catch (...) {}
    }
}

asio::awaitable<void> otlp_exporter::core::finish() {
    is_hurried_ = true;
    changed_.open();
    co_await wait_for_end(clock::now() + options_.timeout);
    if (tasks_.running() > 0) {
        const auto left = std::exchange(sending_, 0) + waiting_.size();
        waiting_.clear();
        lose(left, "there was no time left");
        tasks_.cancel();
        co_await wait_for_end(time_point::max());
    }
}

/// Several may wait for it.
asio::awaitable<void> otlp_exporter::core::wait_for_end(time_point limit) {
    timer pause(executor_);
    while (tasks_.running() > 0 && clock::now() < limit) {
        pause.expires_after(5ms);
        co_await pause.async_wait(asio::use_awaitable);
    }
}

} // namespace skep
