// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// The forms of an operation: awaited, awaited as a result, and with a callback.

#include "fake_workers.hpp"
#include "load.hpp"
#include "modes.hpp"
#include <skep/as_result.hpp>
#include <skep/error.hpp>

#include <boost/asio/co_spawn.hpp>

#include <algorithm>
#include <deque>
#include <functional>
#include <stdexcept>
#include <utility>

namespace skep::bench {

namespace {

request make_echo() {
    request call("echo");
    call.arg("value", small_value);
    return call;
}

void expect_refusal(errc kind) {
    if (kind != errc::pool_saturated) {
        throw std::runtime_error("the call was not refused for a full queue");
    }
}

asio::awaitable<void> await_refusals(pool& workers, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        auto kind = errc();
        try {
            auto call = make_echo();
            co_await workers.execute(std::move(call));
        } catch (const error& failure) {
            kind = failure.kind();
        }
        expect_refusal(kind);
    }
}

asio::awaitable<void> await_refusals_as_results(pool& workers, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        auto call = make_echo();
        const result<reply> answer = co_await workers.execute(std::move(call), as_result);
        expect_refusal(answer ? errc() : answer.error().kind());
    }
}

/// A caller that makes one call after the other from its completion handler.
class callback_caller {
public:
    callback_caller(pool& workers, std::size_t count, std::function<void(const result<reply>&)> check)
        : workers_(workers), left_(count), check_(std::move(check)) {}

    void call() {
        has_ended_ = left_ == 0;
        if (!has_ended_) {
            --left_;
            workers_.execute(make_echo(), as_result([this](const result<reply>& answer) {
                                 check_(answer);
                                 call();
                             }));
        }
    }

    bool has_ended() const noexcept { return has_ended_; }

private:
    pool& workers_;
    std::size_t left_;
    bool has_ended_ = false;
    std::function<void(const result<reply>&)> check_;
};

void rethrow(std::exception_ptr problem) {
    if (problem) {
        std::rethrow_exception(problem);
    }
}

void refuse(fake_pool& busy, const std::string& form, std::size_t count) {
    auto& workers = busy.facade();
    callback_caller caller(
        workers, count, [](const auto& answer) { expect_refusal(answer ? errc() : answer.error().kind()); });
    if (form == "callback") {
        caller.call();
    } else {
        asio::co_spawn(busy.context(),
                       form == "result" ? await_refusals_as_results(workers, count)
                                        : await_refusals(workers, count),
                       rethrow);
    }
    busy.context().poll();
}

void expect_text(const result<reply>& answer) {
    if (!answer || !answer->value.is_string()) {
        throw std::runtime_error("the worker does not echo");
    }
}

asio::awaitable<void> call_with_callbacks(pool& workers, std::size_t callers, std::size_t count) {
    std::deque<callback_caller> all;
    for (std::size_t i = 0; i < callers; ++i) {
        all.emplace_back(workers, count / callers, expect_text).call();
    }
    while (!std::all_of(all.begin(), all.end(), std::mem_fn(&callback_caller::has_ended))) {
        co_await pause(std::chrono::milliseconds(1));
    }
}

asio::awaitable<void> call_in_form(pool& workers, const arguments& args, std::size_t count) {
    const auto callers = args.number("callers");
    return args.text("form") == "callback" ? call_with_callbacks(workers, callers, count)
                                           : make_calls(workers, callers, count);
}

} // namespace

figures measure_forms(const arguments& args) {
    const auto count = args.number("calls");
    seconds wall{};
    seconds cpu{};
    auto body = [&](pool& workers) -> asio::awaitable<void> {
        co_await call_in_form(workers, args, count / 10);
        const auto begin = now();
        const auto cpu_before = cpu_time();
        co_await call_in_form(workers, args, count);
        wall = now() - begin;
        cpu = cpu_time() - cpu_before;
    };
    with_pool(make_config(args), body);
    const auto calls = static_cast<double>(count);
    return {{"calls_per_s", calls / wall.count()}, {"cpu_us", cpu.count() * 1e6 / calls}};
}

figures measure_refusals(const arguments& args) {
    auto config = fake_config(1);
    config.queue.limit = 0;
    fake_pool busy(config);
    asio::co_spawn(busy.context(), busy.facade().execute(make_echo()),
                   [](std::exception_ptr, const reply&) {});
    busy.context().poll();
    const auto count = args.number("calls");
    refuse(busy, args.text("form"), count / 10);
    const auto before = cpu_time();
    refuse(busy, args.text("form"), count);
    const auto span = cpu_time() - before;
    busy.answer();
    busy.context().poll();
    return {{"refusal_ns", span.count() * 1e9 / static_cast<double>(count)}};
}

} // namespace skep::bench
