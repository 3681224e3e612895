// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Streams: how many chunks there are in a second.

#include "load.hpp"
#include "modes.hpp"

#include <boost/asio/this_coro.hpp>

#include <algorithm>
#include <vector>

namespace skep::bench {

namespace {

/// Consumers at one stream each.
struct audience {
    std::vector<std::size_t> chunks; ///< of each consumer
    std::size_t listening = 0;
    bool stop = false;

    std::size_t sum() const {
        std::size_t all = 0;
        for (const auto count : chunks) {
            all += count;
        }
        return all;
    }
    bool have_all_begun() const { return std::find(chunks.begin(), chunks.end(), 0u) == chunks.end(); }
};

asio::awaitable<void> listen(pool& workers, audience& all, std::size_t number) {
    request call("tokens");
    auto stream = co_await workers.stream(std::move(call));
    while (!all.stop) {
        const auto piece = co_await stream.next();
        all.chunks[number] += piece->value.is_string();
    }
}

seconds cpu_time_of(const std::vector<worker_status>& workers) {
    seconds sum{};
    for (const auto& worker : workers) {
        sum += cpu_time(worker.pid);
    }
    return sum;
}

asio::awaitable<void> gather(pool& workers, audience& all) {
    const auto executor = co_await asio::this_coro::executor;
    all.listening = all.chunks.size();
    for (std::size_t i = 0; i < all.chunks.size(); ++i) {
        asio::co_spawn(executor, listen(workers, all, i), [&all](std::exception_ptr error) {
            --all.listening;
            if (error) {
                std::rethrow_exception(error);
            }
        });
    }
    while (!all.have_all_begun()) {
        co_await pause(std::chrono::milliseconds(1));
    }
}

asio::awaitable<void> disperse(audience& all) {
    all.stop = true;
    while (all.listening > 0) {
        co_await pause(std::chrono::milliseconds(1));
    }
}

asio::awaitable<figures> measure_chunks(pool& workers, std::size_t streams, duration span) {
    audience all{std::vector<std::size_t>(streams)};
    co_await gather(workers, all);
    const auto status = co_await workers.status();
    co_await pause(span / 4);
    const auto before = all.sum();
    const auto cpu = cpu_time();
    const auto workers_cpu = cpu_time_of(status.workers);
    const auto begin = now();
    co_await pause(span);
    const auto chunks = static_cast<double>(all.sum() - before);
    figures measured{{"chunks_per_s", chunks / seconds(now() - begin).count()},
                     {"cpu_us", (cpu_time() - cpu).count() * 1e6 / chunks},
                     {"worker_cpu_us", (cpu_time_of(status.workers) - workers_cpu).count() * 1e6 / chunks}};
    co_await disperse(all);
    co_return measured;
}

} // namespace

figures measure_streams(const arguments& args) {
    figures measured;
    const auto streams = args.number("streams");
    const auto span = std::chrono::duration_cast<duration>(args.span("span"));
    auto body = [&](pool& workers) -> asio::awaitable<void> {
        measured = co_await measure_chunks(workers, streams, span);
    };
    with_pool(make_config(args), body);
    return measured;
}

} // namespace skep::bench
