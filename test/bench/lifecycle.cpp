// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Workers that do nothing for a caller: starting them, and having them.

#include "load.hpp"
#include "modes.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <stdexcept>

namespace skep::bench {

namespace {

constexpr std::size_t page = 4096;

void require_all_ready(const pool_status& status) {
    for (const auto& worker : status.workers) {
        if (worker.state != worker_state::ready) {
            throw std::runtime_error(to_string(worker.id) + " is not ready");
        }
    }
}

asio::awaitable<double> time_one_start(pool& workers) {
    const auto begin = now();
    co_await workers.start();
    const auto took = seconds(now() - begin).count() * 1e3;
    const auto status = co_await workers.status();
    require_all_ready(status);
    co_await workers.shutdown();
    co_return took;
}

asio::awaitable<figures> watch_idle(pool& workers, seconds span) {
    const auto executor = co_await asio::this_coro::executor;
    asio::steady_timer timer(executor);
    const auto resident_before = resident_bytes();
    co_await workers.start();
    timer.expires_after(std::chrono::seconds(1));
    co_await timer.async_wait(asio::use_awaitable);
    auto status = co_await workers.status();
    require_all_ready(status);
    const auto growth = resident_bytes() - resident_before;
    const auto cpu = cpu_time();
    const auto begin = now();
    timer.expires_after(std::chrono::duration_cast<duration>(span));
    co_await timer.async_wait(asio::use_awaitable);
    const auto busy = (cpu_time() - cpu).count() * 1e3 / seconds(now() - begin).count();
    status = co_await workers.status();
    require_all_ready(status);
    const auto count = static_cast<double>(status.workers.size());
    co_await workers.shutdown();
    figures measured{{"cpu_ms_per_s", busy}, {"kib_per_worker", growth / 1024 / count}};
    co_return measured;
}

/// What `operation` returns, run on a context of its own.
template <class T>
T run(asio::io_context& context, asio::awaitable<T> operation) {
    T result{};
    asio::co_spawn(context, std::move(operation), [&](std::exception_ptr error, T value) {
        if (error) {
            std::rethrow_exception(error);
        }
        result = std::move(value);
    });
    context.run();
    return result;
}

} // namespace

figures measure_start(const arguments& args) {
    std::vector<char> ballast(args.number("ballast_mib", 0) << 20);
    for (std::size_t i = 0; i < ballast.size(); i += page) {
        ballast[i] = 1;
    }
    std::vector<double> samples;
    for (auto left = args.number("repeats", 1); left > 0; --left) {
        asio::io_context context(1);
        pool workers(context.get_executor(), make_config(args));
        samples.push_back(run(context, time_one_start(workers)));
    }
    return {{"ms", median(samples)}};
}

figures measure_idle(const arguments& args) {
    asio::io_context context(1);
    pool workers(context.get_executor(), make_config(args));
    return run(context, watch_idle(workers, args.span("span")));
}

} // namespace skep::bench
