// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/text.hpp"
#include "support/run.hpp"
#include <skep/initialization_delegate.hpp>
#include <skep/pool_manager.hpp>

#include <boost/json/parse.hpp>
#include <boost/test/unit_test.hpp>

#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

namespace skep::test {

namespace json = boost::json;

BOOST_AUTO_TEST_SUITE(managing_pools)

namespace {

pool_config named(std::string name) {
    auto config = pool_config::python("worker.py");
    config.name = std::move(name);
    config.workers = 1;
    return config;
}

manager_config of(std::vector<std::string> names) {
    manager_config config;
    for (auto& each : names) {
        config.pools.push_back(named(std::move(each)));
    }
    return config;
}

std::string text_of_failure(const std::function<void()>& action) {
    try {
        action();
    } catch (const error& failure) {
        return failure.what();
    }
    return "";
}

std::string text_of_failure(const std::string& document) {
    return text_of_failure([&] { manager_config::from_json(json::parse(document)); });
}

/// Has no pool start.
class refusing_delegate final : public initialization_delegate {
public:
    asio::awaitable<void> before_first_worker() override {
        throw std::runtime_error("no licence");
        co_return;
    }
};

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

} // namespace

BOOST_AUTO_TEST_CASE(pools_are_found_by_name) {
    asio::io_context context;
    pool_manager manager(context, of({"text", "image"}));
    BOOST_TEST((manager.names() == std::vector<std::string>{"image", "text"}));
    BOOST_TEST(&manager.get("text") != &manager.get("image"));
    const auto text = text_of_failure([&] { manager.get("sound"); });
    BOOST_TEST(contains(text, "\"sound\"; there are: image text"), text);
}

BOOST_AUTO_TEST_CASE(a_start_that_fails_names_each_pool_and_its_problem) {
    auto config = of({"text", "image"});
    for (auto& each : config.pools) {
        each.initialization.delegate = std::make_shared<refusing_delegate>();
        each.log_level = log_level::off;
    }
    asio::io_context context;
    pool_manager manager(context, std::move(config));
    std::string problem;
    asio::co_spawn(context, manager.start(), [&](const std::exception_ptr& thrown) {
        problem = thrown ? text_of(thrown) : "none";
        context.stop(); // the pools would try again
    });
    context.run_for(std::chrono::seconds(10));
    BOOST_TEST(contains(problem, "image: "), problem);
    BOOST_TEST(contains(problem, "\ntext: "), problem);
    BOOST_TEST(contains(problem, "no licence"), problem);
}

BOOST_AUTO_TEST_CASE(after_a_shutdown_nothing_keeps_the_context_running) {
    asio::io_context context;
    pool_manager manager(context, of({"text", "image"}));
    bool is_clean = false;
    asio::co_spawn(context, manager.shutdown(),
                   [&](const std::exception_ptr& problem, const manager_report& report) {
                       is_clean = !problem && report.clean();
                   });
    context.run_for(std::chrono::seconds(10));
    BOOST_TEST(is_clean);
    BOOST_TEST(context.stopped());
}

BOOST_AUTO_TEST_CASE(the_default_pool) {
    asio::io_context context;
    pool_manager none(context);
    BOOST_TEST(contains(text_of_failure([&] { none.get(); }), "there is no such pool"));
    pool_manager first(context, of({"text", "image"}));
    BOOST_TEST(&first.get() == &first.get("text"));
    pool_manager by_name(context, of({"text", "default"}));
    BOOST_TEST(&by_name.get() == &by_name.get("default"));
    auto chosen = of({"text", "default", "image"});
    chosen.default_pool = "image";
    pool_manager by_choice(context, chosen);
    BOOST_TEST(&by_choice.get() == &by_choice.get("image"));
    chosen.default_pool = "sound";
    BOOST_TEST(contains(text_of_failure([&] { pool_manager(context, chosen); }),
                        "default_pool = \"sound\": is the name of no pool"));
}

BOOST_AUTO_TEST_CASE(a_pool_that_cannot_be_made_does_not_touch_the_others) {
    asio::io_context context;
    pool_manager manager(context, of({"text"}));
    BOOST_TEST(contains(text_of_failure([&] { manager.add(named("text")); }),
                        "name = \"text\": there is a pool of that name"));
    auto bad = named("bad");
    bad.capacity = 0;
    BOOST_TEST(contains(text_of_failure([&] { manager.add(bad); }), "capacity = 0"));
    BOOST_TEST((manager.names() == std::vector<std::string>{"text"}));
    const auto& added = manager.add(named("image"));
    BOOST_TEST(&added == &manager.get("image"));
}

BOOST_AUTO_TEST_CASE(a_configuration_of_several_pools) {
    const auto config = manager_config::from_json(json::parse(R"({
        "defaults": {"launch": {"program": "python3"}, "workers": 2, "affinity": {"mode": "strict_queue"}},
        "pools": [{"name": "text"}, {"name": "image", "workers": 3, "affinity": {"mode": "hint"}}],
        "default_pool": "image",
        "sessions": {"ttl": "5m", "quota": 10}})"));
    BOOST_REQUIRE(config.pools.size() == 2u);
    BOOST_TEST((config.pools[0].workers == 2u));
    BOOST_TEST((config.pools[0].affinity.mode == affinity_mode::strict_queue));
    BOOST_TEST((config.pools[1].workers == 3u));
    BOOST_TEST((config.pools[1].affinity.mode == affinity_mode::hint));
    BOOST_TEST(config.pools[1].launch.program == "python3");
    BOOST_TEST(config.default_pool == "image");
    BOOST_TEST((config.sessions.ttl == std::chrono::minutes(5)));
    BOOST_TEST(config.sessions.quota == 10u);
}

BOOST_AUTO_TEST_CASE(the_effective_configuration_of_several_pools_can_be_read_again) {
    const auto config = manager_config::from_json(json::parse(R"({
        "defaults": {"launch": {"program": "python3"}, "request_timeout": "7s"},
        "pools": [{"name": "text"}, {"name": "image", "workers": 3}],
        "default_pool": "image", "sessions": {"ttl": "5m"}})"));
    const auto written = to_json(config);
    BOOST_TEST(written.at("pools").at(1).at("request_timeout_ms") == json::value(7000));
    BOOST_TEST(written.at("sessions").at("ttl_ms") == json::value(300'000));
    const auto again = manager_config::from_json(written);
    BOOST_TEST(to_json(again) == written);
    BOOST_TEST(again.default_pool == "image");
    BOOST_TEST(again.pools.size() == 2u);
}

BOOST_AUTO_TEST_CASE(all_that_is_wrong_with_several_pools_is_told_at_once) {
    const auto text = text_of_failure(R"({
        "defaults": {"launch": {"program": "python3"}},
        "pools": [{"name": "a", "queue": {"limit": -1}}, {"name": "a"}, 5],
        "sessions": {"quota": 0},
        "defualt_pool": "a"})");
    for (const auto* line :
         {"pools[0].queue.limit = -1: must be 0..10000000",
          "pools[1].name = \"a\": there is a pool of that name", "pools[2]: must be an object",
          "sessions.quota = 0: must be 1..10000000", "did you mean default_pool?"}) {
        BOOST_TEST(contains(text, line), text);
    }
    BOOST_TEST(contains(text_of_failure("{}"), "pools: must be an array of at least one object"));
    BOOST_TEST(contains(text_of_failure("[]"), "must be a JSON object"));
}

BOOST_AUTO_TEST_CASE(max_workers_is_at_least_the_sum_of_what_the_pools_need) {
    const std::string pools = R"(
        "defaults": {"launch": {"program": "python3"}},
        "pools": [{"name": "text", "workers": 2},
                  {"name": "image", "workers": 3, "min_ready": 3, "scaling": {"min": 1, "max": 9}},
                  {"name": "sound", "workers": 4, "scaling": {"min": 1}}]})";
    const auto text = text_of_failure(R"({"max_workers": 5,)" + pools);
    BOOST_TEST(contains(text,
                        "max_workers = 5: must be 0, or at least 6: the least numbers of workers of the "
                        "pools are text 2, image 3, sound 1"),
               text);
    const auto config = manager_config::from_json(json::parse(R"({"max_workers": 6,)" + pools));
    BOOST_TEST(config.max_workers == 6u);
    BOOST_TEST(config.restart_failed_pools);
    BOOST_TEST(to_json(config).at("max_workers") == json::value(6));
    BOOST_TEST(manager_config::from_json(json::parse(R"({"max_workers": 0,)" + pools)).max_workers == 0u);
    BOOST_TEST(!manager_config::from_json(json::parse(R"({"restart_failed_pools": false,)" + pools))
                    .restart_failed_pools);
    BOOST_TEST(contains(text_of_failure(R"({"max_workers": -1,)" + pools), "max_workers = -1"));
    BOOST_TEST(contains(text_of_failure(R"({"max_workers": 1, "pools": [{"workers": -1}]})"),
                        "pools[0].workers = -1"));
}

BOOST_AUTO_TEST_CASE(a_configuration_may_ask_for_an_admin_page) {
    const std::string pools = R"("pools": [{"launch": {"program": "python3"}}]})";
    BOOST_TEST(!manager_config::from_json(json::parse("{" + pools)).admin.has_value());
    const auto config = manager_config::from_json(
        json::parse(R"({"admin": {"port": 8090, "token": "0123456789abcdef", "connections": 9},)" + pools));
    BOOST_TEST_REQUIRE(config.admin.has_value());
    BOOST_TEST(config.admin->address == "127.0.0.1");
    BOOST_TEST(config.admin->port == 8090);
    BOOST_TEST(config.admin->token == "0123456789abcdef");
    BOOST_TEST(config.admin->connections == 9u);
    BOOST_TEST((manager_config::from_json(to_json(config)).admin->port == 8090));
    const auto text = text_of_failure(
        R"({"admin": {"address": "here", "port": 65536, "token": "secret", "prot": 1},)" + pools);
    BOOST_TEST(contains(text, "admin.address = \"here\": must be an IP address"), text);
    BOOST_TEST(contains(text, "admin.port = 65536"), text);
    BOOST_TEST(contains(text, "admin.token = (not shown)"), text);
    BOOST_TEST(contains(text, "admin.prot"), text);
    BOOST_TEST(!contains(text, "secret"), text);
}

BOOST_AUTO_TEST_CASE(max_workers_holds_for_pools_that_are_added) {
    asio::io_context context;
    auto config = of({"text", "image"});
    config.max_workers = 1;
    BOOST_TEST(contains(text_of_failure([&] { pool_manager(context, config); }), "max_workers = 1"));
    config.max_workers = 3;
    pool_manager manager(context, config);
    auto large = named("large");
    large.workers = 2;
    BOOST_TEST(contains(text_of_failure([&] { manager.add(large); }),
                        "workers = 2: must not exceed 1, which max_workers leaves"));
    large.workers.reset(); // of itself wrong, whatever is left
    large.capacity = 0;
    BOOST_TEST(contains(text_of_failure([&] { manager.add(large); }), "capacity = 0"));
    manager.add(named("small"));
    BOOST_TEST(contains(text_of_failure([&] { manager.add(named("another")); }), "must not exceed 0"));
    BOOST_TEST(manager.names().size() == 3u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
