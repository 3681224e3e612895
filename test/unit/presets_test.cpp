// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Named sets of options, and options of single commands.

#include "support/config.hpp"
#include "support/fake_runtime.hpp"
#include <skep/pool_manager.hpp>

#include <boost/json/parse.hpp>
#include <boost/test/unit_test.hpp>

#include <string>

namespace skep::test {

namespace json = boost::json;
using namespace std::chrono_literals;

namespace {

pool_config pool_with(const std::string& fields) {
    return pool_config::from_json(json::parse(R"({"launch": {"program": "python3"})" + fields + "}"));
}

std::string text_of_refusal(const std::string& fields) {
    try {
        pool_with(fields);
    } catch (const error& refusal) {
        return refusal.what();
    }
    return "";
}

struct named_timeouts {
    const char* profile;
    duration request;
    duration stream;
    duration queue;
};

} // namespace

BOOST_AUTO_TEST_SUITE(presets)

BOOST_AUTO_TEST_CASE(a_timeout_profile_is_three_timeouts) {
    for (const auto& [profile, request, stream, queue] :
         {named_timeouts{"balanced", 300s, 900s, 10s}, named_timeouts{"production", 300s, 900s, 10s},
          named_timeouts{"production_strict", 60s, 300s, 5s}, named_timeouts{"development", 900s, 3600s, 60s},
          named_timeouts{"ml_inference", 900s, 3600s, 60s}, named_timeouts{"batch", 3600s, 0s, 300s}}) {
        BOOST_TEST_CONTEXT(profile) {
            const auto config = pool_with(std::string(R"(, "timeout_profile": ")") + profile + '"');
            BOOST_TEST((config.request_timeout == request));
            BOOST_TEST((config.stream.timeout == stream));
            BOOST_TEST((config.queue.timeout == queue));
        }
    }
    pool_config config;
    config.apply(timeout_profile::batch).apply(capacity_strategy::hybrid);
    BOOST_TEST((config.request_timeout == 1h));
}

BOOST_AUTO_TEST_CASE(what_is_written_by_itself_wins_over_a_preset) {
    const auto config =
        pool_with(R"(, "queue": {"timeout": "1s"}, "timeout_profile": "batch", "request_timeout_ms": 70)");
    BOOST_TEST((config.queue.timeout == 1s));
    BOOST_TEST((config.request_timeout == 70ms));
    BOOST_TEST((config.stream.timeout == 0s));
}

BOOST_AUTO_TEST_CASE(what_a_preset_has_become_is_shown) {
    const auto config = pool_with(
        R"(, "timeout_profile": "ml_inference", "capacity_strategy": "pool", "threads_per_worker": 4)");
    const auto shown = to_json(config);
    BOOST_TEST(shown.at("request_timeout_ms") == json::value(900'000));
    BOOST_TEST(shown.at("stream").at("timeout_ms") == json::value(3'600'000));
    BOOST_TEST(shown.at("queue").at("timeout_ms") == json::value(60'000));
    BOOST_TEST(shown.at("capacity") == json::value(4));
    BOOST_TEST(!shown.contains("timeout_profile"));
    BOOST_TEST(!shown.contains("capacity_strategy"));
    BOOST_TEST(to_json(pool_config::from_json(shown)) == shown);
}

BOOST_AUTO_TEST_CASE(a_capacity_strategy_says_how_many_calls_a_worker_gets) {
    const std::string threads = R"(, "threads_per_worker": 8)";
    BOOST_TEST(pool_with(threads + R"(, "capacity_strategy": "pool")").capacity == 8u);
    BOOST_TEST(pool_with(threads + R"(, "capacity_strategy": "pool", "capacity": 20)").capacity == 20u);
    const std::string uncounted = R"(, "metrics": {"enabled": false})";
    BOOST_TEST(!pool_with(threads + uncounted + R"(, "capacity_strategy": "pool")").metrics.enabled);
    const auto hybrid = pool_with(threads + R"(, "capacity_strategy": "hybrid")");
    BOOST_TEST(hybrid.capacity == 8u);
    BOOST_TEST(hybrid.metrics.enabled);
    auto quiet = hybrid;
    quiet.metrics.enabled = false;
    BOOST_TEST(quiet.apply(capacity_strategy::hybrid).metrics.enabled);
    const auto one = pool_with(R"(, "capacity_strategy": "profile")");
    BOOST_TEST(one.capacity == 1u);
    BOOST_TEST(one.threads_per_worker == 1u);
    BOOST_TEST((one.pipeline_depth == 0u));
    check_mentions(text_of_refusal(threads + R"(, "capacity_strategy": "profile")"),
                   "capacity_strategy = \"profile\": is one call at a time");
    check_mentions(text_of_refusal(R"(, "capacity": 2, "capacity_strategy": "profile")"),
                   "is one call at a time");
}

BOOST_AUTO_TEST_CASE(a_preset_of_no_such_name_is_refused) {
    check_mentions(text_of_refusal(R"(, "timeout_profile": "fast")"),
                   "timeout_profile = \"fast\": must be one of balanced, production, production_strict, "
                   "development, ml_inference, batch");
    check_mentions(text_of_refusal(R"(, "capacity_strategy": 5)"), "capacity_strategy = 5: must be a string");
    check_mentions(text_of_refusal(R"(, "timeout_profil": "batch")"), "did you mean timeout_profile?");
}

BOOST_AUTO_TEST_CASE(presets_of_the_defaults_hold_for_every_pool_that_says_nothing_else) {
    const auto config = manager_config::from_json(json::parse(R"({
        "defaults": {"launch": {"program": "python3"}, "timeout_profile": "batch", "request_timeout": "2m",
                     "commands": {"train": {"timeout": "1h", "idempotent": true}}},
        "pools": [{"name": "a"}, {"name": "b", "timeout_profile": "production_strict"},
                  {"name": "c", "commands": {"train": {"timeout": "5s"}}}]})"));
    BOOST_TEST((config.pools[0].request_timeout == 2min));
    BOOST_TEST((config.pools[0].queue.timeout == 5min));
    BOOST_TEST((config.pools[1].request_timeout == 1min));
    BOOST_TEST((config.pools[2].commands.at("train").timeout == 5s));
    BOOST_TEST((config.pools[2].commands.at("train").idempotent == true));
    BOOST_TEST(to_json(manager_config::from_json(to_json(config))) == to_json(config));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(options_of_commands)

BOOST_AUTO_TEST_CASE(are_read_and_checked) {
    const auto config = pool_with(R"(, "commands": {"train": {"timeout": "10m", "idempotent": true},
        "embed": {"queue_timeout_ms": 50, "idle_timeout": "0s", "idempotent": false}})");
    BOOST_TEST((config.commands.at("train").timeout == 10min));
    BOOST_TEST((config.commands.at("train").idempotent == true));
    BOOST_TEST(!config.commands.at("train").queue_timeout);
    BOOST_TEST((config.commands.at("embed").queue_timeout == 50ms));
    BOOST_TEST((config.commands.at("embed").idle_timeout == 0s));
    BOOST_TEST((config.commands.at("embed").idempotent == false));
    const auto text =
        text_of_refusal(R"(, "commands": {"a": {"timeout": "25h"}, "b": {"idempotent": 1}, "c": 5,
        "d": {"timout": "1s"}, "e": {"timeout": "1s", "timeout_ms": 1000}, "": {}})");
    for (const auto* line :
         {"commands.a.timeout = \"25h\": must be 0", "commands.b.idempotent = 1: must be true or false",
          "commands.c = 5: must be an object", "did you mean commands.d.timeout?",
          "commands.e.timeout_ms: must not be given beside commands.e.timeout"}) {
        check_mentions(text, line);
    }
    check_mentions(text_of_refusal(R"(, "commands": [])"), "commands: must be an object");
    check_mentions(text_of_refusal(R"(, "commands": {"": {}})"), "a command's name is 1..256 bytes of UTF-8");
    auto wrong = fake_config();
    wrong.commands["x"].timeout = -1s;
    try {
        wrong.validate();
        BOOST_ERROR("it is valid");
    } catch (const error& refusal) {
        check_mentions(refusal.what(), "commands.x.timeout");
    }
}

BOOST_AUTO_TEST_CASE(their_timeouts_hold_where_the_request_says_nothing) {
    auto config = fake_config(1);
    config.request_timeout = 1h;
    config.queue.timeout = 1h;
    config.commands["brief"].timeout = 1s;
    config.commands["eager"].queue_timeout = 2s;
    running_pool pool(config);
    const auto running = pool.execute(request("brief"));
    const auto own = pool.execute(request("brief").timeout(10s));
    const auto eager = pool.execute(request("eager"));
    const auto patient = pool.execute(request("eager").queue_timeout(20s));
    const auto other = pool.execute(request("other"));
    pool.advance(1s);
    BOOST_TEST(running->code() == errc::timeout);
    BOOST_TEST(!own->done);
    BOOST_TEST(!eager->done);
    pool.advance(1s);
    BOOST_TEST(eager->code() == errc::queue_timeout);
    pool.advance(1s);
    BOOST_TEST(!patient->done);
    BOOST_TEST(!other->done);
    pool.advance(7s, 100ms);
    BOOST_TEST(own->done);
    BOOST_TEST(own->code() == errc::timeout);
}

BOOST_AUTO_TEST_CASE(of_streams_too) {
    auto config = fake_config(2);
    config.commands["brief"].timeout = 1s;
    config.commands["silent"].idle_timeout = 2s;
    running_pool pool(config);
    const auto brief = pool.stream(request("brief"));
    const auto silent = pool.stream(request("silent"));
    BOOST_REQUIRE(brief->value && silent->value);
    const auto end_of_brief = pool.next(*brief->value);
    const auto end_of_silent = pool.next(*silent->value);
    pool.advance(1s);
    BOOST_TEST(end_of_brief->code() == errc::timeout);
    BOOST_TEST(!end_of_silent->done);
    pool.advance(1s);
    BOOST_TEST(end_of_silent->code() == errc::timeout);
    check_mentions(end_of_silent->text(), "no chunk came for 2000 ms");
}

BOOST_AUTO_TEST_CASE(say_what_may_be_sent_again) {
    auto config = fake_config(1);
    config.commands["look"].idempotent = true;
    config.retry.backoff = {0s};
    config.retry.budget = 0;
    for (const auto& [call, is_sent_again] :
         {std::pair(request("look"), true), std::pair(request("look").idempotent(false), false),
          std::pair(request("buy"), false), std::pair(request("buy").idempotent(true), true)}) {
        BOOST_TEST_CONTEXT(call.command() << " " << call.has_idempotent()) {
            running_pool pool(config);
            const auto outcome = pool.execute(call);
            pool.run_until_idle();
            pool.worker(0).take_call();
            crash_worker(pool, 0);
            pool.advance(1s, 100ms);
            BOOST_TEST(!outcome->done == is_sent_again);
            if (is_sent_again) {
                pool.worker(1).answer_call();
                pool.run_until_idle();
                BOOST_TEST(outcome->value.has_value());
            } else {
                BOOST_TEST(outcome->code() == errc::worker_lost);
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(for_a_developer_at_a_debugger) {
    auto config = pool_with(R"(, "workers": 4, "min_ready": 3, "scaling": {"min": 2, "max": 8},
        "commands": {"slow": {"timeout": "1s", "queue_timeout": "1s", "idle_timeout": "1s", "idempotent": true}},
        "recycle": {"calls": 1, "hard_memory": 1}, "health_check": {"command": "check"})");
    config.debugging().validate();
    BOOST_TEST(*config.workers == 1u);
    BOOST_TEST(config.min_ready == 1u);
    BOOST_TEST(!config.scaling.max);
    for (const auto timeout : {config.request_timeout, config.queue.timeout, config.stream.timeout,
                               config.stream.idle_timeout, config.recycle.age}) {
        BOOST_TEST((timeout == 0s));
    }
    const auto& slow = config.commands.at("slow");
    BOOST_TEST((!slow.timeout && !slow.queue_timeout && !slow.idle_timeout && slow.idempotent));
    BOOST_TEST((!config.heartbeat.enabled && !config.health_check.enabled));
    BOOST_TEST(config.recycle.calls + config.recycle.hard_memory == 0u);
    BOOST_TEST(config.crash_barrier.poison_crashes == 0);
    BOOST_TEST(*config.launch.environment.at("PYTHONBREAKPOINT") == "skep.breakpoint");
    config.launch.environment["PYTHONBREAKPOINT"] = "0";
    BOOST_TEST(*config.debugging().launch.environment.at("PYTHONBREAKPOINT") == "0");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
