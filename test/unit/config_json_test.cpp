// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "support/config_ranges.hpp"
#include "support/text.hpp"

#include <boost/json/parse.hpp>
#include <boost/test/unit_test.hpp>

#include <map>
#include <string>
#include <utility>
#include <vector>

using namespace skep;
using namespace skep::test;
using namespace std::chrono_literals;
namespace json = boost::json;

BOOST_AUTO_TEST_SUITE(config_json_test)

namespace {

constexpr std::string_view every_key = R"({
    "name": "blue",
    "launch": {"program": "python3.11", "args": ["-u", "worker.py"], "environment": {"A": "1", "B": "", "C": null},
               "slot_args": [["--port", "1"], []], "slot_environment": {"DEVICE": ["0", "1"]},
               "transport": "socket", "prefix": ["nice", "-n", "1"], "remote_shell": false,
               "inherit_environment": false, "working_directory": "/", "preload": true, "preload_fallback": false},
    "workers": 8, "min_ready": 2, "capacity": 4, "schedule": "round_robin",
    "start": {"batch_size": 3, "batch_delay_ms": 11, "timeout_ms": 12000},
    "queue": {"limit": 77, "timeout_ms": 0},
    "request_timeout_ms": 500, "cancel_grace_ms": 501, 
    "retry": {"attempts": 5, "backoff_ms": [0, 31], "jitter": 0.1, "budget": 32, "budget_ratio": 0.5},
    "scaling": {"initial": 9, "min": 8, "max": 16, "up": 0.7, "down": 0.2, "interval_ms": 41,
                "target_queue_delay_ms": 42, "cool_down_ms": 43},
    "health_check": {"enabled": false, "interval_ms": 51, "timeout_ms": 52, "failures": 7, "retry_interval_ms": 53,
                     "command": "ping", "failing_errors": ["CudaError"], "error_streak": 54},
    "recycle": {"age_ms": 61, "calls": 62, "soft_memory": 63, "hard_memory": 64, "jitter": 0.3,
                "max_recycling": 65, "memory_interval_ms": 66},
    "crash_barrier": {"enabled": true, "taint_on": ["abort"], "taint_ms": 71, "max_taint_ms": 72,
                      "poison_crashes": 73, "poison_ttl_ms": 7400},
    "heartbeat": {"enabled": false, "interval_ms": 101, "timeout_ms": 102, "misses": 9,
                  "initial_delay_ms": 103, "dependent": false},
    "stop": {"drain_timeout_ms": 1, "shutdown_grace_ms": 2, "term_grace_ms": 3, "reap_timeout_ms": 14,
             "stack_dump_timeout_ms": 15},
    "restart": {"initial_backoff_ms": 21, "max_backoff_ms": 22, "jitter": 0.5, "stable_after_ms": 23,
                "safety_tick_ms": 24, "starts_per_tick": 25, "limit": 26, "window_ms": 27, "open_time_ms": 28},
    "limits": {"frame_bytes": 4096, "json_bytes": 2048, "json_depth": 10, "tree_bytes": 1000000,
               "tool_call_bytes": 2000},
    "output": {"line_bytes": 100, "lines_per_second": 0, "tail_bytes": 0},
    "shared": {"enabled": true, "least": 8192, "least_result": 16384,
               "bytes": 2097152, "regions": 3, "show_results": true},
    "log_level": "off", "log_format": "json"})";

} // namespace

BOOST_AUTO_TEST_CASE(every_key_of_json) {
    const auto config = pool_config::from_json(json::parse(every_key));
    BOOST_TEST(config.name == "blue");
    BOOST_TEST(config.launch.program == "python3.11");
    BOOST_TEST(config.launch.args == (std::vector<std::string>{"-u", "worker.py"}),
               boost::test_tools::per_element());
    BOOST_TEST((config.launch.environment == std::map<std::string, std::optional<std::string>>{
                                                 {"A", "1"}, {"B", ""}, {"C", std::nullopt}}));
    BOOST_TEST((config.launch.prefix == std::vector<std::string>{"nice", "-n", "1"}));
    BOOST_TEST(!config.launch.inherit_environment);
    BOOST_TEST(config.launch.working_directory == "/");
    BOOST_TEST(config.launch.preload);
    BOOST_TEST(!config.launch.preload_fallback);
    BOOST_TEST((config.workers == 8u));
    BOOST_TEST(config.min_ready == 2u);
    BOOST_TEST(config.capacity == 4u);
    BOOST_TEST((config.schedule == scheduling::round_robin));
    BOOST_TEST(config.start.batch_size == 3u);
    BOOST_TEST((config.start.batch_delay == 11ms));
    BOOST_TEST((config.start.timeout == 12s));
    BOOST_TEST(config.queue.limit == 77u);
    BOOST_TEST((config.queue.timeout == 0s));
    BOOST_TEST((config.request_timeout == 500ms));
    BOOST_TEST((config.cancel_grace == 501ms));
    BOOST_TEST(config.retry.attempts == 5);
    BOOST_TEST((config.retry.backoff == std::vector<duration>{0ms, 31ms}));
    BOOST_TEST(config.retry.jitter == 0.1);
    BOOST_TEST(config.retry.budget == 32u);
    BOOST_TEST(config.retry.budget_ratio == 0.5);
    BOOST_TEST((config.scaling.initial == 9u));
    BOOST_TEST((config.scaling.min == 8u));
    BOOST_TEST((config.scaling.max == 16u));
    BOOST_TEST(config.scaling.up == 0.7);
    BOOST_TEST(config.scaling.down == 0.2);
    BOOST_TEST((config.scaling.interval == 41ms));
    BOOST_TEST((config.scaling.target_queue_delay == 42ms));
    BOOST_TEST((config.scaling.cool_down == 43ms));
    BOOST_TEST(!config.health_check.enabled);
    BOOST_TEST((config.health_check.interval == 51ms));
    BOOST_TEST((config.health_check.timeout == 52ms));
    BOOST_TEST(config.health_check.failures == 7);
    BOOST_TEST((config.health_check.retry_interval == 53ms));
    BOOST_TEST(config.health_check.command == "ping");
    BOOST_TEST((config.health_check.failing_errors == std::vector<std::string>{"CudaError"}));
    BOOST_TEST(config.health_check.error_streak == 54u);
    BOOST_TEST((config.recycle.age == 61ms));
    BOOST_TEST(config.recycle.calls == 62u);
    BOOST_TEST(config.recycle.soft_memory == 63u);
    BOOST_TEST(config.recycle.hard_memory == 64u);
    BOOST_TEST(config.recycle.jitter == 0.3);
    BOOST_TEST(config.recycle.max_recycling == 65u);
    BOOST_TEST((config.recycle.memory_interval == 66ms));
    BOOST_TEST(config.crash_barrier.enabled);
    BOOST_TEST((config.crash_barrier.taint_on == std::vector<std::string>{"abort"}));
    BOOST_TEST((config.crash_barrier.taint == 71ms));
    BOOST_TEST((config.crash_barrier.max_taint == 72ms));
    BOOST_TEST(config.crash_barrier.poison_crashes == 73);
    BOOST_TEST((config.crash_barrier.poison_ttl == 7400ms));
    BOOST_TEST((config.stop.stack_dump_timeout == 15ms));
    BOOST_TEST((config.restart.limit == 26u));
    BOOST_TEST((config.restart.window == 27ms));
    BOOST_TEST((config.restart.open_time == 28ms));
    BOOST_TEST(!config.heartbeat.enabled);
    BOOST_TEST((config.heartbeat.interval == 101ms));
    BOOST_TEST((config.heartbeat.timeout == 102ms));
    BOOST_TEST(config.heartbeat.misses == 9);
    BOOST_TEST((config.heartbeat.initial_delay == 103ms));
    BOOST_TEST(!config.heartbeat.dependent);
    BOOST_TEST((config.stop.drain_timeout == 1ms));
    BOOST_TEST((config.stop.shutdown_grace == 2ms));
    BOOST_TEST((config.stop.term_grace == 3ms));
    BOOST_TEST((config.stop.reap_timeout == 14ms));
    BOOST_TEST((config.restart.initial_backoff == 21ms));
    BOOST_TEST((config.restart.max_backoff == 22ms));
    BOOST_TEST(config.restart.jitter == 0.5);
    BOOST_TEST((config.restart.stable_after == 23ms));
    BOOST_TEST((config.restart.safety_tick == 24ms));
    BOOST_TEST(config.restart.starts_per_tick == 25u);
    BOOST_TEST(config.limits.frame_bytes == 4096u);
    BOOST_TEST(config.limits.json_bytes == 2048u);
    BOOST_TEST(config.limits.json_depth == 10u);
    BOOST_TEST(config.limits.tree_bytes == 1'000'000u);
    BOOST_TEST(config.limits.tool_call_bytes == 2000u);
    BOOST_TEST(config.output.line_bytes == 100u);
    BOOST_TEST(config.output.lines_per_second == 0u);
    BOOST_TEST(config.output.tail_bytes == 0u);
    BOOST_TEST(config.shared.enabled);
    BOOST_TEST(config.shared.least == 8192u);
    BOOST_TEST(config.shared.least_result == 16'384u);
    BOOST_TEST(config.shared.bytes == 2'097'152u);
    BOOST_TEST(config.shared.regions == 3u);
    BOOST_TEST(config.shared.show_results);
    BOOST_TEST((config.log_level == log_level::off));
}

BOOST_AUTO_TEST_CASE(null_lets_the_pool_choose_a_number_that_the_defaults_set) {
    const auto config = manager_config::from_json(json::parse(
        R"({"defaults": {"launch": {"program": "python3"}, "workers": 4, "restart": {"limit": 3}},
            "pools": [{"name": "a"}, {"name": "b", "workers": null, "restart": {"limit": null}}]})"));
    BOOST_TEST((config.pools[0].workers == 4u));
    BOOST_TEST((config.pools[0].restart.limit == 3u));
    BOOST_TEST(!config.pools[1].workers);
    BOOST_TEST(!config.pools[1].restart.limit);
}

BOOST_AUTO_TEST_CASE(json_leaves_out_what_it_does_not_say) {
    const auto config =
        pool_config::from_json(json::parse(R"({"launch":{"program":"p"},"queue":{"limit":5}})"));
    const pool_config defaults;
    BOOST_TEST(config.queue.limit == 5u);
    BOOST_TEST((config.queue.timeout == defaults.queue.timeout));
    BOOST_TEST(config.name == defaults.name);
    BOOST_TEST(config.launch.inherit_environment);
    BOOST_TEST((config.log_level == defaults.log_level));
    BOOST_TEST(
        pool_config::from_json(json::parse(R"({"launch":{"program":"p"},"start":{}})")).start.batch_size ==
        10u);
}

BOOST_AUTO_TEST_CASE(json_is_validated) {
    BOOST_TEST(contains(complaint_of_text("{}"), "launch.program"));
    BOOST_TEST(contains(complaint_of_text(R"({"launch":{"program":"p"},"workers":2,"min_ready":3})"),
                        "min_ready = 3"));
    BOOST_TEST(contains(complaint_of_text(R"({"launch":{"program":"p"},"name":"a b"})"), "name"));
    BOOST_TEST(contains(complaint_of_text(R"({"launch":{"program":"p"},"restart":{"jitter":1.5}})"),
                        "restart.jitter"));
}

BOOST_AUTO_TEST_CASE(enumerations_in_json) {
    const std::vector<std::pair<std::string, scheduling>> schedules{
        {"least_loaded", scheduling::least_loaded},
        {"round_robin", scheduling::round_robin},
        {"lifo", scheduling::lifo},
        {"fifo", scheduling::fifo},
        {"pack", scheduling::pack}};
    for (const auto& [name, value] : schedules) {
        BOOST_TEST((pool_config::from_json(with("schedule", json::value(name))).schedule == value), name);
    }
    const std::vector<std::pair<std::string, log_level>> levels{{"debug", log_level::debug},
                                                                {"info", log_level::info},
                                                                {"warning", log_level::warning},
                                                                {"error", log_level::error},
                                                                {"off", log_level::off}};
    for (const auto& [name, value] : levels) {
        BOOST_TEST((pool_config::from_json(with("log_level", json::value(name))).log_level == value), name);
    }
    BOOST_TEST((pool_config::from_json(with("wait", "block")).wait == wait_mode::block));
    BOOST_TEST((pool_config::from_json(with("thread", "own")).thread == pool_thread::own));
    BOOST_TEST((pool_config::from_json(with("thread", "caller")).thread == pool_thread::caller));
    for (const auto* const bad : {"", "FIFO", "random", "fifo "}) {
        const auto problem = complaint_of_json(with("schedule", bad));
        BOOST_TEST(contains(problem, "schedule = \"" + std::string(bad) + "\""), problem);
        BOOST_TEST(contains(problem, "least_loaded, round_robin, lifo, fifo, pack"), problem);
    }
    BOOST_TEST(contains(complaint_of_json(with("log_level", "loud")), "debug, info, warning, error, off"));
}

BOOST_AUTO_TEST_CASE(what_differs_from_slot_to_slot) {
    const auto config = pool_config::from_json(json::parse(every_key));
    const std::vector<std::vector<std::string>> args{{"--port", "1"}, {}};
    BOOST_TEST((config.launch.slot_args == args));
    const std::map<std::string, std::vector<std::string>> variables{{"DEVICE", {"0", "1"}}};
    BOOST_TEST((config.launch.slot_environment == variables));
    BOOST_TEST((config.log_format == log_format::json));

    auto bad = runnable();
    bad.launch.slot_environment = {{"DEVICE", {}}};
    BOOST_TEST(contains(complaint(bad), "launch.slot_environment = \"DEVICE\": needs at least one value"),
               complaint(bad));
    bad.launch.slot_environment = {{"SKEP_TOKEN", {"x"}}};
    BOOST_TEST(contains(complaint(bad), "are reserved"), complaint(bad));
    bad.launch.slot_environment = {{"A=B", {"x"}}};
    BOOST_TEST(contains(complaint(bad), "must not be empty or hold '='"), complaint(bad));
    bad = runnable();
    bad.launch.slot_args = {{"fine"}, {"fine", std::string("a\0b", 3)}};
    BOOST_TEST(contains(complaint(bad), "launch.slot_args[1][1]: must not hold a NUL"), complaint(bad));
}

BOOST_AUTO_TEST_SUITE_END()
