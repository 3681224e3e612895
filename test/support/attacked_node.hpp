// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "remote/node_core.hpp"
#include "remote/node_pool.hpp"
#include "support/raw_program.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

/// A node with clients that do what they should not.
namespace skep::test::node_attack {

using namespace std::chrono_literals;
using skep::testing::fake_pool;
using skep::testing::sleep_for;
using skep::testing::virtual_time;
using raw_link = raw_program::raw_link;

inline const std::string good_wish = R"({"v":1,"pool":"default","client":"raw"})";
inline const std::string cancel_of_first = R"({"type":"cancel","id":1})";
inline const std::string good_welcome = R"({"type":"welcome","limits":{}})";

inline std::string call_text(std::uint64_t id, const std::string& command = "wait",
                             const std::string& args = "{}", const std::string& more = {}) {
    return R"({"type":"call","id":)" + std::to_string(id) + R"(,"command":")" + command + R"(","args":)" +
           args + more + "}";
}

inline pool_config quiet(std::size_t workers) {
    pool_config config;
    config.workers = workers;
    config.log_level = log_level::off;
    return config;
}

inline node_setup small_limits() {
    node_setup setup;
    setup.limits.frame_bytes = setup.limits.json_bytes = 1u << 20;
    setup.limits.json_depth = 10;
    setup.records.log_level = log_level::off;
    return setup;
}

/// A node with a pool of one worker, a client that behaves well, and one that does not. At the end, nothing
/// is left of the calls and links.
struct attacked_node {
    explicit attacked_node(node_setup facts = small_limits())
        : workers(context.get_executor(), quiet(1)), setup(std::move(facts)) {
        workers.on("double", [](worker_call& call) { return 2 * call.arg<int>("n"); });
        workers.on("wait", [this](worker_call& call) { return wait(call); });
        workers.on("stream", [](worker_call& call) { return send_chunks(call); });
        time.run(workers.pool().start());
        setup.name = "node";
        setup.pools.emplace("default", served_pool(workers.pool(), [] { return load_view{0, 0, 1, true}; }));
        start();
        client.emplace(make_node_pool(make_local_context(context.get_executor()), config_of_nodes(quiet(1)),
                                      {}, bus.connect()));
        time.run(client->start());
        attacker.emplace(context, time, bus);
        check_service();
    }
    ~attacked_node() {
        check_service();
        time.run(client->shutdown());
        client.reset();
        attacker.reset();
        time.advance(10s);
        BOOST_TEST(agent->links() == 0u);
        stop();
        BOOST_TEST(running == 0);
        time.run(workers.pool().shutdown());
        time.run_until_idle();
        BOOST_TEST(bus.connections() == 0u);
    }

    /// The node serves other clients as before.
    void check_service() { check_double(time, *client); }
    void start() {
        agent = std::make_shared<node_core>(make_local_context(context.get_executor()), setup, bus.connect());
        asio::post(agent->executor(), [agent = agent] { agent->start(); });
    }
    void run(asio::awaitable<void> operation) {
        time.run(asio::co_spawn(agent->executor(), std::move(operation), asio::use_awaitable));
    }
    void stop() {
        run(agent->stop());
        agent.reset();
    }

    raw_link& open(const std::string& wish = good_wish) { return attacker->open("node", wish); }
    raw_link& open_and_welcome() {
        auto& link = open();
        BOOST_TEST(link.is_accepted);
        attacker->send(link, raw_frame(good_welcome));
        return link;
    }
    void send(raw_link& link, const std::string& json) { attacker->send(link, raw_frame(json)); }

    asio::awaitable<int> wait(worker_call&) {
        struct counted {
            int& count;
            ~counted() { --count; }
        };
        ++runs;
        const counted one{++running};
        co_await sleep_for(1h);
        co_return 1;
    }
    static asio::awaitable<int> send_chunks(worker_call& call) {
        for (int i = 0; i < 100; ++i) {
            co_await call.send(i);
        }
        co_return 1;
    }

    asio::io_context context;
    virtual_time time{context};
    local_bus bus;
    fake_pool workers;
    node_setup setup;
    std::shared_ptr<node_core> agent;
    std::optional<pool> client;
    std::optional<raw_program> attacker;
    int running = 0; ///< calls of "wait"
    int runs = 0;
};

inline void check_closed(const raw_link& link, const std::string& reason) {
    BOOST_REQUIRE(link.end.has_value());
    BOOST_TEST((link.end->cause == link_end_cause::peer_closed));
    BOOST_TEST(link.end->detail == reason);
}

inline void check_refused(const raw_link& link, const std::string& reason) {
    BOOST_REQUIRE(link.end.has_value());
    BOOST_TEST((link.end->cause == link_end_cause::refused));
    BOOST_TEST(link.end->detail == reason);
}

} // namespace skep::test::node_attack
