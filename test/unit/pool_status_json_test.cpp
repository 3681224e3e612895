// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "support/fake_runtime.hpp"
#include "support/text.hpp"

#include <boost/json/serialize.hpp>
#include <boost/test/unit_test.hpp>

namespace skep::test {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(pool_status_json)

BOOST_AUTO_TEST_CASE(tells_what_the_picture_tells) {
    running_pool pool(fake_config(2));
    pool.warm_up();
    const auto call = pool.execute(request("slow"));
    pool.worker(0).exit(exit_status::signalled(11));
    pool.advance(1500ms);
    const auto status = pool.status();
    const auto json = to_json(status);
    BOOST_TEST(json.at("name") == "default");
    BOOST_TEST(json.at("phase") == "running");
    BOOST_TEST(json.at("breaker") == "closed");
    BOOST_TEST(json.at("live").to_number<std::size_t>() == status.live);
    BOOST_TEST(json.at("counters").at("succeeded") == 1);
    BOOST_TEST(json.at("counters").at("workers_lost").to_number<int>() == 1);
    BOOST_TEST(json.at("last_failure").at("status") == "signal 11 (Segmentation fault)");
    BOOST_TEST(json.at("last_failure").at("exit_class") == "segfault");
    BOOST_TEST(json.at("last_failure").at("worker").as_string() == to_string(*status.last_failure->worker));
    const auto& workers = json.at("workers").as_array();
    BOOST_REQUIRE_EQUAL(workers.size(), status.workers.size());
    for (std::size_t i = 0; i < workers.size(); ++i) {
        const auto& worker = workers[i].as_object();
        BOOST_TEST(worker.at("id").as_string() == to_string(status.workers[i].id));
        BOOST_TEST(worker.at("state").as_string() == to_string(status.workers[i].state));
        BOOST_TEST(worker.at("uptime_ms").to_number<long>() == status.workers[i].uptime / 1ms);
        BOOST_TEST(worker.at("last_transition").as_object().contains("reason"));
        BOOST_TEST(worker.at("transitions").as_array().back() == worker.at("last_transition"));
    }
}

BOOST_AUTO_TEST_CASE(has_the_template_of_a_pool_with_one) {
    pool_status status;
    BOOST_TEST(!to_json(status).contains("preload"));
    auto& preload = status.preload.emplace();
    preload.pid = 7;
    preload.state = template_state::ready;
    preload.forks = 3;
    preload.templates = 1;
    preload.preload_time = 1500ms;
    BOOST_TEST(boost::json::serialize(to_json(status).at("preload")) ==
               R"({"pid":7,"state":"ready","forks":3,"templates":1,"preload_time_ms":1500})");
    preload.state = template_state::refused;
    preload.objections = {"3 threads", "a device"};
    BOOST_TEST(contains(boost::json::serialize(to_json(status)),
                        R"("preload_time_ms":1500,"objections":["3 threads","a device"]})"));
}

BOOST_AUTO_TEST_CASE(leaves_out_what_workers_print) {
    running_pool pool(fake_config(1));
    pool.worker(0).last_words = "password hunter2";
    pool.worker(0).exit(exit_status::exited(3));
    pool.advance(1s);
    const auto text = boost::json::serialize(to_json(pool.status()));
    BOOST_TEST(contains(text, "exit code 3"), text);
    BOOST_TEST(!contains(text, "\"program\""), text); // it had come up
    BOOST_TEST(!contains(text, "hunter2"), text);
}

BOOST_AUTO_TEST_CASE(names_the_loop_of_a_worker_that_has_named_it) {
    manual_pool pool(fake_config(2));
    pool.runtime().on_start = [names = std::vector<std::string>{"", "c"}](fake_worker& worker) mutable {
        worker.loop = names.back();
        names.pop_back();
        worker.shake_hands();
    };
    pool.start();
    const auto status = pool.status();
    BOOST_TEST(status.workers.at(0).loop == "c");
    const auto workers = to_json(status).at("workers").as_array();
    BOOST_TEST(workers.at(0).at("loop") == "c");
    BOOST_TEST(!workers.at(1).as_object().contains("loop"));
}

BOOST_AUTO_TEST_CASE(of_a_pool_that_was_not_started) {
    manual_pool pool(fake_config(1));
    const auto json = to_json(pool.status());
    BOOST_TEST(json.at("phase") == "created");
    BOOST_TEST(!json.contains("last_failure"));
}

BOOST_AUTO_TEST_CASE(a_worker_shows_what_it_is_at_and_since_when) {
    running_pool pool(fake_config(1));
    pool.execute(request("work").correlation_id("c").session("s"));
    pool.advance(2s);
    const auto calls = pool.status().workers.at(0).calls;
    BOOST_REQUIRE(calls.size() == 1u);
    BOOST_TEST(calls[0].command == "work");
    BOOST_TEST((calls[0].run_time >= 2s));
    const auto shown = to_json(pool.status()).at("workers").at(0).at("calls").at(0);
    BOOST_TEST(shown.at("correlation_id").as_string() == "c");
    BOOST_TEST(shown.at("session").as_string() == "s");
    BOOST_TEST(shown.at("running_ms").to_number<int>() >= 2000);
    pool.serve();
    pool.run_until_idle();
    BOOST_TEST(pool.status().workers.at(0).calls.empty());
    BOOST_TEST(pool.status().workers.at(0).transitions.size() >= 2u);
}

BOOST_AUTO_TEST_CASE(tells_the_nodes_of_a_remote_pool_and_nothing_of_nodes_without_one) {
    pool_status status;
    BOOST_TEST(!to_json(status).contains("remote"));
    auto& remote = status.remote.emplace();
    remote.is_connected = true;
    remote.reconnects = 2;
    remote.links = {1, 2, 3, 4};
    auto& node = remote.nodes.emplace_back();
    node.name = "gpu-7";
    node.state = node_state::ejected;
    node.own_calls = 5;
    node.ejections = 6;
    node.round_trip = 1500us;
    node.ejected_for = 7s;
    const auto json = to_json(status).at("remote");
    BOOST_TEST(boost::json::serialize(json) ==
               R"({"is_connected":true,"reconnects":2,)"
               R"("links":{"resumes":1,"gaps":2,"duplicates":3,"resent_bytes":4},"nodes":[)"
               R"({"name":"gpu-7","epoch":"","state":"ejected","places":0,"calls":0,"own_calls":5,)"
               R"("ejections":6,"round_trip_ms":1.5E0,"ejected_for_ms":7000}]})");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
