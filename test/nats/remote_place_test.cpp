// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Pools of a configuration file on other machines, through a server.

#include "support/nats_node.hpp"
#include "support/nats_server.hpp"
#include <skep/remote_pool.hpp>

#include <boost/json/parse.hpp>

namespace skep::test {

BOOST_AUTO_TEST_SUITE(nats_remote_place_test)

BOOST_AUTO_TEST_CASE(a_manager_has_the_pools_of_its_configuration) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        const nats_server server;
        nats_node node(context, server.options(), "first", [](int) {});
        co_await node.start();
        auto document = boost::json::parse(R"({"pools": [
            {"name": "there", "workers": 0, "log_level": "off", "remote": {"pool": "default"}},
            {"name": "nowhere", "workers": 0, "log_level": "off", "queue": {"timeout": "100ms"},
             "remote": {"overflow": "elsewhere_first"}}]})");
        const boost::json::array servers{"nats://" + server.address()};
        document.as_object()["nats"] = {{"servers", servers}};
        const auto config = manager_config::from_json(document);
        pool_manager manager(context, config);
        const auto remote = add_remote_pools(manager, config);
        BOOST_TEST_REQUIRE(remote.size() == 2u);
        BOOST_TEST(remote[1]->name() == "nowhere");
        co_await remote[0]->start();
        bool has_failed = false;
        try {
            co_await remote[1]->start();
        } catch (const error& failure) {
            has_failed = failure.kind() == errc::no_node;
        }
        BOOST_TEST(has_failed);
        co_await manager.start();
        const auto answer = co_await manager.execute(
            request("work").pool("there").arg("number", 7).arg("ms", 0).timeout(1min));
        BOOST_TEST(answer.as<int>() == 7);
        BOOST_TEST((answer.node == "first"));
        BOOST_CHECK_THROW(add_remote_pools(manager, config), error);
        co_await manager.shutdown();
        for (const auto& each : remote) {
            co_await each->shutdown();
        }
        co_await node.stop();
    });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
