// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Calls on nodes, through a server.

#include "support/node_process.hpp"
#include <skep/remote_pool.hpp>
#include <skep/testing.hpp>

#include <set>

namespace skep::test {

BOOST_AUTO_TEST_SUITE(nats_nodes_test)

namespace {

remote_pool make_client(asio::io_context& context, const nats_server& server) {
    remote_options options;
    options.nats = server.options();
    options.log_level = log_level::off;
    options.retry.budget = 0;
    return remote_pool(context, std::move(options));
}

/// The calls of several callers, while nodes come and go.
struct traffic {
    asio::awaitable<void> make_calls(remote_pool& client, int first, bool is_idempotent) {
        for (int number = first; !is_over; ++number) {
            auto call = request("work").arg("number", number).arg("ms", 20).idempotent(is_idempotent);
            try {
                co_await client.execute(std::move(call).timeout(1min));
                done.insert(number);
            } catch (const error& failure) {
                BOOST_TEST(!is_idempotent);
                BOOST_TEST((failure.kind() == errc::node_lost));
                lost.insert(number);
            }
        }
        ++ended;
    }

    asio::awaitable<void> wait_for_calls(std::size_t more) const {
        const auto goal = done.size() + more;
        while (done.size() < goal) {
            co_await testing::sleep_for(5ms);
        }
    }

    bool is_over = false;
    std::size_t ended = 0; ///< callers
    std::set<int> done;
    std::set<int> lost;
};

constexpr int callers_of_nodes = 8;
constexpr int calls_of_caller = 1'000'000;

/// Has half of the callers make idempotent calls, and the others plain ones, from the middle on.
void begin_calls(asio::io_context& context, remote_pool& client, traffic& calls) {
    for (int i = 0; i < callers_of_nodes; ++i) {
        asio::co_spawn(context, calls.make_calls(client, i * calls_of_caller, i < callers_of_nodes / 2),
                       [](const std::exception_ptr& problem) { BOOST_TEST(!problem); });
    }
}

asio::awaitable<void> wait_for_runs(const node_process& node, std::size_t runs) {
    while (node.runs().size() < runs) {
        co_await testing::sleep_for(20ms);
    }
}

asio::awaitable<void> end_calls(remote_pool& client, traffic& calls) {
    calls.is_over = true;
    while (calls.ended < callers_of_nodes) {
        co_await testing::sleep_for(5ms);
    }
    co_await client.shutdown();
}

bool is_plain(int number) {
    return number >= callers_of_nodes / 2 * calls_of_caller;
}

} // namespace

BOOST_AUTO_TEST_CASE(a_killed_node_costs_its_plain_calls_only) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        const nats_server server;
        node_process first(server, "first");
        const node_process second(server, "second");
        auto client = make_client(context, server);
        co_await client.start();
        traffic calls;
        begin_calls(context, client, calls);
        co_await wait_for_runs(first, 20);
        co_await wait_for_runs(second, 20);
        first.kill();
        co_await calls.wait_for_calls(100);
        const auto before = first.runs().size();
        first.start();
        co_await wait_for_runs(first, before + 20);
        co_await end_calls(client, calls);
        BOOST_TEST(calls.lost.size() <= callers_of_nodes / 2u);
        auto runs = first.runs();
        for (const auto& [number, times] : second.runs()) {
            runs[number] += times;
        }
        for (const int number : calls.done) {
            BOOST_TEST(runs[number] >= 1);
            BOOST_TEST((!is_plain(number) || runs[number] == 1));
        }
        for (const int number : calls.lost) {
            BOOST_TEST(runs[number] <= 1);
        }
    });
}

BOOST_AUTO_TEST_CASE(a_terminated_node_costs_no_call) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        const nats_server server;
        node_process first(server, "first");
        const node_process second(server, "second");
        auto client = make_client(context, server);
        co_await client.start();
        traffic calls;
        begin_calls(context, client, calls);
        co_await wait_for_runs(first, 20);
        co_await wait_for_runs(second, 20);
        first.signal(SIGTERM);
        co_await calls.wait_for_calls(200);
        co_await end_calls(client, calls);
        BOOST_TEST(calls.lost.size() == 0u);
    });
}

BOOST_AUTO_TEST_CASE(the_calls_of_a_stopped_node_go_elsewhere) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        const nats_server server;
        const node_process first(server, "first");
        const node_process second(server, "second");
        auto client = make_client(context, server);
        co_await client.start();
        traffic calls;
        begin_calls(context, client, calls);
        co_await wait_for_runs(first, 20);
        co_await wait_for_runs(second, 20);
        first.freeze();
        while (calls.lost.empty()) { // after its silence
            co_await testing::sleep_for(20ms);
        }
        first.thaw();
        co_await calls.wait_for_calls(100);
        co_await end_calls(client, calls);
    });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
