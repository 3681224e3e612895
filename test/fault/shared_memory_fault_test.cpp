// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Workers that share memory and are killed again and again. SKEP_SHARED_SECONDS sets how long each case goes
// on; from a minute on, the memory of all processes must be flat.

#include "support/run.hpp"
#include <skep/shared_buffer.hpp>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

namespace skep::test {

namespace {

constexpr int sharing_workers = 4;

/// Attachments in the frame, in lent memory and beyond the size of most regions.
constexpr std::array<std::size_t, 5> sizes_to_share{100, 40'000, 300'000, 1'500'000, 9'000'000};

std::chrono::seconds time_to_share() {
    const char* const chosen = std::getenv("SKEP_SHARED_SECONDS");
    return std::chrono::seconds(chosen == nullptr ? 2 : std::atoi(chosen));
}

pool_config sharing_pool(pool_config config) {
    config = quick(std::move(config));
    config.workers = sharing_workers;
    config.shared.enabled = true;
    config.retry.attempts = 100;
    config.retry.budget = 100'000;
    config.restart.limit = 100'000;
    config.crash_barrier.poison_crashes = 0; // the call is no cause
    return config;
}

pool_config sharing_cpp_workers() {
    pool_config config;
    config.launch.program = SKEP_CPP_WORKER;
    config.log_level = log_level::off;
    return config;
}

blob sealed_pattern(std::size_t bytes) {
    const blob plain(pattern(bytes));
    shared_buffer buffer(bytes);
    std::copy(plain.begin(), plain.end(), buffer.span().begin());
    return blob(std::move(buffer));
}

/// The anonymous and shared memory of a process, in KiB; 0 if it has ended.
std::uint64_t memory_of(const std::string& process) {
    std::ifstream status("/proc/" + process + "/status");
    std::uint64_t sum = 0;
    for (std::string name; status >> name;) {
        std::uint64_t size = 0;
        if ((name == "RssAnon:" || name == "RssShmem:") && status >> size) {
            sum += size;
        }
    }
    return sum;
}

struct memory_sample {
    std::uint64_t host = 0;
    std::uint64_t workers = 0;
};

/// The most of the samples from `begin` to `end`.
memory_sample most_of(const std::vector<memory_sample>& samples, std::size_t begin, std::size_t end) {
    memory_sample most;
    for (std::size_t i = begin; i < end; ++i) {
        most.host = std::max(most.host, samples[i].host);
        most.workers = std::max(most.workers, samples[i].workers);
    }
    return most;
}

/// Calls of one size that follow each other until the time is over. All must have their attachment back.
struct exchange {
    pool& workers;
    blob sent;
    std::chrono::steady_clock::time_point end;
    std::size_t& ended;

    asio::awaitable<void> run() const {
        while (std::chrono::steady_clock::now() < end) {
            request call("echo");
            call.attach(sent).idempotent(true);
            const auto answer = co_await workers.execute(std::move(call));
            BOOST_TEST((answer.attachments.at(0) == sent));
        }
        ++ended;
    }
};

/// Kills a worker after the other while they exchange memory with the host, and looks at the memory of all.
asio::awaitable<void> kill_amid_exchanges(pool& workers) {
    const auto executor = co_await asio::this_coro::executor;
    const auto end = std::chrono::steady_clock::now() + time_to_share();
    std::vector<exchange> exchanges;
    std::size_t ended = 0;
    for (const auto bytes : sizes_to_share) {
        exchanges.push_back({workers, blob(pattern(bytes)), end, ended});
        exchanges.push_back({workers, sealed_pattern(bytes), end, ended});
    }
    for (auto& each : exchanges) {
        asio::co_spawn(executor, each.run(), [](const std::exception_ptr& problem) {
            if (problem) {
                std::rethrow_exception(problem);
            }
        });
    }
    std::vector<memory_sample> samples;
    while (ended < exchanges.size()) {
        co_await pause(100ms);
        const auto status = co_await workers.status();
        memory_sample sample{memory_of("self"), 0};
        for (const auto& each : status.workers) {
            sample.workers = std::max(sample.workers, memory_of(std::to_string(each.pid)));
        }
        samples.push_back(sample);
        const auto doomed = status.workers.at(samples.size() % sharing_workers).pid;
        if (samples.size() % 5 == 0 && doomed > 0) {
            ::kill(doomed, SIGKILL);
        }
    }
    const auto third = samples.size() / 3;
    const auto first = most_of(samples, 0, third);
    const auto last = most_of(samples, samples.size() - third, samples.size());
    const auto counters = co_await workers.status();
    BOOST_TEST_MESSAGE(samples.size() / 5 << " kills; the host: " << first.host << " KiB, then " << last.host
                                          << "; a worker: " << first.workers << " KiB, then " << last.workers
                                          << "; " << counters.counters.succeeded << " calls");
    if (time_to_share() >= 60s) {
        BOOST_TEST(last.host < first.host + first.host / 10);
        BOOST_TEST(last.workers < first.workers + first.workers / 10);
    }
}

std::size_t memory_mapped() {
    std::ifstream maps("/proc/self/maps");
    std::size_t count = 0;
    for (std::string line; std::getline(maps, line);) {
        count += contains(line, "memfd:skep") ? 1 : 0;
    }
    return count;
}

} // namespace

BOOST_AUTO_TEST_SUITE(shared_memory_fault)

BOOST_AUTO_TEST_CASE(killed_python_workers_leave_memory_as_it_was) {
    with_pool(sharing_pool(python_pool("integration/workers/sealed.py")), kill_amid_exchanges,
              time_to_share() + 5min);
    BOOST_TEST(memory_mapped() == 0u);
}

BOOST_AUTO_TEST_CASE(killed_workers_in_cpp_leave_memory_as_it_was) {
    with_pool(sharing_pool(sharing_cpp_workers()), kill_amid_exchanges, time_to_share() + 5min);
    BOOST_TEST(memory_mapped() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
