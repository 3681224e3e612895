// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// The lives of many clients and nodes in one program. run() audits threads and descriptors of each batch.

#include "support/allocated_bytes.hpp"
#include "support/nats_node.hpp"
#include "support/nats_server.hpp"
#include <skep/remote_pool.hpp>

#include <cstdlib>
#include <deque>

namespace skep::test {

BOOST_AUTO_TEST_SUITE(nats_leak_test)

namespace {

constexpr int lives_of_batch = 25;

/// More by hand: SKEP_LIVES=1000.
int batches() {
    const char* const given = std::getenv("SKEP_LIVES");
    return given != nullptr ? std::atoi(given) / lives_of_batch : 2;
}

remote_options options_for(const nats_server& server) {
    remote_options options;
    options.nats = server.options();
    options.log_level = log_level::off;
    options.queue.timeout = 1min;
    return options;
}

asio::awaitable<void> make_call(remote_pool& client) {
    const auto answer = co_await client.execute(request("work").arg("number", 1).arg("ms", 0).timeout(1min));
    BOOST_TEST(answer.as<int>() == 1);
}

asio::awaitable<void> live_as_client(asio::io_context& context, const nats_server& server, int life) {
    remote_pool client(context, options_for(server));
    co_await client.start();
    co_await make_call(client);
    if (life % 3 != 0) { // else destroyed as it is
        co_await client.shutdown();
    }
}

asio::awaitable<void> live_as_node(asio::io_context& context, const nats_server& server,
                                   remote_pool& client) {
    nats_node node(context, server.options(), "node", [](int) {});
    co_await node.start();
    co_await make_call(client);
    co_await node.stop();
}

asio::awaitable<void> live_as_clients(asio::io_context& context) {
    const nats_server server;
    nats_node node(context, server.options(), "node", [](int) {});
    co_await node.start();
    for (int life = 0; life < lives_of_batch; ++life) {
        co_await live_as_client(context, server, life);
    }
    co_await node.stop();
}

asio::awaitable<void> live_as_nodes(asio::io_context& context) {
    const nats_server server;
    remote_pool client(context, options_for(server));
    asio::co_spawn(context, client.start(), [](const std::exception_ptr& problem) { BOOST_TEST(!problem); });
    for (int life = 0; life < lives_of_batch; ++life) {
        co_await live_as_node(context, server, client);
    }
    co_await client.shutdown();
}

/// Runs batches of lives. Compares the memory after the first batch and after the last.
template <class Batch>
void check_memory(const Batch& batch) {
    constexpr std::size_t most_growth = 64 << 10; ///< of what stays in caches
    run(batch);
    const auto before = allocated_bytes();
    for (int i = 0; i < batches(); ++i) {
        run(batch);
    }
    const auto end = clock::now() + patience; // threads of cnats free what they have had
    while (allocated_bytes() > before + most_growth && clock::now() < end) {
        std::this_thread::sleep_for(10ms);
    }
    const auto after = allocated_bytes();
    BOOST_TEST_MESSAGE(batches() * lives_of_batch << " lives: " << before << " bytes, then " << after);
    BOOST_TEST(after <= before + most_growth);
}

} // namespace

BOOST_AUTO_TEST_CASE(lives_of_clients_leave_nothing) {
    check_memory(live_as_clients);
}

BOOST_AUTO_TEST_CASE(lives_of_nodes_leave_nothing) {
    check_memory(live_as_nodes);
}

BOOST_AUTO_TEST_CASE(links_without_calls_end_with_their_clients) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        constexpr std::size_t count = 20;
        const nats_server server;
        nats_node first(context, server.options(), "first", [](int) {});
        nats_node second(context, server.options(), "second", [](int) {});
        co_await first.start();
        co_await second.start();
        std::deque<remote_pool> clients;
        for (std::size_t i = 0; i < count; ++i) {
            clients.emplace_back(context, options_for(server));
            co_await clients.back().start();
            co_await clients.back().ready(2);
        }
        for (auto* const node : {&first, &second}) {
            const auto status = co_await node->agent().status();
            BOOST_TEST(status.links == count);
        }
        for (auto& each : clients) {
            co_await each.shutdown();
        }
        for (auto* const node : {&first, &second}) {
            auto has_no_link = [node]() -> asio::awaitable<bool> {
                const auto status = co_await node->agent().status();
                co_return status.links == 0;
            };
            const bool is = co_await eventually(has_no_link);
            BOOST_TEST(is);
        }
        co_await first.stop();
        co_await second.stop();
    });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
