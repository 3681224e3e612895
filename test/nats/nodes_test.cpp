// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Calls on nodes, through a server.

#include "process/local_context.hpp"
#include "remote/node_agent.hpp"
#include "remote/node_pool.hpp"
#include "support/nats_server.hpp"
#include <skep/testing.hpp>

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <atomic>
#include <map>

namespace skep::test {

BOOST_AUTO_TEST_SUITE(nats_nodes_test)

namespace {

bus_factory connect_by_nats(const nats_server& server) {
    return [options = server.options()](const strand& executor, bus_user& user) {
        return std::make_unique<nats_bus>(executor, user, options);
    };
}

pool_config quiet_config(std::size_t workers) {
    pool_config config;
    config.workers = workers;
    config.log_level = log_level::off;
    return config;
}

/// A machine with workers.
class nats_node {
public:
    nats_node(asio::io_context& context, const nats_server& server, const std::string& name)
        : workers(context.get_executor(), quiet_config(4)) {
        workers.on("work", [this](worker_call& call) -> asio::awaitable<int> {
            const auto number = call.arg<int>("number");
            ++runs[number];
            co_await testing::sleep_for(5ms);
            co_return number;
        });
        workers.on("count", [](worker_call& call) -> asio::awaitable<int> {
            const auto chunks = call.arg<int>("chunks");
            for (int i = 0; i < chunks; ++i) {
                co_await call.send(i);
                co_await testing::sleep_for(2ms);
            }
            co_return chunks;
        });
        node_setup setup;
        setup.name = name;
        setup.pools.emplace("default", served_pool(workers.pool()));
        agent_ = std::make_shared<node_agent>(make_local_context(context.get_executor()), std::move(setup),
                                              connect_by_nats(server));
    }

    asio::awaitable<void> start() {
        co_await workers.pool().start();
        asio::post(agent_->executor(), [agent = agent_] { agent->start(); });
    }

    asio::awaitable<void> stop() {
        auto stopping = asio::co_spawn(agent_->executor(), agent_->stop(), asio::use_awaitable);
        co_await std::move(stopping);
        agent_.reset();
        co_await workers.pool().shutdown();
    }

    std::map<int, int> runs; ///< by number of the call
    testing::fake_pool workers;

private:
    std::shared_ptr<node_agent> agent_;
};

asio::awaitable<void> call_often(pool& client, int first, int calls, const bool& is_over, int& made) {
    for (int i = 0; i < calls && !is_over; ++i) {
        const auto number = first + i;
        const auto answer = co_await client.execute(request("work").arg("number", number).timeout(1min));
        BOOST_TEST(answer.as<int>() == number);
        ++made;
    }
}

asio::awaitable<void> read_often(pool& client, const bool& is_over, int& read) {
    while (!is_over) {
        auto stream = co_await client.stream(request("count").arg("chunks", 100));
        for (int i = 0; i < 100; ++i) {
            const auto next = co_await stream.next();
            BOOST_REQUIRE(next.has_value());
            BOOST_TEST(next->as<int>() == i);
            ++read;
        }
        const auto end = co_await stream.next();
        BOOST_TEST(!end.has_value());
    }
}

} // namespace

BOOST_AUTO_TEST_CASE(calls_and_streams_outlive_the_server) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        nats_server server;
        nats_node first(context, server, "first");
        nats_node second(context, server, "second");
        co_await first.start();
        co_await second.start();
        auto client = make_node_pool(make_local_context(context.get_executor()),
                                     config_of_nodes(quiet_config(1)), {}, connect_by_nats(server));
        co_await client.start();
        bool is_over = false;
        int made = 0;
        int read = 0;
        std::size_t ended = 0;
        const auto count_end = [&](const std::exception_ptr& problem) {
            BOOST_TEST(!problem);
            ++ended;
        };
        constexpr int callers = 16;
        constexpr int most_calls = 100'000;
        for (int i = 0; i < callers; ++i) {
            asio::co_spawn(context, call_often(client, i * most_calls, most_calls, is_over, made), count_end);
        }
        asio::co_spawn(context, read_often(client, is_over, read), count_end);
        for (int kills = 0; kills < 3; ++kills) {
            const auto goal = made + 200;
            const auto chunks = read + 50;
            while (made < goal || read < chunks) {
                co_await testing::sleep_for(5ms);
            }
            server.kill();
            co_await testing::sleep_for(100ms);
            server.start();
        }
        is_over = true;
        while (ended < callers + 1) {
            co_await testing::sleep_for(5ms);
        }
        int runs = 0;
        for (const auto* const each : {&first, &second}) {
            for (const auto& [number, times] : each->runs) {
                BOOST_TEST(times == 1);
                runs += times;
            }
        }
        BOOST_TEST(runs == made);
        co_await client.shutdown();
        co_await first.stop();
        co_await second.stop();
    });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
