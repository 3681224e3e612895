// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Workers that share memory and are killed again and again. SKEP_SHARED_SECONDS sets how long each case goes
// on; from a minute on, the memory of the host and of a worker must be flat.

#include "support/kill_amid_calls.hpp"
#include "support/mappings.hpp"
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

constexpr std::size_t sharing_workers = 4;

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
    config.shared.least_result = 64u << 10;
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
    std::uint64_t worker = 0;
};

/// The most of the samples from `begin` to `end`.
memory_sample most_of(const std::vector<memory_sample>& samples, std::size_t begin, std::size_t end) {
    memory_sample most;
    for (std::size_t i = begin; i < end; ++i) {
        most.host = std::max(most.host, samples[i].host);
        most.worker = std::max(most.worker, samples[i].worker);
    }
    return most;
}

/// Calls that exchange memory, of each size, until stop().
class exchanges {
public:
    explicit exchanges(pool& workers) : workers_(workers) {
        for (const auto bytes : sizes_to_share) {
            sent_.emplace_back(pattern(bytes));
            sent_.push_back(sealed_pattern(bytes));
        }
    }

    void start(const asio::any_io_executor& executor) {
        for (const auto& each : sent_) {
            asio::co_spawn(executor, exchange(each), [this](const std::exception_ptr& problem) {
                BOOST_TEST(text_of_problem(problem) == "");
                ++ended_;
            });
        }
    }

    asio::awaitable<void> stop() {
        is_over_ = true;
        auto have_ended = [this] { return ended_ == sent_.size(); };
        const bool ended = co_await eventually(have_ended);
        BOOST_TEST(ended);
    }

private:
    /// The calls follow each other. All must have their attachment back.
    asio::awaitable<void> exchange(blob bytes) {
        while (!is_over_) {
            request call("echo");
            call.attach(bytes).idempotent(true);
            const auto answer = co_await workers_.execute(std::move(call));
            BOOST_TEST((answer.attachments.at(0) == bytes));
        }
    }

    pool& workers_;
    std::vector<blob> sent_;
    bool is_over_ = false;
    std::size_t ended_ = 0;
};

bool has_shared_all_ways(const pool_counters& counters) {
    return counters.attachments_lent > 0 && counters.attachments_passed > 0 && counters.shared_results > 0;
}

/// Kills a worker that has started at each fifth look, but never the first one, whose memory is looked at.
class killing {
public:
    int kills() const noexcept { return kills_; }

    void look(const pool_status& status) {
        const auto& next = status.workers.at(1 + looks_ / 5 % (sharing_workers - 1));
        const bool has_started = next.state == worker_state::ready || next.state == worker_state::busy;
        if (++looks_ % 5 == 0 && next.pid > 0 && has_started) {
            kills_ += ::kill(next.pid, SIGKILL) == 0 ? 1 : 0;
        }
    }

private:
    std::size_t looks_ = 0;
    int kills_ = 0;
};

/// Kills one worker after another while they exchange memory with the host, and looks at the memory of the
/// host and of a worker that lives on.
asio::awaitable<void> kill_amid_exchanges(pool& workers) {
    const auto executor = co_await asio::this_coro::executor;
    const auto end = std::chrono::steady_clock::now() + time_to_share();
    exchanges calls(workers);
    calls.start(executor);
    killing killer;
    std::vector<memory_sample> samples;
    pool_status status;
    while (std::chrono::steady_clock::now() < end || killer.kills() < 3 ||
           !has_shared_all_ways(status.counters)) {
        co_await pause(100ms);
        status = co_await workers.status();
        samples.push_back({memory_of("self"), memory_of(std::to_string(status.workers.at(0).pid))});
        killer.look(status);
    }
    co_await calls.stop();
    const auto third = samples.size() / 3;
    const auto first = most_of(samples, 0, third);
    const auto last = most_of(samples, samples.size() - third, samples.size());
    BOOST_TEST_MESSAGE(killer.kills() << " kills; the host: " << first.host << " KiB, then " << last.host
                                      << "; a worker: " << first.worker << " KiB, then " << last.worker
                                      << "; " << status.counters.succeeded << " calls");
    if (time_to_share() >= 60s) {
        BOOST_TEST(last.host < first.host + first.host / 10);
        BOOST_TEST(last.worker < first.worker + first.worker / 10);
    }
}

} // namespace

BOOST_AUTO_TEST_SUITE(shared_memory_fault)

BOOST_AUTO_TEST_CASE(killed_python_workers_leave_memory_as_it_was) {
    with_pool(sharing_pool(python_pool("integration/workers/sealed.py")), kill_amid_exchanges,
              time_to_share() + 5min);
    BOOST_TEST(mappings_of("memfd:skep") == 0u);
}

BOOST_AUTO_TEST_CASE(killed_workers_in_cpp_leave_memory_as_it_was) {
    with_pool(sharing_pool(sharing_cpp_workers()), kill_amid_exchanges, time_to_share() + 5min);
    BOOST_TEST(mappings_of("memfd:skep") == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
