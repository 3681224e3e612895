// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Workers that are programs of their own, and workers that are forked from a template.

#include "load.hpp"
#include "modes.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <exception>
#include <sys/resource.h>

namespace skep::bench {

namespace {

/// The CPU time of the processes that have ended, with their descendants.
seconds cpu_time_of_ended() {
    rusage usage{};
    ::getrusage(RUSAGE_CHILDREN, &usage);
    const auto microseconds = usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
    return seconds(static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)) +
           std::chrono::microseconds(microseconds);
}

asio::awaitable<figures> time_start_with_memory(pool& workers) {
    const auto begin = now();
    co_await workers.start();
    const auto took = seconds(now() - begin);
    const auto status = co_await workers.status();
    double bytes = status.preload ? proportional_bytes(status.preload->pid) : 0;
    for (const auto& worker : status.workers) {
        bytes += proportional_bytes(worker.pid);
    }
    const auto preload = status.preload ? seconds(status.preload->preload_time) : seconds(0);
    const auto count = static_cast<double>(status.workers.size());
    figures measured{{"ms", took.count() * 1e3},
                     {"ms_after_preload", (took - preload).count() * 1e3},
                     {"mib_per_worker", bytes / count / (1 << 20)}};
    co_await workers.shutdown();
    co_return measured;
}

} // namespace

figures measure_preload(const arguments& args) {
    auto config = make_config(args);
    config.launch.preload = args.number("preload") != 0;
    config.launch.preload_fallback = false;
    config.launch.environment["MODEL_MIB"] = args.text("model_mib");
    asio::io_context context(1);
    pool workers(context.get_executor(), config);
    figures measured;
    const auto cpu = cpu_time_of_ended();
    asio::co_spawn(context, time_start_with_memory(workers), [&](std::exception_ptr error, figures result) {
        if (error) {
            std::rethrow_exception(error);
        }
        measured = std::move(result);
    });
    context.run();
    const auto used = (cpu_time_of_ended() - cpu).count() * 1e3;
    measured.emplace_back("cpu_ms_per_worker", used / static_cast<double>(args.number("workers", 1)));
    return measured;
}

} // namespace skep::bench
