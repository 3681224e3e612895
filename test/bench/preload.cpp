// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Workers that are programs of their own, and workers that are forked from a template.

#include "load.hpp"
#include "modes.hpp"
#include <skep/proportional_bytes.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <algorithm>
#include <csignal>
#include <exception>
#include <filesystem>
#include <fstream>
#include <stop_token>
#include <sys/resource.h>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace skep::bench {

namespace {

namespace fs = std::filesystem;

/// The CPU time of the processes that have ended, with their descendants.
seconds cpu_time_of_ended() {
    rusage usage{};
    ::getrusage(RUSAGE_CHILDREN, &usage);
    const auto microseconds = usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
    return seconds(static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)) +
           std::chrono::microseconds(microseconds);
}

double in_mebibytes(std::uint64_t bytes) {
    return static_cast<double>(bytes) / (1 << 20);
}

asio::awaitable<figures> time_start_with_memory(pool& workers) {
    const auto begin = now();
    co_await workers.start();
    const auto took = seconds(now() - begin);
    const auto status = co_await workers.status();
    std::uint64_t bytes = status.preload ? proportional_bytes(status.preload->pid) : 0;
    for (const auto& worker : status.workers) {
        bytes += proportional_bytes(worker.pid);
    }
    const auto preload = status.preload ? seconds(status.preload->preload_time) : seconds(0);
    const auto count = static_cast<double>(status.workers.size());
    figures measured{{"ms", took.count() * 1e3},
                     {"ms_after_preload", (took - preload).count() * 1e3},
                     {"mib_per_worker", in_mebibytes(bytes) / count}};
    co_await workers.shutdown();
    co_return measured;
}

/// The process and all that descend from it.
void add_tree(pid_t process, std::vector<pid_t>& tree) {
    tree.push_back(process);
    std::error_code ec;
    for (const auto& task : fs::directory_iterator("/proc/" + std::to_string(process) + "/task", ec)) {
        std::ifstream children(task.path() / "children");
        for (pid_t child = 0; children >> child;) {
            add_tree(child, tree);
        }
    }
}

/// The proportional memory of all descendants of this process.
std::uint64_t bytes_of_descendants() {
    std::vector<pid_t> tree;
    add_tree(::getpid(), tree);
    std::uint64_t bytes = 0;
    for (std::size_t i = 1; i < tree.size(); ++i) {
        bytes += proportional_bytes(tree[i]);
    }
    return bytes;
}

/// Measures the descendants over and over, on a thread of its own.
class memory_watch {
public:
    memory_watch() : thread_([this](const std::stop_token& stop) { watch(stop); }) {}

    std::uint64_t peak() {
        thread_.request_stop();
        thread_.join();
        return peak_;
    }

private:
    void watch(const std::stop_token& stop) {
        while (!stop.stop_requested()) {
            peak_ = std::max(peak_, bytes_of_descendants());
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
    }

    std::uint64_t peak_ = 0;
    std::jthread thread_;
};

/// Callers that make one call after the other, and the time that each call has taken.
class caller_group {
public:
    caller_group(asio::any_io_executor executor, pool& workers, std::size_t count) : workers_(workers) {
        for (std::size_t i = 0; i < count; ++i) {
            asio::co_spawn(executor, call_until_stop(), [this](const std::exception_ptr& problem) {
                ++ended_;
                rethrow(problem);
            });
        }
    }

    /// Returns the milliseconds of all calls, in ascending order.
    asio::awaitable<std::vector<double>> stop(std::size_t count) {
        is_wanted_ = false;
        while (ended_ < count) {
            co_await pause(std::chrono::milliseconds(1));
        }
        std::sort(took_.begin(), took_.end());
        co_return took_;
    }

private:
    asio::awaitable<void> call_until_stop() {
        while (is_wanted_) {
            request call = request("spin").idempotent(true);
            const auto begin = now();
            co_await workers_.execute(std::move(call));
            took_.push_back(seconds(now() - begin).count() * 1e3);
        }
    }

    pool& workers_;
    std::vector<double> took_;
    std::size_t ended_ = 0;
    bool is_wanted_ = true;
};

constexpr duration between_kills = std::chrono::milliseconds(250);

/// Kills one worker after the other, each in turn.
asio::awaitable<std::size_t> kill_workers(pool& workers, seconds span) {
    std::size_t kills = 0;
    const auto end = now() + std::chrono::duration_cast<duration>(span);
    while (now() < end) {
        const auto status = co_await workers.status();
        const auto& victim = status.workers[kills % status.workers.size()];
        kills += victim.pid > 0 && ::kill(victim.pid, SIGKILL) == 0 ? 1 : 0;
        co_await pause(between_kills);
    }
    co_return kills;
}

asio::awaitable<figures> time_calls_among_kills(pool& workers, std::size_t callers, seconds span) {
    const auto executor = co_await asio::this_coro::executor;
    caller_group group(executor, workers, callers);
    const auto kills = co_await kill_workers(workers, span);
    const auto took = co_await group.stop(callers);
    figures measured{{"longest_ms", took.back()},
                     {"p999_ms", took[took.size() - 1 - took.size() / 1000]},
                     {"calls", static_cast<double>(took.size())},
                     {"kills", static_cast<double>(kills)}};
    co_return measured;
}

asio::awaitable<figures> weigh_restart(pool& workers, std::size_t callers) {
    const auto before = bytes_of_descendants();
    const auto status = co_await workers.status();
    const double template_bytes = status.preload ? resident_bytes(status.preload->pid) : 0;
    memory_watch watch;
    const auto executor = co_await asio::this_coro::executor;
    caller_group group(executor, workers, callers);
    co_await workers.rolling_restart();
    const auto took = co_await group.stop(callers);
    figures measured{{"before_mib", in_mebibytes(before)},
                     {"template_mib", template_bytes / (1 << 20)},
                     {"peak_mib", in_mebibytes(watch.peak())},
                     {"longest_ms", took.back()}};
    co_return measured;
}

pool_config make_preload_config(const arguments& args) {
    auto config = make_config(args);
    config.launch.preload = args.number("preload") != 0;
    config.launch.preload_fallback = false;
    config.launch.environment["MODEL_MIB"] = args.text("model_mib", "0");
    config.launch.environment["IMPORT_SECONDS"] = args.text("import_seconds", "0");
    config.log_level = log_level::off;
    config.restart.initial_backoff = config.restart.max_backoff = std::chrono::milliseconds(1);
    config.restart.limit = 1'000'000; // workers are killed on purpose
    return config;
}

} // namespace

figures measure_recovery(const arguments& args) {
    figures measured;
    with_pool(make_preload_config(args), [&](pool& workers) -> asio::awaitable<void> {
        measured = co_await time_calls_among_kills(workers, args.number("callers"), args.span("span"));
    });
    return measured;
}

figures measure_restart(const arguments& args) {
    figures measured;
    with_pool(make_preload_config(args), [&](pool& workers) -> asio::awaitable<void> {
        measured = co_await weigh_restart(workers, args.number("callers"));
    });
    return measured;
}

figures measure_preload(const arguments& args) {
    const auto config = make_preload_config(args);
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
