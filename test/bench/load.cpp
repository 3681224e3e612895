// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "load.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <atomic>
#include <memory>
#include <stdexcept>

namespace skep::bench {

namespace {

constexpr std::size_t fewest_samples = 3; // of big payloads

/// Callers at work, shared with them.
struct crowd {
    std::atomic<bool> stop = false;
    std::atomic<std::uint64_t> answered = 0;
    std::atomic<std::uint64_t> left = UINT64_MAX; ///< calls that may still be begun
    std::atomic<std::size_t> at_work = 0;

    bool may_begin() {
        if (stop.load(std::memory_order_relaxed)) {
            return false;
        }
        return left.fetch_sub(1, std::memory_order_relaxed) - 1 < UINT64_MAX / 2;
    }
};

asio::awaitable<void> keep_calling(pool& workers, std::shared_ptr<crowd> with) {
    while (with->may_begin()) {
        request call("echo");
        call.arg("value", small_value);
        const reply answer = co_await workers.execute(std::move(call));
        if (!answer.value.is_string()) {
            throw std::runtime_error("the worker does not echo");
        }
        with->answered.fetch_add(1, std::memory_order_relaxed);
    }
}

std::shared_ptr<crowd> gather(pool& workers, std::size_t callers, std::uint64_t calls,
                              const place_of_callers& next_place) {
    auto all = std::make_shared<crowd>();
    all->left = calls;
    all->at_work = callers;
    for (std::size_t i = 0; i < callers; ++i) {
        asio::co_spawn(next_place(), keep_calling(workers, all), [all](const std::exception_ptr& problem) {
            --all->at_work;
            rethrow(problem);
        });
    }
    return all;
}

asio::awaitable<void> disperse(std::shared_ptr<crowd> all) {
    while (all->at_work > 0) {
        co_await pause(std::chrono::milliseconds(1));
    }
}

} // namespace

asio::awaitable<void> pause(duration span) {
    const auto executor = co_await asio::this_coro::executor;
    asio::steady_timer timer(executor, span);
    co_await timer.async_wait(asio::use_awaitable);
}

asio::awaitable<call_rate> measure_rate(pool& workers, std::size_t callers, seconds span,
                                        place_of_callers next_place) {
    const auto all = gather(workers, callers, UINT64_MAX / 4, next_place);
    const auto whole = std::chrono::duration_cast<duration>(span);
    co_await pause(whole / 4);
    const auto before = all->answered.load();
    const auto cpu = cpu_time();
    const auto switches = context_switches();
    const auto begin = now();
    co_await pause(whole);
    const auto calls = static_cast<double>(all->answered.load() - before);
    const call_rate rate{calls / seconds(now() - begin).count(), (cpu_time() - cpu).count() * 1e6 / calls,
                         (context_switches() - switches) / calls};
    all->stop = true;
    co_await disperse(all);
    co_return rate;
}

asio::awaitable<std::vector<double>> measure_latencies(pool& workers,
                                                       const std::function<request()>& make_call,
                                                       const std::function<bool(const reply&)>& is_right,
                                                       seconds span) {
    std::vector<double> samples;
    samples.reserve(1u << 18);
    const auto begin = now();
    const auto warm = begin + std::chrono::duration_cast<duration>(span) / 10;
    const auto end = warm + std::chrono::duration_cast<duration>(span);
    std::size_t calls = 0;
    for (auto before = begin; before < end || samples.size() < fewest_samples; ++calls) {
        auto call = make_call();
        const reply answer = co_await workers.execute(std::move(call));
        const auto after = now();
        if (!is_right(answer)) {
            throw std::runtime_error("the worker does not echo");
        }
        if (before >= warm && calls > 0) {
            samples.push_back(seconds(after - before).count() * 1e6);
        }
        before = now();
    }
    co_return samples;
}

asio::awaitable<std::vector<double>> measure_echo(pool& workers, const std::string& text, seconds span) {
    const std::function<request()> make_call = [&] { return request("echo").arg("value", text); };
    const std::function<bool(const reply&)> is_right = [&](const reply& answer) {
        return answer.value.as_string() == text;
    };
    const auto samples = co_await measure_latencies(workers, make_call, is_right, span);
    co_return samples;
}

asio::awaitable<std::vector<double>> measure_function(pool& workers, std::size_t callers,
                                                      std::size_t mebibytes, seconds span) {
    const auto executor = co_await asio::this_coro::executor;
    const auto begin = now();
    const auto warm = begin + std::chrono::duration_cast<duration>(span) / 4;
    const auto end = warm + std::chrono::duration_cast<duration>(span);
    std::vector<double> samples;
    std::size_t at_work = callers;
    const auto keep_reading = [&]() -> asio::awaitable<void> {
        for (auto before = begin; before < end; before = now()) {
            request call("read_memory");
            call.arg("mebibytes", mebibytes);
            const reply answer = co_await workers.execute(std::move(call));
            if (before >= warm) {
                samples.push_back(answer.value.to_number<double>());
            }
        }
    };
    for (std::size_t i = 0; i < callers; ++i) {
        asio::co_spawn(executor, keep_reading(), [&at_work](std::exception_ptr error) {
            --at_work;
            if (error) {
                std::rethrow_exception(error);
            }
        });
    }
    while (at_work > 0) {
        co_await pause(std::chrono::milliseconds(1));
    }
    co_return samples;
}

asio::awaitable<void> make_calls(pool& workers, std::size_t callers, std::uint64_t count) {
    const auto executor = co_await asio::this_coro::executor;
    const auto all = gather(workers, callers, count, [executor] { return executor; });
    co_await disperse(all);
}

} // namespace skep::bench
