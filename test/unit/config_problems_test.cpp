// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "support/config_ranges.hpp"
#include "support/text.hpp"

#include <boost/json/parse.hpp>
#include <boost/test/unit_test.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace skep;
using namespace skep::test;
using namespace std::chrono_literals;
namespace json = boost::json;

BOOST_AUTO_TEST_SUITE(config_problems_test)

namespace {

const std::string head = "invalid configuration: ";

/// A document whose launch is fine, with these members besides.
std::string complaint_of_members(const std::string& members) {
    return complaint_of_text(R"({"launch":{"program":"p"},)" + members + "}");
}

} // namespace

BOOST_AUTO_TEST_CASE(a_single_problem_is_one_line) {
    auto config = runnable();
    config.queue.limit = 10'000'001;
    BOOST_TEST(complaint(config) == head + "queue.limit = 10000001: must be 0..10000000");
    BOOST_TEST(complaint_of_members(R"("queue":{"limit":-1})") ==
               head + "queue.limit = -1: must be 0..10000000");
    BOOST_TEST(complaint_of_members(R"("restart":{"jitter":1.5})") ==
               head + "restart.jitter = 1.5: must be 0..1");
}

BOOST_AUTO_TEST_CASE(what_breaks_a_rule_by_less_than_a_millisecond_is_told_so) {
    auto config = runnable();
    config.queue.timeout = 24h + 1us;
    BOOST_TEST(complaint(config) == head + "queue.timeout = 86400000001us: must be 0 ms..86400000 ms");
    config.queue.timeout = -1us;
    BOOST_TEST(complaint(config) == head + "queue.timeout = -1us: must be 0 ms..86400000 ms");
}

BOOST_AUTO_TEST_CASE(validate_names_all_broken_rules_at_once) {
    pool_config config;
    config.name = "a b";
    config.queue.limit = 10'000'001;
    config.heartbeat.interval = 1ms;
    config.restart.max_backoff = 1ms;
    config.crash_barrier.taint_on = {"gremlins", "segfault", "256"};
    config.launch.environment = {{"SKEP_A", "s3cret"}, {"B=", "s3cret"}};
    BOOST_TEST(complaint(config) == head + R"(9 problems
  queue.limit = 10000001: must be 0..10000000
  heartbeat.interval = 1 ms: must be 10 ms..3600000 ms
  name = "a b": must match [A-Za-z0-9][A-Za-z0-9_.-]* and have at most 64 characters
  launch.program = "": is required: the program that runs a worker, e.g. "python3"
  launch.environment = "B=": a name must not be empty or hold '=' or NUL, a value no NUL
  launch.environment = "SKEP_A": names starting with SKEP_ are reserved
  crash_barrier.taint_on = "gremlins": is neither the name of an exit_class nor an exit code (0..255)
  crash_barrier.taint_on = "256": is neither the name of an exit_class nor an exit code (0..255)
  restart.max_backoff = 1 ms: must not be less than restart.initial_backoff)");
}

BOOST_AUTO_TEST_CASE(from_json_names_all_problems_at_once_of_every_kind) {
    const auto problem = complaint_of_text(R"({
        "launch": {"program": "p", "args": ["-u", 1, [], "x", null], "slot_args": [["a"], "b", ["c", 2]],
                   "environment": {"A": 1, "B": "s3cret", "C": ["s3cret"]}, "slot_environment": {"D": "s3cret"}},
        "wokers": 3,
        "queue": {"limit": -1, "timeout": "5 s", "timeuot_ms": 1},
        "request_timeout": "2d", "cancel_grace_ms": 1.5,
        "retry": {"backoff": ["1s", "x", 5, "-1s"], "jitter": "high"},
        "schedule": "random", "heartbeat": [], "output": {"handler": {}},
        "recycle": {"soft_memory": 2, "hard_memory": 1},
        "name": ""})");
    BOOST_TEST(problem == head + R"(23 problems
  launch.args[1] = 1: must be a string
  launch.args[2]: must be a string
  launch.args[4] = null: must be a string
  launch.slot_args[1] = "b": must be an array of strings
  launch.slot_args[2][1] = 2: must be a string
  launch.environment.A: must be a string, or null to remove the variable
  launch.environment.C: must be a string, or null to remove the variable
  launch.slot_environment.D: must be an array of strings
  schedule = "random": must be one of least_loaded, round_robin, lifo, fifo, pack
  queue.limit = -1: must be 0..10000000
  queue.timeout = "5 s": must be text such as "250ms" or "1.5s" (units: ns, us, ms, s, m, h, d); keys that end in _ms take integers
  queue.timeuot_ms: is not a known key; did you mean queue.timeout_ms?
  request_timeout = "2d": must be 0s..1d
  retry.backoff[1] = "x": must be text such as "250ms" or "1.5s" (units: ns, us, ms, s, m, h, d); keys that end in _ms take integers
  retry.backoff[2] = 5: must be text such as "250ms" or "1.5s" (units: ns, us, ms, s, m, h, d); keys that end in _ms take integers
  retry.backoff[3] = "-1s": must be 0s..1d
  retry.jitter = "high": must be a number
  cancel_grace_ms = 1.5: must be an integer
  heartbeat: must be an object
  output.handler: is not a known key
  wokers: is not a known key; did you mean workers?
  name = "": must match [A-Za-z0-9][A-Za-z0-9_.-]* and have at most 64 characters
  recycle.hard_memory = 1: must not be less than recycle.soft_memory)");
    BOOST_TEST(!contains(problem, "s3cret"), problem);
}

BOOST_AUTO_TEST_CASE(a_misspelt_key_is_answered_by_the_nearest_one_and_its_path) {
    BOOST_TEST(complaint_of_members(R"("queue":{"timout":"1s"})") ==
               head + "queue.timout: is not a known key; did you mean queue.timeout?");
    BOOST_TEST(complaint_of_members(R"("request_timeout_sm":1)") ==
               head + "request_timeout_sm: is not a known key; did you mean request_timeout_ms?");
    BOOST_TEST(complaint_of_members(R"("helth_check":{"interval":1})") ==
               head + "helth_check: is not a known key; did you mean health_check?");
    BOOST_TEST(complaint_of_members(R"("colour":"blue")") == head + "colour: is not a known key");
}

BOOST_AUTO_TEST_CASE(what_is_wrong_or_misspelt_is_not_held_against_a_rule_between_fields) {
    // Of each, only the first half is the author's mistake.
    const std::vector<std::pair<std::string, std::string>> table{
        {R"({"launch":{"progam":"p"}})", "did you mean launch.program?"},
        {R"({"launch":{"program":5}})", "must be a string"},
        {R"({"launch":5})", "must be an object"},
        {R"({"lunch":{"program":"p"}})", "did you mean launch?"},
        {R"({"launch":{"program":"p"},"workers":"many","min_ready":9999})", "must be an integer"},
        {R"({"launch":{"program":"p"},"wokers":9999,"min_ready":9999})", "did you mean workers?"},
        {R"({"launch":{"program":"p"},"scaling":[],"min_ready":9999})", "must be an object"},
        {R"({"launch":{"program":"p"},"restart":{"max_backoff_ms":"1h","initial_backoff":"1m"}})", "integer"},
        {R"({"launch":{"program":"p"},"restart":{"max_backof":"1h","initial_backoff":"1m"}})",
         "did you mean"},
        {R"({"launch":{"program":"p","remote_shell":true,"prefix":[1]}})", "must be a string"},
    };
    for (const auto& [text, expected] : table) {
        const auto problem = complaint_of_text(text);
        BOOST_TEST(contains(problem, expected), problem);
        BOOST_TEST(!contains(problem, "problems"), problem);
    }
    auto config = runnable();
    config.scaling.min = 20'000;
    config.scaling.initial = 5;
    BOOST_TEST(complaint(config) == head + "scaling.min = 20000: must be 1..10000");
}

BOOST_AUTO_TEST_CASE(durations_are_text_or_milliseconds) {
    for (const auto& [text, expected] :
         std::vector<std::pair<std::string, duration>>{{R"("queue":{"timeout":"250ms"})", 250ms},
                                                       {R"("queue":{"timeout_ms":250})", 250ms},
                                                       {R"("queue":{"timeout":"1.5s"})", 1500ms},
                                                       {R"("queue":{"timeout":"1500us"})", 1500us},
                                                       {R"("queue":{"timeout":"5m"})", 5min},
                                                       {R"("queue":{"timeout":"1d"})", 24h}}) {
        const auto document = json::parse(R"({"launch":{"program":"p"},)" + text + "}");
        BOOST_TEST((pool_config::from_json(document).queue.timeout == expected), text);
    }
    const auto config = pool_config::from_json(json::parse(
        R"({"launch":{"program":"p"},"recycle":{"age":"7d"},"retry":{"backoff":["0s","1.5s"]}})"));
    BOOST_TEST((config.recycle.age == 168h));
    BOOST_TEST((config.retry.backoff == std::vector<duration>{0s, 1500ms}));
}

BOOST_AUTO_TEST_CASE(a_duration_is_not_given_twice) {
    BOOST_TEST(complaint_of_members(R"("queue":{"timeout":"1s","timeout_ms":1000})") ==
               head + "queue.timeout_ms: must not be given beside queue.timeout");
    BOOST_TEST(complaint_of_members(R"("retry":{"backoff":["1s"],"backoff_ms":[1000]})") ==
               head + "retry.backoff_ms: must not be given beside retry.backoff");
}

BOOST_AUTO_TEST_CASE(durations_in_text_have_the_same_ranges) {
    for (const auto& field : ranges()) {
        if (field.in != unit::milliseconds) {
            continue;
        }
        BOOST_TEST_CONTEXT(field.path) {
            for (const auto good : {field.low, field.high}) {
                const json::value text(std::to_string(good) + "ms");
                BOOST_TEST(field.get(pool_config::from_json(with(field.path, text))) == good);
            }
            for (const auto& bad :
                 {std::to_string(field.low - 1) + "ms", std::to_string(field.high) + ".000001ms"}) {
                const auto problem = complaint_of_json(with(field.path, json::value(bad)));
                BOOST_TEST(contains(problem, field.path + " = \"" + bad + "\": must be "), problem);
                BOOST_TEST(contains(problem, ".."), problem);
            }
            for (const auto& bad :
                 {json::value(1), json::value("1"), json::value(nullptr), json::value("1e999d")}) {
                const auto problem = complaint_of_json(with(field.path, bad));
                BOOST_TEST(contains(problem, field.path + " = "), problem);
                BOOST_TEST(contains(problem, "must be text such as \"250ms\""), problem);
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(editors_may_name_the_schema) {
    BOOST_TEST(complaint_of_members(R"("$schema":"./pool_config.schema.json")").empty());
    BOOST_TEST(contains(complaint_of_members(R"("queue":{"$schema":"x"})"), "is not a known key"));
}

BOOST_AUTO_TEST_SUITE_END()
