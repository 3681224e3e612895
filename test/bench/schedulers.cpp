// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Picking a worker: by the scheduler alone, and as a part of the host's work for a call.

#include "fake_workers.hpp"
#include "modes.hpp"
#include <skep/scheduler.hpp>

#include <boost/asio/co_spawn.hpp>

#include <deque>

namespace skep::bench {

namespace {

constexpr std::size_t picks = 1'000'000;
constexpr claim_view any;

/// A worker is picked and becomes busy; the one that has been busy longest becomes free. Half are busy.
double nanoseconds_per_pick(scheduling kind, std::size_t workers) {
    const auto chosen = make_scheduler(kind);
    for (std::size_t slot = 0; slot < workers; ++slot) {
        chosen->offer(static_cast<std::uint32_t>(slot), 0);
    }
    std::vector<std::uint32_t> busy(workers / 2);
    for (auto& slot : busy) {
        slot = chosen->pick(any).value();
        chosen->withdraw(slot);
    }
    const auto begin = cpu_time();
    for (std::size_t i = 0, oldest = 0; i < picks; ++i) {
        const auto slot = chosen->pick(any).value();
        chosen->withdraw(slot);
        chosen->offer(busy[oldest], 0);
        busy[oldest] = slot;
        oldest = oldest + 1 < busy.size() ? oldest + 1 : 0;
    }
    return (cpu_time() - begin).count() * 1e9 / static_cast<double>(picks);
}

asio::awaitable<void> call_for_ever(pool& workers, std::size_t& answered) {
    for (;;) {
        request call("echo");
        call.arg("value", "hello");
        co_await workers.execute(std::move(call));
        ++answered;
    }
}

/// The host's part of calls to half of the workers at a time; what the workers do is not counted.
double nanoseconds_per_call(std::size_t workers, std::size_t calls) {
    std::size_t answered = 0;
    std::size_t measured = 0;
    seconds spent{};
    {
        fake_pool half_busy(fake_config(workers));
        for (std::size_t i = 0; i < workers / 2; ++i) {
            // The last calls are aborted by the end of the pool.
            asio::co_spawn(half_busy.context(), call_for_ever(half_busy.facade(), answered),
                           [](const std::exception_ptr&) {});
        }
        half_busy.context().poll();
        while (answered < calls / 4) {
            half_busy.answer();
            half_busy.context().poll();
        }
        const auto warm = answered;
        while (answered < warm + calls) {
            half_busy.answer();
            const auto begin = cpu_time();
            half_busy.context().poll();
            spent += cpu_time() - begin;
        }
        measured = answered - warm;
    }
    return spent.count() * 1e9 / static_cast<double>(measured);
}

} // namespace

figures measure_schedulers(const arguments& args) {
    const auto workers = args.number("workers");
    return {{"least_loaded_ns", nanoseconds_per_pick(scheduling::least_loaded, workers)},
            {"round_robin_ns", nanoseconds_per_pick(scheduling::round_robin, workers)},
            {"lifo_ns", nanoseconds_per_pick(scheduling::lifo, workers)},
            {"fifo_ns", nanoseconds_per_pick(scheduling::fifo, workers)},
            {"pack_ns", nanoseconds_per_pick(scheduling::pack, workers)},
            {"call_ns", nanoseconds_per_call(workers, args.number("calls"))}};
}

} // namespace skep::bench
