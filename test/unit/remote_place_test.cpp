// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Pools of a configuration whose calls run on other machines.

#include "support/text.hpp"
#include <skep/errc.hpp>
#include <skep/pool_manager.hpp>
#include <skep/testing.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/json/parse.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <memory>
#include <string>

namespace skep::test {

namespace asio = boost::asio;
namespace json = boost::json;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(remote_place_test)

namespace {

manager_config read(const std::string& document) {
    return manager_config::from_json(json::parse(document));
}

std::string problems_of(const std::string& document) {
    try {
        read(document);
    } catch (const error& failure) {
        return failure.what();
    }
    return "";
}

/// A place elsewhere that gets no call.
class no_calls final : public call_interface {
public:
    explicit no_calls(asio::any_io_executor executor) : executor_(std::move(executor)) {}
    asio::any_io_executor get_executor() const noexcept override { return executor_; }
    call_operation prepare(request) override { return call_operation::failing(nullptr); }
    load_view load() const noexcept { return {}; }

private:
    asio::any_io_executor executor_;
};

} // namespace

BOOST_AUTO_TEST_CASE(a_pool_may_be_here_and_elsewhere) {
    const auto config = read(R"({
        "nats": {"servers": ["nats://a:1"], "inbox": "_INBOX.shop", "connect_timeout": "1s"},
        "defaults": {"launch": {"program": "python3"}, "request_timeout": "7s"},
        "pools": [{"name": "text", "workers": 2},
                  {"name": "image", "workers": 3, "stop": {"drain_timeout": "9s"}, "retry": {"attempts": 4},
                   "remote": {"pool": "gpu", "domain": "blue", "overflow": "elsewhere_first",
                              "nats": {"inbox": "_INBOX.image"}, "retry": {"budget": 7},
                              "link": {"window": 65536}}}]})");
    BOOST_TEST(config.pools.size() == 2u);
    BOOST_TEST_REQUIRE(config.remote.size() == 1u);
    const auto& place = config.remote[0];
    BOOST_TEST((place.mode == overflow::elsewhere_first));
    BOOST_TEST(place.options.name == "image");
    BOOST_TEST(place.options.pool == "gpu");
    BOOST_TEST(place.options.domain == "blue");
    BOOST_TEST((place.options.nats.servers == std::vector<std::string>{"nats://a:1"}));
    BOOST_TEST(place.options.nats.inbox == "_INBOX.image");
    BOOST_TEST((place.options.nats.connect_timeout == 1s));
    BOOST_TEST((place.options.request_timeout == 7s));
    BOOST_TEST((place.options.drain_timeout == 9s));
    BOOST_TEST(place.options.retry.attempts == 4);
    BOOST_TEST(place.options.retry.budget == 7u);
    BOOST_TEST(place.options.link.window == 65'536u);
    BOOST_TEST(config.pools[1].retry.budget != 7u);
}

BOOST_AUTO_TEST_CASE(a_pool_may_be_only_elsewhere) {
    const auto config = read(R"({"pools": [{"name": "gpu", "workers": 0, "remote": {}}],
                                 "default_pool": "gpu", "max_workers": 1})");
    BOOST_TEST(config.pools.empty());
    BOOST_TEST_REQUIRE(config.remote.size() == 1u);
    BOOST_TEST((config.remote[0].mode == overflow::local_first));
    BOOST_TEST(config.remote[0].options.pool == "gpu");
    BOOST_TEST((config.remote[0].options.nats.servers == nats_options().servers));
}

BOOST_AUTO_TEST_CASE(a_node_has_the_same_servers_unless_it_sets_its_own) {
    const auto shared = read(R"({"nats": {"servers": ["nats://a:1"], "token": "secret"},
        "pools": [{"launch": {"program": "x"}}], "node": {"name": "one"}})");
    BOOST_TEST((shared.node->nats.servers == std::vector<std::string>{"nats://a:1"}));
    BOOST_TEST(shared.node->nats.token == "secret");
    const auto own = read(R"({"nats": {"servers": ["nats://a:1"], "ping_interval": "1s"},
        "pools": [{"launch": {"program": "x"}}], "node": {"nats": {"servers": ["nats://b:2"]}}})");
    BOOST_TEST((own.node->nats.servers == std::vector<std::string>{"nats://b:2"}));
    BOOST_TEST((own.node->nats.ping_interval == 1s));
}

BOOST_AUTO_TEST_CASE(the_effective_configuration_can_be_read_again) {
    const auto config = read(R"({
        "nats": {"servers": ["nats://a:1"]},
        "pools": [{"name": "image", "launch": {"program": "x"}, "remote": {"overflow": "elsewhere_first"}},
                  {"name": "gpu", "workers": 0, "request_timeout": "3s", "remote": {"domain": "red"}}]})");
    const auto written = to_json(config);
    const auto again = manager_config::from_json(written);
    BOOST_TEST(to_json(again) == written);
    BOOST_TEST(again.pools.size() == 1u);
    BOOST_TEST_REQUIRE(again.remote.size() == 2u);
    BOOST_TEST((again.remote[0].mode == overflow::elsewhere_first));
    BOOST_TEST(again.remote[1].options.name == "gpu");
    BOOST_TEST(again.remote[1].options.domain == "red");
    BOOST_TEST((again.remote[1].options.request_timeout == 3s));
    BOOST_TEST((again.remote[1].options.nats.servers == std::vector<std::string>{"nats://a:1"}));
}

BOOST_AUTO_TEST_CASE(a_place_without_a_name_has_that_of_its_pool) {
    manager_config config;
    config.remote.emplace_back().options.pool = "gpu";
    config.default_pool = "gpu";
    const auto again = manager_config::from_json(to_json(config));
    BOOST_TEST(again.remote.at(0).options.name == "gpu");
    asio::io_context context;
    testing::virtual_time time(context);
    pool_manager manager(context, config);
    manager.add("gpu", std::make_shared<no_calls>(context.get_executor()));
    time.run(manager.start());
    time.run(manager.shutdown());
}

BOOST_AUTO_TEST_CASE(all_problems_are_told_at_once) {
    const auto text = problems_of(R"({
        "nats": {"user": "u", "token": "secret", "inbox": 7},
        "pools": [{"name": "a", "launch": {"program": "x"}, "remote": {"domain": "a b", "name": "c"}},
                  {"name": "b", "workers": 0, "remote": {"overflow": "never", "queue": {"limit": -1}}},
                  {"name": "a", "workers": 0, "remote": {}},
                  {"name": "d e", "workers": 0, "remote": {}},
                  {"name": "f", "workers": 0, "launch": {"program": "x"}},
                  {"name": "g", "workers": 0, "remote": 5}],
        "node": {"domain": ""}})");
    for (const auto* line :
         {"nats.inbox = 7: must be a string", "nats.user = \"u\": needs a password",
          "pools[0].remote.domain = \"a b\": must match", "pools[0].remote.name",
          "pools[1].remote.overflow = \"never\"", "pools[1].remote.queue.limit = -1: must be 0..10000000",
          "pools[2].name = \"a\": there is a pool of that name", "pools[3].name = \"d e\": must match",
          "pools[4].workers = 0: must be 1..10000", "pools[5].remote = 5: must be an object",
          "node.domain = \"\": must match"}) {
        BOOST_TEST(contains(text, line), line << " is missing in " << text);
    }
    for (const auto* part : {"secret", "remote.nats", "node.nats", "pools[3].remote"}) {
        BOOST_TEST(!contains(text, part), part << " is in " << text);
    }
    BOOST_TEST(
        contains(problems_of(R"({"defaults": {"remote": {}}, "pools": [{"launch": {"program": "x"}}]})"),
                 "defaults.remote"));
    BOOST_TEST(contains(problems_of(R"({"pools": [{"name": "a", "workers": 0, "remote": {}}],
                                        "default_pool": "b"})"),
                        "default_pool = \"b\": is the name of no pool"));
}

BOOST_AUTO_TEST_CASE(a_manager_does_not_start_without_its_places) {
    asio::io_context context;
    testing::virtual_time time(context);
    pool_manager manager(context, read(R"({"pools": [{"name": "a", "workers": 0, "remote": {}},
        {"name": "b", "workers": 0, "remote": {}}, {"name": "c", "workers": 0, "remote": {}}],
        "default_pool": "b"})"));
    manager.add("b", std::make_shared<no_calls>(context.get_executor()));
    try {
        time.run(manager.start());
        BOOST_ERROR("the manager starts");
    } catch (const error& failure) {
        BOOST_TEST((failure.kind() == errc::start_failed));
        BOOST_TEST(contains(failure.what(), "\"remote\" for the pools a c: "));
        BOOST_TEST(contains(failure.what(), "add_remote_pools() of skep::remote"));
    }
    manager.add("a", std::make_shared<no_calls>(context.get_executor()));
    manager.add("c", std::make_shared<no_calls>(context.get_executor()));
    time.run(manager.start());
    time.run(manager.shutdown());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
