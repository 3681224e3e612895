// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "support/config.hpp"
#include "support/text.hpp"

#include <boost/json/parse.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace skep;
using namespace skep::test;
using namespace std::chrono_literals;
namespace data = boost::unit_test::data;
namespace json = boost::json;

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
    BOOST_TEST((config.wait == wait_mode::adaptive));
    BOOST_TEST((config.thread == pool_thread::caller));
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
        {"launch.preload = true: needs \"socket\" as launch.transport",
         [](pool_config& bad) { bad.launch.preload = true; }},
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

BOOST_AUTO_TEST_CASE(a_template_needs_a_prefix_that_replaces_itself) {
    auto config = runnable();
    config.launch.preload = true;
    BOOST_TEST(complaint(config).empty());
    for (const auto* const program : {"nice", "ionice", "chrt", "/usr/bin/taskset", "numactl"}) {
        config.launch.prefix = {program, "-n", "1"};
        BOOST_TEST(complaint(config).empty());
    }
    for (const auto* const program : {"sh", "docker", "nice/sh"}) {
        config.launch.prefix = {program};
        const auto problem = complaint(config);
        BOOST_TEST(contains(problem, "launch.preload = true: needs a launch.prefix that begins with nice"),
                   problem);
    }
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
    config.workers.reset();
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
    for (auto* const chosen : {&config.workers, &config.scaling.initial, &config.scaling.min,
                               &config.scaling.max, &config.restart.limit}) {
        const auto valid = std::exchange(*chosen, 0);
        BOOST_TEST(contains(complaint(config), "0: must be 1..")); // the pool chooses if it is not set
        *chosen = valid;
    }
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
    config.schedule = static_cast<scheduling>(5);
    BOOST_TEST(contains(complaint(config), "schedule = 5"));
    config.schedule = static_cast<scheduling>(-1);
    BOOST_TEST(contains(complaint(config), "schedule"));
    config = runnable();
    config.wait = static_cast<wait_mode>(-1);
    BOOST_TEST(contains(complaint(config), "wait"));
    config = runnable();
    config.thread = static_cast<pool_thread>(2);
    BOOST_TEST(contains(complaint(config), "thread = 2"));
    config = runnable();
    config.launch.transport = static_cast<transport>(2);
    BOOST_TEST(contains(complaint(config), "launch.transport = 2"));
    config = runnable();
    config.log_level = static_cast<log_level>(5);
    BOOST_TEST(contains(complaint(config), "log_level = 5"));
}

BOOST_AUTO_TEST_SUITE_END()
