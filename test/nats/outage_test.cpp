// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Calls and streams on nodes, while the server is killed again and again.

#include "async/run_to_end.hpp"
#include "remote/nats_connector.hpp"
#include "remote/node_core.hpp"
#include "remote/node_pool.hpp"
#include "support/faulty_bus.hpp"
#include "support/nats_node.hpp"
#include "support/nats_server.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

namespace skep::test {

BOOST_AUTO_TEST_SUITE(nats_outage_test)

namespace {

/// How long the server is killed, every 1.5 s; more by hand: SKEP_OUTAGE_SECONDS=60.
std::chrono::seconds time_of_outages() {
    const char* const given = std::getenv("SKEP_OUTAGE_SECONDS");
    return std::chrono::seconds(given != nullptr ? std::atoi(given) : 0);
}

constexpr int least_outages = 3;
constexpr std::size_t callers = 32;
constexpr std::size_t readers = 8;
constexpr int chunks_of_stream = 100;

/// How often each call has run, by its number.
using run_counts = std::map<int, int>;

/// A node on a faulty bus.
class faulty_node {
public:
    faulty_node(asio::io_context& context, const nats_server& server, const std::string& name,
                const bus_faults& faults, run_counts& runs)
        : workers_(context, readers, [&runs](int number) { ++runs[number]; }) {
        node_options options;
        options.name = name;
        options.log_level = log_level::off;
        std::map<std::string, served_pool, std::less<>> pools;
        pools.emplace("default", served_pool(workers_.pool()));
        core_ = make_node(context.get_executor(), options, std::move(pools), workers_.pool().events(),
                          with_faults(connect_by_nats(server.options()), faults));
    }

    asio::awaitable<void> start() {
        co_await workers_.pool().start();
        co_await run_to_end(core_->executor(), announce());
    }

    asio::awaitable<void> stop() {
        co_await run_to_end(core_->executor(), core_->drain());
        co_await run_to_end(core_->executor(), core_->stop());
        co_await workers_.pool().shutdown();
    }

private:
    asio::awaitable<void> announce() {
        core_->start();
        co_await core_->announced();
    }

    node_workers workers_;
    std::shared_ptr<node_core> core_;
};

pool make_client(asio::io_context& context, const nats_server& server, const bus_faults& faults) {
    remote_options options;
    options.nats = server.options();
    options.log_level = log_level::off;
    options.retry.budget = 0;
    return make_node_pool(context.get_executor(), options,
                          with_faults(connect_by_nats(options.nats), faults));
}

/// Callers and readers of one client, until the end of the outages.
class traffic {
public:
    explicit traffic(call_interface& client) : client_(client) {}

    void begin(asio::io_context& context) {
        const auto count_end = [this](const std::exception_ptr& problem) {
            BOOST_TEST(!problem);
            ++ended_;
        };
        for (std::size_t i = 0; i < callers; ++i) {
            asio::co_spawn(context, make_calls(), count_end);
        }
        for (std::size_t i = 0; i < readers; ++i) {
            asio::co_spawn(context, read_streams(), count_end);
        }
    }

    asio::awaitable<void> wait_for_progress() const {
        const auto calls = calls_ + 200;
        const auto chunks = chunks_ + 100;
        while (calls_ < calls || chunks_ < chunks) {
            BOOST_REQUIRE(ended_ == 0u);
            co_await pause(5ms);
        }
    }

    asio::awaitable<void> end() {
        is_over_ = true;
        while (ended_ < callers + readers) {
            co_await pause(5ms);
        }
    }

    std::size_t begun() const { return static_cast<std::size_t>(last_number_); }
    std::string summary() const {
        const auto slowest = std::chrono::duration_cast<std::chrono::milliseconds>(slowest_).count();
        return std::to_string(calls_) + " calls, the slowest of " + std::to_string(slowest) + " ms, and " +
               std::to_string(chunks_) + " chunks";
    }

private:
    asio::awaitable<void> make_calls() {
        while (!is_over_) {
            const auto number = ++last_number_;
            const auto begin = clock::now();
            const auto answer =
                co_await client_.execute(request("work").arg("number", number).arg("ms", 5).timeout(1min));
            BOOST_TEST(answer.as<int>() == number);
            slowest_ = std::max(slowest_, clock::now() - begin);
            ++calls_;
        }
    }

    asio::awaitable<void> read_streams() {
        while (!is_over_) {
            auto call = request("count").arg("number", ++last_number_).arg("chunks", chunks_of_stream);
            auto stream = co_await client_.stream(std::move(call).timeout(1min));
            for (int i = 0; i < chunks_of_stream; ++i) {
                const auto next = co_await stream.next();
                BOOST_REQUIRE(next.has_value());
                BOOST_TEST(next->as<int>() == i);
                ++chunks_;
            }
            const auto end = co_await stream.next();
            BOOST_TEST(!end.has_value());
        }
    }

    call_interface& client_;
    bool is_over_ = false;
    int last_number_ = 0;
    std::size_t ended_ = 0; ///< callers and readers
    std::size_t calls_ = 0;
    std::size_t chunks_ = 0;
    duration slowest_{};
};

/// Kills the server again and again. Returns how often.
asio::awaitable<int> kill_often(nats_server& server, const traffic& calls) {
    const auto end = clock::now() + time_of_outages();
    int outages = 0;
    for (; outages < least_outages || clock::now() < end; ++outages) {
        const auto next_outage = clock::now() + (time_of_outages() > 0s ? 1400ms : 0ms);
        co_await calls.wait_for_progress();
        co_await pause(next_outage - clock::now());
        server.kill();
        co_await pause(100ms);
        server.start();
    }
    co_return outages;
}

void survive_outages(const bus_faults& faults) {
    run([&](asio::io_context& context) -> asio::awaitable<void> {
        nats_server server;
        run_counts runs;
        faulty_node first(context, server, "first", faults, runs);
        faulty_node second(context, server, "second", faults, runs);
        co_await first.start();
        co_await second.start();
        auto client = make_client(context, server, faults);
        co_await client.start();
        co_await client.ready(2);
        traffic calls(client);
        calls.begin(context);
        const int outages = co_await kill_often(server, calls);
        co_await calls.end();
        BOOST_TEST_MESSAGE(outages << " outages; " << calls.summary());
        BOOST_TEST(runs.size() == calls.begun());
        for (const auto& [number, times] : runs) {
            BOOST_TEST(times == 1);
        }
        co_await client.shutdown();
        co_await first.stop();
        co_await second.stop();
    });
}

} // namespace

BOOST_AUTO_TEST_CASE(calls_and_streams_outlive_the_server) {
    survive_outages({});
}

BOOST_AUTO_TEST_CASE(calls_and_streams_outlive_the_server_on_a_bus_that_loses_messages) {
    survive_outages({0.02, 0.05});
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
