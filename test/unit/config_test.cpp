// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "support/text.hpp"
#include <skep/error.hpp>
#include <skep/pool_config.hpp>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <csignal>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

using namespace skep;
using skep::test::contains;
using namespace std::chrono_literals;
namespace data = boost::unit_test::data;
namespace json = boost::json;

namespace {

pool_config runnable() {
    pool_config config;
    config.launch.program = "python3";
    return config;
}

/// A configuration in which every field may take any value of its own range, whatever the others are.
pool_config roomy() {
    auto config = runnable();
    config.workers = 10'000;
    config.restart.initial_backoff = 1ms;
    config.restart.max_backoff = 24h;
    config.crash_barrier.taint = 1ms;
    config.crash_barrier.max_taint = 24h;
    config.limits.frame_bytes = 1u << 30;
    config.limits.json_bytes = 1024;
    return config;
}

json::object roomy_json() {
    return {{"launch", {{"program", "python3"}}},
            {"workers", 10'000},
            {"restart", {{"initial_backoff_ms", 1}, {"max_backoff_ms", 86'400'000}}},
            {"crash_barrier", {{"taint_ms", 1}, {"max_taint_ms", 86'400'000}}},
            {"limits", {{"frame_bytes", 1u << 30}, {"json_bytes", 1024}}}};
}

// What the error says; empty if there is none. Whatever it says, it must be invalid_config.
std::string complaint(const std::function<void()>& function) {
    try {
        function();
    } catch (const error& failure) {
        BOOST_TEST((failure.code() == errc::invalid_config));
        BOOST_TEST(!failure.info.detail.empty());
        return failure.what();
    }
    return {};
}

std::string complaint(const pool_config& config) {
    return complaint([&] { config.validate(); });
}

std::string complaint_of_json(const json::value& document) {
    return complaint([&] { pool_config::from_json(document); });
}

std::string complaint_of_text(std::string_view text) {
    return complaint_of_json(json::parse(text));
}

enum class unit { count, milliseconds };

// The ranges as pool_config.hpp documents them.
struct range {
    std::string path;
    unit in;
    long long low, high;
    std::function<void(pool_config&, long long)> set;
    std::function<long long(const pool_config&)> get;
};

template <class Access>
range count(std::string path, long long low, long long high, Access access) {
    return {std::move(path),
            unit::count,
            low,
            high,
            [access](pool_config& config, long long value) {
                auto& field = access(config);
                field = static_cast<std::remove_reference_t<decltype(field)>>(value);
            },
            [access](const pool_config& config) {
                auto copy = config;
                return static_cast<long long>(access(copy));
            }};
}

template <class Access>
range time(std::string path, duration low, duration high, Access access) {
    return {
        std::move(path),
        unit::milliseconds,
        low / 1ms,
        high / 1ms,
        [access](pool_config& config, long long value) { access(config) = std::chrono::milliseconds(value); },
        [access](const pool_config& config) {
            auto copy = config;
            return static_cast<long long>(access(copy) / 1ms);
        }};
}

// NOLINTNEXTLINE: one row per field
#define FIELD(path)                                                                                          \
    [](pool_config & c) -> auto& {                                                                           \
        return c.path;                                                                                       \
    }
#define COUNT(path, low, high) count(#path, low, high, FIELD(path))
#define TIME(path, low, high) time(#path, low, high, FIELD(path))

const std::vector<range>& ranges() {
    static const std::vector<range> all{
        COUNT(workers, 0, 10'000),
        COUNT(min_ready, 1, 10'000),
        COUNT(capacity, 1, 65'536),
        COUNT(start.batch_size, 1, 1000),
        TIME(start.batch_delay, 0s, 60s),
        TIME(start.timeout, 10ms, 1h),
        COUNT(queue.limit, 0, 10'000'000),
        TIME(queue.timeout, 0s, 24h),
        TIME(request_timeout, 0s, 24h),
        TIME(cancel_grace, 0s, 1h),
        COUNT(retry.attempts, 1, 100),
        COUNT(retry.budget, 0, 1'000'000),
        COUNT(scaling.initial, 0, 10'000),
        COUNT(scaling.min, 0, 10'000),
        COUNT(scaling.max, 0, 10'000),
        TIME(scaling.interval, 10ms, 1h),
        TIME(scaling.target_queue_delay, 0s, 1h),
        TIME(scaling.cool_down, 0s, 24h),
        TIME(health_check.interval, 10ms, 24h),
        TIME(health_check.timeout, 1ms, 1h),
        COUNT(health_check.failures, 1, 100),
        TIME(health_check.retry_interval, 1ms, 1h),
        COUNT(health_check.error_streak, 0, 1'000'000),
        TIME(recycle.age, 0s, 10'000h),
        COUNT(recycle.calls, 0, 1'000'000'000'000),
        COUNT(recycle.soft_memory, 0, 1LL << 60),
        COUNT(recycle.hard_memory, 0, 1LL << 60),
        COUNT(recycle.max_recycling, 1, 1000),
        TIME(recycle.memory_interval, 10ms, 1h),
        TIME(crash_barrier.taint, 1ms, 24h),
        TIME(crash_barrier.max_taint, 1ms, 24h),
        COUNT(crash_barrier.poison_crashes, 0, 100),
        TIME(crash_barrier.poison_ttl, 1s, 24h),
        TIME(stop.stack_dump_timeout, 0s, 10s),
        COUNT(restart.limit, 0, 1'000'000),
        TIME(restart.window, 10ms, 24h),
        TIME(restart.open_time, 1ms, 24h),
        TIME(heartbeat.interval, 10ms, 1h),
        TIME(heartbeat.timeout, 10ms, 1h),
        COUNT(heartbeat.misses, 1, 100),
        TIME(heartbeat.initial_delay, 0s, 1h),
        TIME(stop.drain_timeout, 0s, 24h),
        TIME(stop.shutdown_grace, 0s, 1h),
        TIME(stop.term_grace, 0s, 1h),
        TIME(stop.reap_timeout, 10ms, 1h),
        TIME(restart.initial_backoff, 1ms, 1h),
        TIME(restart.max_backoff, 1ms, 24h),
        TIME(restart.stable_after, 0s, 24h),
        TIME(restart.safety_tick, 10ms, 1h),
        COUNT(restart.starts_per_tick, 1, 1000),
        COUNT(limits.frame_bytes, 1024, 1LL << 31),
        COUNT(limits.json_bytes, 1024, 1 << 30),
        COUNT(limits.json_depth, 4, 1000),
        COUNT(limits.tree_bytes, 64 << 10, 16LL << 30),
        COUNT(output.line_bytes, 80, 1 << 20),
        COUNT(output.lines_per_second, 0, 1'000'000),
        COUNT(output.tail_bytes, 0, 1 << 20),
    };
    return all;
}

std::string shown(const range& field, long long value) {
    return std::to_string(value) + (field.in == unit::milliseconds ? " ms" : "");
}

std::string json_path(const range& field) {
    return field.path + (field.in == unit::milliseconds ? "_ms" : "");
}

// roomy_json() with one more member at "group.key" or "key".
json::object with(const std::string& path, json::value value) {
    auto document = roomy_json();
    const auto dot = path.find('.');
    if (dot == std::string::npos) {
        document[path] = std::move(value);
    } else {
        auto& group = document[path.substr(0, dot)];
        if (group.is_null()) {
            group.emplace_object();
        }
        group.as_object()[path.substr(dot + 1)] = std::move(value);
    }
    return document;
}

constexpr std::string_view every_key = R"({
    "name": "blue",
    "launch": {"program": "python3.11", "args": ["-u", "worker.py"], "environment": {"A": "1", "B": ""},
               "slot_args": [["--port", "1"], []], "slot_environment": {"DEVICE": ["0", "1"]},
               "transport": "socket", "prefix": ["nice", "-n", "1"], "remote_shell": false,
               "inherit_environment": false, "working_directory": "/"},
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
    "limits": {"frame_bytes": 4096, "json_bytes": 2048, "json_depth": 10, "tree_bytes": 1000000},
    "output": {"line_bytes": 100, "lines_per_second": 0, "tail_bytes": 0},
    "log": "off", "log_to": "boost_log"})";

} // namespace

BOOST_AUTO_TEST_SUITE(config_test)

BOOST_AUTO_TEST_CASE(the_program_is_all_that_is_required) {
    BOOST_TEST(complaint(runnable()).empty());
    const auto problem = complaint(pool_config());
    BOOST_TEST(contains(problem, "launch.program"), problem);
    BOOST_TEST(contains(problem, "required"), problem);
    const auto python = pool_config::python("worker.py");
    BOOST_TEST(complaint(python).empty());
    BOOST_TEST(python.launch.program == "python3");
    BOOST_TEST(python.launch.args == std::vector<std::string>{"worker.py"}, boost::test_tools::per_element());
    BOOST_TEST(pool_config::python("w.py", "/opt/python").launch.program == "/opt/python");
}

BOOST_AUTO_TEST_CASE(the_command_of_a_health_check_is_text) {
    auto config = runnable();
    config.health_check.command = "check\xFF";
    BOOST_TEST(complaint(config).find("health_check.command") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(defaults_are_those_of_the_design) {
    const pool_config config;
    BOOST_TEST(config.capacity == 1u);
    BOOST_TEST(config.start.batch_size == 10u);
    BOOST_TEST((config.start.batch_delay == 500ms));
    BOOST_TEST((config.start.timeout == 120s));
    BOOST_TEST(config.queue.limit == 1000u);
    BOOST_TEST((config.queue.timeout == 5s));
    BOOST_TEST((config.request_timeout == 60s));
    BOOST_TEST(config.heartbeat.enabled);
    BOOST_TEST(config.heartbeat.dependent);
    BOOST_TEST((config.heartbeat.interval == 2s));
    BOOST_TEST((config.heartbeat.timeout == 10s));
    BOOST_TEST(config.heartbeat.misses == 3);
    BOOST_TEST((config.heartbeat.initial_delay == 0s));
    BOOST_TEST((config.stop.shutdown_grace == 3s));
    BOOST_TEST((config.stop.term_grace == 2s));
    BOOST_TEST((config.restart.max_backoff == 30s));
    BOOST_TEST((config.restart.initial_backoff == 100ms));
    BOOST_TEST(config.restart.jitter == 0.25);
    BOOST_TEST((config.restart.safety_tick == 1s));
    BOOST_TEST(config.restart.starts_per_tick == 2u);
    BOOST_TEST(config.retry.attempts == 3);
    BOOST_TEST((config.health_check.interval == 30s));
    BOOST_TEST((config.health_check.timeout == 5s));
    BOOST_TEST(config.health_check.failures == 3);
    BOOST_TEST((config.crash_barrier.taint == 60s));
    BOOST_TEST((config.scaling.interval == 60s));
    BOOST_TEST(config.scaling.up == 0.8);
    BOOST_TEST(config.scaling.down == 0.3);
    BOOST_TEST(config.limits.frame_bytes == 64u << 20);
    BOOST_TEST((config.schedule == scheduling::least_loaded));
}

BOOST_AUTO_TEST_CASE(every_range_is_inclusive_and_its_violation_tells_field_value_and_rule) {
    for (const auto& field : ranges()) {
        BOOST_TEST_CONTEXT(field.path) {
            for (const auto good : {field.low, field.high}) {
                auto config = roomy();
                field.set(config, good);
                if (field.path == "limits.frame_bytes") {
                    config.limits.json_bytes = 1024;
                }
                BOOST_TEST(complaint(config).empty(), complaint(config));
            }
            for (const auto bad : {field.low - 1, field.high + 1}) {
                auto config = roomy();
                field.set(config, bad);
                const auto problem = complaint(config);
                BOOST_TEST(contains(problem, field.path + " = "), problem);
                const auto wrapped = std::to_string(static_cast<std::size_t>(bad)); // of a field without sign
                BOOST_TEST((contains(problem, shown(field, bad) + ":") || contains(problem, wrapped + ":")),
                           problem);
                BOOST_TEST(contains(problem, shown(field, field.low) + ".." + shown(field, field.high)),
                           problem);
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(extreme_values_are_refused) {
    for (const auto& field : ranges()) {
        if (field.in == unit::count) {
            auto config = roomy();
            field.set(config, std::numeric_limits<int>::min()); // huge if the field has no sign
            BOOST_TEST(contains(complaint(config), field.path), field.path);
        }
    }
    auto config = roomy();
    config.queue.limit = std::numeric_limits<std::size_t>::max();
    BOOST_TEST(contains(complaint(config), "queue.limit = 18446744073709551615"));
    config = roomy();
    config.request_timeout = duration::max();
    BOOST_TEST(contains(complaint(config), "request_timeout"));
    config.request_timeout = duration::min();
    BOOST_TEST(contains(complaint(config), "request_timeout"));
}

BOOST_AUTO_TEST_CASE(jitter_is_a_share) {
    for (const double good : {0.0, 0.25, 1.0}) {
        auto config = runnable();
        config.restart.jitter = good;
        BOOST_TEST(complaint(config).empty());
    }
    for (const double bad : {-0.01, 1.01, std::numeric_limits<double>::infinity(), -1e300,
                             std::numeric_limits<double>::quiet_NaN()}) {
        auto config = runnable();
        config.restart.jitter = bad;
        BOOST_TEST(contains(complaint(config), "restart.jitter = "), bad);
    }
}

BOOST_DATA_TEST_CASE(good_names, data::make({"a", "0", "default", "Blue-2_x.y", "A..", "9-"}), name) {
    auto config = runnable();
    config.name = name;
    BOOST_TEST(complaint(config).empty());
}

BOOST_DATA_TEST_CASE(bad_names,
                     data::make({"", ".a", "-a", "_a", "a b", "a/b", "a#1", "a\n", "\xC3\xA4", "a\xC3\xA4"}),
                     name) {
    auto config = runnable();
    config.name = name;
    const auto problem = complaint(config);
    BOOST_TEST(contains(problem, "name = \"" + config.name + "\""), problem);
}

BOOST_AUTO_TEST_CASE(names_of_64_characters_are_the_longest) {
    auto config = runnable();
    config.name = std::string(64, 'a');
    BOOST_TEST(complaint(config).empty());
    config.name += 'a';
    BOOST_TEST(contains(complaint(config), "64"));
    config.name = std::string("a\0b", 3);
    BOOST_TEST(!complaint(config).empty());
}

BOOST_AUTO_TEST_CASE(rules_of_launch) {
    const std::string nul("a\0b", 3);
    struct row {
        std::string_view expected;
        std::function<void(launch_options&)> change;
    };
    const std::vector<row> table{
        {"launch.program", [&](launch_options& launch) { launch.program = nul; }},
        {"launch.args[1]",
         [&](launch_options& launch) {
             launch.args = {"good", nul};
         }},
        {"launch.environment",
         [&](launch_options& launch) {
             launch.environment = {{"", "x"}};
         }},
        {"launch.environment",
         [&](launch_options& launch) {
             launch.environment = {{"A=B", "x"}};
         }},
        {"launch.environment",
         [&](launch_options& launch) {
             launch.environment = {{nul, "x"}};
         }},
        {"launch.environment = \"A\"",
         [&](launch_options& launch) {
             launch.environment = {{"A", nul}};
         }},
        {"\"SKEP_TOKEN\"",
         [&](launch_options& launch) {
             launch.environment = {{"SKEP_TOKEN", "x"}};
         }},
        {"\"SKEP_\"",
         [&](launch_options& launch) {
             launch.environment = {{"SKEP_", "x"}};
         }},
        {"launch.working_directory = \"/no/such/place\"",
         [&](launch_options& launch) { launch.working_directory = "/no/such/place"; }},
        {"launch.working_directory", [&](launch_options& launch) { launch.working_directory = "/dev/null"; }},
    };
    for (const auto& row : table) {
        auto config = runnable();
        row.change(config.launch);
        const auto problem = complaint(config);
        BOOST_TEST(contains(problem, row.expected), row.expected << " in: " << problem);
    }
    auto config = runnable();
    config.launch.environment = {{"SKEPTIC", "="}, {"skep_x", ""}, {"A B", "\xFF"}};
    config.launch.args = {"", "--x=y", "\xFF"};
    config.launch.working_directory = "/";
    BOOST_TEST(complaint(config).empty());
}

BOOST_AUTO_TEST_CASE(workers_elsewhere) {
    const auto config = pool_config::from_json(json::parse(
        R"({"launch":{"program":"p","transport":"stdio","prefix":["ssh","host"],"remote_shell":true}})"));
    BOOST_TEST((config.launch.transport == transport::stdio));
    BOOST_TEST((config.launch.prefix == std::vector<std::string>{"ssh", "host"}));
    BOOST_TEST(config.launch.remote_shell);

    const std::string nul("a\0b", 3);
    struct row {
        std::string_view expected;
        std::function<void(pool_config&)> change;
    };
    const std::vector<row> table{
        {"launch.prefix[1]: must not hold a NUL", [&](pool_config& bad) { bad.launch.prefix.back() = nul; }},
        {"launch.prefix[0] = \"\": must name a program",
         [](pool_config& bad) { bad.launch.prefix.front().clear(); }},
        {"launch.remote_shell = true: needs a launch.prefix",
         [](pool_config& bad) { bad.launch.prefix.clear(); }},
        {"and \"stdio\" as launch.transport",
         [](pool_config& bad) { bad.launch.transport = transport::socket; }},
        {"launch.program = \"a=b\": must not hold '='", [](pool_config& bad) { bad.launch.program = "a=b"; }},
        {"recycle.soft_memory: needs \"socket\" as launch.transport",
         [](pool_config& bad) { bad.recycle.soft_memory = 1; }},
        {"recycle.hard_memory: needs \"socket\" as launch.transport",
         [](pool_config& bad) { bad.recycle.hard_memory = 1; }},
    };
    for (const auto& row : table) {
        auto bad = config;
        row.change(bad);
        const auto problem = complaint(bad);
        BOOST_TEST(contains(problem, row.expected), row.expected << " in: " << problem);
    }
    auto local = runnable();
    local.launch.prefix = {"nice"};
    local.launch.program = "a=b";
    local.recycle.soft_memory = 1;
    BOOST_TEST(complaint(local).empty());
}

BOOST_AUTO_TEST_CASE(rules_between_fields) {
    auto config = runnable();
    config.workers = 3;
    config.min_ready = 3;
    BOOST_TEST(complaint(config).empty());
    config.min_ready = 4;
    BOOST_TEST(contains(complaint(config), "min_ready = 4"));
    BOOST_TEST(contains(complaint(config), "initial number of workers (3)"));

    config = runnable();
    config.workers = 0;
    config.min_ready = std::max(1u, std::thread::hardware_concurrency());
    BOOST_TEST(complaint(config).empty());
    ++config.min_ready;
    BOOST_TEST(contains(complaint(config), "min_ready"));

    config = runnable();
    config.restart.initial_backoff = config.restart.max_backoff = 1s;
    BOOST_TEST(complaint(config).empty());
    config.restart.max_backoff = 999ms;
    BOOST_TEST(contains(complaint(config), "restart.max_backoff = 999 ms"));
    BOOST_TEST(contains(complaint(config), "restart.initial_backoff"));

    config = runnable();
    config.scaling.min = 2;
    config.scaling.max = 1;
    BOOST_TEST(contains(complaint(config), "scaling.min = 2: must not exceed scaling.max"));
    config.scaling.max = 3;
    config.scaling.initial = 4;
    BOOST_TEST(contains(complaint(config), "scaling.initial = 4: must be 2..3"));
    config.scaling.initial = 3;
    BOOST_TEST(complaint(config).empty());
    config.scaling.down = 0.9;
    BOOST_TEST(contains(complaint(config), "scaling.down"));

    config = runnable();
    config.recycle.soft_memory = 10;
    config.recycle.hard_memory = 9;
    BOOST_TEST(contains(complaint(config), "recycle.hard_memory = 9"));
    config = runnable();
    config.crash_barrier.taint_on = {"segfault", "gremlins"};
    BOOST_TEST(contains(complaint(config), "crash_barrier.taint_on = \"gremlins\""));
    for (const auto* const code : {"256", "-1", "07", "1.0", ""}) {
        config.crash_barrier.taint_on = {code};
        BOOST_TEST(contains(complaint(config), "an exit code (0..255)"), code);
    }
    config.crash_barrier.taint_on = {"0", "77", "255"};
    BOOST_TEST(complaint(config).empty());
    config = runnable();
    config.crash_barrier.max_taint = 59s;
    BOOST_TEST(contains(complaint(config), "crash_barrier.max_taint = 59000 ms"));
    config = runnable();
    config.retry.backoff = {1ms, -1ms};
    BOOST_TEST(contains(complaint(config), "retry.backoff = -1 ms"));
    config.retry.backoff.clear();
    BOOST_TEST(contains(complaint(config), "retry.backoff: must not be empty"));

    config = runnable();
    config.limits.frame_bytes = config.limits.json_bytes = 1 << 20;
    BOOST_TEST(complaint(config).empty());
    ++config.limits.json_bytes;
    BOOST_TEST(contains(complaint(config), "limits.json_bytes = 1048577"));
    BOOST_TEST(contains(complaint(config), "limits.frame_bytes"));
}

BOOST_AUTO_TEST_CASE(enumerations_out_of_range) {
    auto config = runnable();
    config.schedule = static_cast<scheduling>(4);
    BOOST_TEST(contains(complaint(config), "schedule = 4"));
    config.schedule = static_cast<scheduling>(-1);
    BOOST_TEST(contains(complaint(config), "schedule"));
    config = runnable();
    config.launch.transport = static_cast<transport>(2);
    BOOST_TEST(contains(complaint(config), "launch.transport = 2"));
    config = runnable();
    config.log = static_cast<log_level>(5);
    BOOST_TEST(contains(complaint(config), "log = 5"));
}

BOOST_AUTO_TEST_CASE(every_key_of_json) {
    const auto config = pool_config::from_json(json::parse(every_key));
    BOOST_TEST(config.name == "blue");
    BOOST_TEST(config.launch.program == "python3.11");
    BOOST_TEST(config.launch.args == (std::vector<std::string>{"-u", "worker.py"}),
               boost::test_tools::per_element());
    BOOST_TEST((config.launch.environment == std::map<std::string, std::string>{{"A", "1"}, {"B", ""}}));
    BOOST_TEST((config.launch.prefix == std::vector<std::string>{"nice", "-n", "1"}));
    BOOST_TEST(!config.launch.inherit_environment);
    BOOST_TEST(config.launch.working_directory == "/");
    BOOST_TEST(config.workers == 8u);
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
    BOOST_TEST(config.scaling.initial == 9u);
    BOOST_TEST(config.scaling.min == 8u);
    BOOST_TEST(config.scaling.max == 16u);
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
    BOOST_TEST(config.restart.limit == 26u);
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
    BOOST_TEST(config.output.line_bytes == 100u);
    BOOST_TEST(config.output.lines_per_second == 0u);
    BOOST_TEST(config.output.tail_bytes == 0u);
    BOOST_TEST((config.log == log_level::off));
}

BOOST_AUTO_TEST_CASE(json_leaves_out_what_it_does_not_say) {
    const auto config =
        pool_config::from_json(json::parse(R"({"launch":{"program":"p"},"queue":{"limit":5}})"));
    const pool_config defaults;
    BOOST_TEST(config.queue.limit == 5u);
    BOOST_TEST((config.queue.timeout == defaults.queue.timeout));
    BOOST_TEST(config.name == defaults.name);
    BOOST_TEST(config.launch.inherit_environment);
    BOOST_TEST((config.log == defaults.log));
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

BOOST_AUTO_TEST_CASE(json_has_the_same_ranges) {
    for (const auto& field : ranges()) {
        BOOST_TEST_CONTEXT(field.path) {
            for (const auto good : {field.low, field.high}) {
                const auto document = with(json_path(field), good);
                BOOST_TEST(complaint_of_json(document).empty(), complaint_of_json(document));
                BOOST_TEST(field.get(pool_config::from_json(document)) == good);
            }
            for (const auto bad : {field.low - 1, field.high + 1, -1LL, std::numeric_limits<long long>::min(),
                                   std::numeric_limits<long long>::max()}) {
                if (bad < field.low || bad > field.high) {
                    const auto problem = complaint_of_json(with(json_path(field), bad));
                    BOOST_TEST(contains(problem, field.path), bad << ": " << problem);
                    BOOST_TEST(contains(problem, std::to_string(bad)), bad << ": " << problem);
                }
            }
        }
    }
}

// -18446744073709 ms are, modulo 2^64 ns, half a millisecond.
BOOST_AUTO_TEST_CASE(times_in_json_do_not_wrap_around) {
    for (const long long value : {-18446744073709LL, -18446744073000LL, 18446744073710LL, 9223372036855LL,
                                  -9223372036855LL, -9223372036854775807LL}) {
        for (const auto& field : ranges()) {
            if (field.in == unit::milliseconds) {
                const auto problem = complaint_of_json(with(json_path(field), value));
                BOOST_TEST(contains(problem, json_path(field) + " = " + std::to_string(value)),
                           field.path << ", " << value << ": " << problem);
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(numbers_in_json_must_be_integers) {
    for (const auto& field : ranges()) {
        for (const auto& bad : {json::value(1.5), json::value("1"), json::value(true), json::value(nullptr),
                                json::value(json::array{1}), json::value(json::object()), json::value(1e300),
                                json::value(std::numeric_limits<std::uint64_t>::max())}) {
            const auto problem = complaint_of_json(with(json_path(field), bad));
            BOOST_TEST(contains(problem, json_path(field)), json::serialize(bad) << ": " << problem);
        }
    }
}

BOOST_DATA_TEST_CASE(unknown_keys_of_groups_are_rejected_by_path,
                     data::make({"launch", "start", "queue", "heartbeat", "stop", "restart", "limits",
                                 "output"}),
                     group) {
    for (const std::string key : {"limt", "", "timeout", "handler", "nested.key"}) {
        const std::string path = std::string(group) + "." + key;
        const auto document = json::object{{"launch", {{"program", "p"}}}};
        auto changed = document;
        if (changed[group].is_null()) {
            changed[group].emplace_object();
        }
        changed[group].as_object()[key] = 1;
        const auto problem = complaint_of_json(changed);
        BOOST_TEST(contains(problem, path + ": is not a known key"), problem);
    }
}

BOOST_AUTO_TEST_CASE(unknown_keys_at_the_top_are_rejected) {
    for (const std::string key :
         {"wokers", "request_timeout", "timeout_ms", "custom_scheduler", "", "Name", "queue.limit"}) {
        const auto problem = complaint_of_json(json::object{{"launch", {{"program", "p"}}}, {key, 1}});
        BOOST_TEST(contains(problem, " " + key + ": is not a known key"), problem);
    }
    // A group that stands behind it is read all the same.
    BOOST_TEST(contains(complaint_of_text(R"({"queue":{"limt":1},"launch":{"program":"p"}})"), "queue.limt"));
    BOOST_TEST(contains(complaint_of_text(R"({"launch":{"program":"p","limit":1},"queue":{"limit":1}})"),
                        "launch.limit"));
}

BOOST_DATA_TEST_CASE(json_that_is_no_object_is_rejected, data::make({"null", "1", "[]", R"("x")", "true"}),
                     text) {
    BOOST_TEST(contains(complaint_of_text(std::string_view(text)), "object"));
}

BOOST_AUTO_TEST_CASE(wrong_types_in_json) {
    struct row {
        std::string path;
        json::value bad;
    };
    std::vector<row> table;
    for (const auto* const path : {"name", "launch.program", "launch.transport", "launch.working_directory",
                                   "schedule", "log", "log_to"}) {
        for (const auto& bad : {json::value(1), json::value(nullptr), json::value(true),
                                json::value(json::array{"x"}), json::value(json::object())}) {
            table.push_back({path, bad});
        }
    }
    for (const auto* const path :
         {"launch.inherit_environment", "launch.remote_shell", "heartbeat.enabled", "heartbeat.dependent"}) {
        for (const auto& bad : {json::value(1), json::value("true"), json::value(nullptr)}) {
            table.push_back({path, bad});
        }
    }
    for (const auto* const path :
         {"launch", "start", "queue", "heartbeat", "stop", "restart", "limits", "output"}) {
        for (const auto& bad :
             {json::value(1), json::value("x"), json::value(nullptr), json::value(json::array())}) {
            table.push_back({path, bad});
        }
    }
    for (const auto& bad :
         {json::value("x"), json::value(json::object()), json::value(json::array{"x", 1})}) {
        table.push_back({"launch.args", bad});
    }
    for (const auto& bad : {json::value("0.5"), json::value(true), json::value(nullptr)}) {
        table.push_back({"restart.jitter", bad});
    }
    for (const auto& [path, bad] : table) {
        const auto problem = complaint_of_json(with(path, bad));
        BOOST_TEST(contains(problem, path), path << " = " << json::serialize(bad) << ": " << problem);
    }
}

BOOST_AUTO_TEST_CASE(enumerations_in_json) {
    const std::vector<std::pair<std::string, scheduling>> schedules{
        {"least_loaded", scheduling::least_loaded},
        {"round_robin", scheduling::round_robin},
        {"lifo", scheduling::lifo},
        {"fifo", scheduling::fifo}};
    for (const auto& [name, value] : schedules) {
        BOOST_TEST((pool_config::from_json(with("schedule", json::value(name))).schedule == value), name);
    }
    const std::vector<std::pair<std::string, log_level>> levels{{"debug", log_level::debug},
                                                                {"info", log_level::info},
                                                                {"warning", log_level::warning},
                                                                {"error", log_level::error},
                                                                {"off", log_level::off}};
    for (const auto& [name, value] : levels) {
        BOOST_TEST((pool_config::from_json(with("log", json::value(name))).log == value), name);
    }
    for (const auto* const bad : {"", "FIFO", "random", "fifo "}) {
        const auto problem = complaint_of_json(with("schedule", bad));
        BOOST_TEST(contains(problem, "schedule = \"" + std::string(bad) + "\""), problem);
        BOOST_TEST(contains(problem, "least_loaded, round_robin, lifo, fifo"), problem);
    }
    BOOST_TEST(contains(complaint_of_json(with("log", "loud")), "debug, info, warning, error, off"));
}

BOOST_AUTO_TEST_CASE(values_of_the_environment_are_never_shown) {
    const std::string nul("s3cret\0", 7);
    for (const auto& [name, value] : std::vector<std::pair<std::string, std::string>>{
             {"", "s3cret"}, {"A=B", "s3cret"}, {"SKEP_X", "s3cret"}, {"A", nul}}) {
        auto config = runnable();
        config.launch.environment = {{"GOOD", "s3cret"}, {name, value}};
        const auto problem = complaint(config);
        BOOST_TEST(!problem.empty());
        BOOST_TEST(!contains(problem, "s3cret"), problem);
    }
    for (const auto* const environment :
         {R"("A=s3cret")", R"(["A=s3cret"])", R"({"A":["s3cret"]})", R"({"A":{"s3cret":1}})",
          R"({"SKEP_A":"s3cret"})", R"({"":"s3cret"})", R"({"A":"s3cret\u0000"})",
          R"({"B":"s3cret","A":5433537})", R"({"A":null,"B":"s3cret"})"}) {
        const auto problem =
            complaint_of_text(R"({"launch":{"program":"p","environment":)" + std::string(environment) + "}}");
        BOOST_TEST(contains(problem, "launch.environment"), problem);
        BOOST_TEST(!contains(problem, "s3cret"), problem);
        BOOST_TEST(!contains(problem, "5433537"), problem);
    }
    auto config = runnable();
    config.launch.environment = {{"KEY", "s3cret"}};
    config.queue.limit = 99'999'999;
    BOOST_TEST(!contains(complaint(config), "s3cret"));
}

BOOST_AUTO_TEST_CASE(what_differs_from_slot_to_slot) {
    const auto config = pool_config::from_json(json::parse(every_key));
    const std::vector<std::vector<std::string>> args{{"--port", "1"}, {}};
    BOOST_TEST((config.launch.slot_args == args));
    const std::map<std::string, std::vector<std::string>> variables{{"DEVICE", {"0", "1"}}};
    BOOST_TEST((config.launch.slot_environment == variables));
    BOOST_TEST((config.log_to == log_destination::boost_log));

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

BOOST_AUTO_TEST_CASE(wrong_types_of_what_differs_from_slot_to_slot) {
    const std::string secret = "hunter2";
    for (const auto& value : {json::value(secret), json::value(json::array{secret}),
                              json::value(json::object{{"DEVICE", secret}}),
                              json::value(json::object{{"DEVICE", json::array{secret, 1}}})}) {
        const auto problem = complaint_of_json(with("launch.slot_environment", value));
        BOOST_TEST(contains(problem, "launch.slot_environment"), problem);
        BOOST_TEST(contains(problem, "of strings"), problem);
        BOOST_TEST(!contains(problem, secret), problem);
    }
    for (const auto& value : {json::value("x"), json::value(json::array{"x"}), json::value(json::object()),
                              json::value(json::array{json::array{1}})}) {
        const auto problem = complaint_of_json(with("launch.slot_args", value));
        BOOST_TEST(contains(problem, "launch.slot_args"), problem);
    }
}

BOOST_AUTO_TEST_SUITE_END()
