// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// What pools measure, as Prometheus gets to see it.

#include "support/config.hpp"
#include "support/other_pool.hpp"
#include "support/run.hpp"
#include <skep/pool_manager.hpp>
#include <skep/prometheus.hpp>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/test/unit_test.hpp>

#include <cstdio>
#include <map>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <utility>

namespace skep::test {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(prometheus_suite)

namespace {

std::string text_of(const std::vector<prometheus::MetricFamily>& families) {
    return prometheus::TextSerializer().Serialize(families);
}

/// Each sample's value by its name and labels, as they stand in the text.
std::map<std::string, double> samples_of(const std::string& text) {
    std::map<std::string, double> found;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        const auto end = line.rfind(' ');
        if (!line.starts_with('#') && end != std::string::npos) {
            BOOST_TEST(found.emplace(line.substr(0, end), std::stod(line.substr(end + 1))).second,
                       "twice: " << line);
        }
    }
    return found;
}

/// What promtool has to say about the text; empty if nothing.
std::string complaints_of_promtool(const std::string& text) {
    const scratch_folder folder;
    const auto complaints = folder / "complaints";
    const std::string command = std::string(SKEP_PROMTOOL) + " check metrics >" + complaints + " 2>&1";
    auto* const promtool = ::popen(command.c_str(), "w");
    BOOST_REQUIRE(promtool != nullptr);
    std::fwrite(text.data(), 1, text.size(), promtool);
    const int status = ::pclose(promtool);
    std::ifstream file(complaints);
    std::string said{std::istreambuf_iterator<char>(file), {}};
    return status == 0 ? said : said + "promtool ended with " + std::to_string(status);
}

/// Some that succeed, one that fails and one that is unknown.
asio::awaitable<void> make_calls(pool& workers) {
    for (int i = 0; i < 5; ++i) {
        request call = request("echo").arg("value", i);
        co_await workers.execute(std::move(call));
    }
    for (const auto* command : {"fail", "no_such_command"}) {
        request call = request(command).arg("message", "no");
        auto failing = failure_of(workers.execute(std::move(call)));
        co_await std::move(failing);
    }
}

/// | `name` | type | labels | what it is |
std::string table_of(const std::vector<prometheus::MetricFamily>& families) {
    std::string table;
    for (const auto& family : families) {
        const char* type = family.type == prometheus::MetricType::Counter ? "counter"
                           : family.type == prometheus::MetricType::Gauge ? "gauge"
                                                                          : "histogram";
        table += "| `" + family.name + "` | " + type + " |";
        const char* separator = " ";
        for (const auto& label : family.metric.front().label) {
            table += std::exchange(separator, ", ") + ("`" + label.name + "`");
        }
        table += " | " + family.help + " |\n";
    }
    return table;
}

} // namespace

BOOST_AUTO_TEST_CASE(the_readme_lists_them_all) {
    pool_metrics least;
    least.status.workers.emplace_back();
    least.batches["embed"].wait_time.record(duration());
    least.status.remote.emplace().nodes.emplace_back();
    least.status.preload.emplace();
    least.nodes["gpu-7"].succeeded = 1;
    const auto table = table_of(to_families({least}));
    std::ifstream file(std::string(SKEP_TEST_DIR) + "/../lib/telemetry/README.md");
    const std::string readme{std::istreambuf_iterator<char>(file), {}};
    BOOST_TEST(readme.find(table) != std::string::npos, "this is to be its table:\n" << table);
}

BOOST_AUTO_TEST_CASE(promtool_has_nothing_to_complain_of) {
    with_pool(basic_pool(2), [](pool& workers) -> asio::awaitable<void> {
        co_await make_calls(workers);
        std::vector<pool_metrics> all;
        const auto measured = co_await workers.metrics();
        all.push_back(measured);
        all.push_back(measured);
        all.back().status.name = "another \"pool\"\\";
        BOOST_TEST(complaints_of_promtool(text_of(to_families(all))) == "");
    });
}

BOOST_AUTO_TEST_CASE(each_family_is_there_once) {
    with_pool(basic_pool(1), [](pool& workers) -> asio::awaitable<void> {
        const auto measured = co_await workers.metrics();
        std::set<std::string> names;
        const std::vector<pool_metrics> two{measured, measured};
        for (const auto& family : to_families(two)) {
            BOOST_TEST(names.insert(family.name).second, family.name);
            BOOST_TEST(!family.help.empty(), family.name);
        }
        BOOST_TEST(names.size() > 20u);
    });
}

BOOST_AUTO_TEST_CASE(samples_are_what_has_happened) {
    with_pool(basic_pool(2), [](pool& workers) -> asio::awaitable<void> {
        co_await make_calls(workers);
        const auto measured = co_await workers.metrics();
        const std::vector<pool_metrics> one{measured};
        const auto samples = samples_of(text_of(to_families(one)));
        const auto call = [](const std::string& command, const std::string& outcome) {
            return "skep_calls_total{pool=\"default\",command=\"" + command + "\",outcome=\"" + outcome +
                   "\"}";
        };
        BOOST_TEST(samples.at(call("echo", "ok")) == 5);
        BOOST_TEST(samples.at(call("fail", "ok")) == 0);
        BOOST_TEST(samples.at(call("fail", "remote_error")) == 1);
        BOOST_TEST(samples.at(call("", "unknown_command")) == 1);
        double calls = 0;
        for (const auto& [name, value] : samples) {
            calls += name.starts_with("skep_calls_total") ? value : 0;
        }
        const auto& counters = measured.status.counters;
        BOOST_TEST(calls == static_cast<double>(counters.succeeded + counters.failed));
        BOOST_TEST(samples.at("skep_workers{pool=\"default\",state=\"ready\"}") == 2);
        BOOST_TEST(samples.at("skep_workers_started_total{pool=\"default\"}") == 2);
        BOOST_TEST(samples.at("skep_worker_start_seconds_count{pool=\"default\"}") == 2);
        BOOST_TEST(samples.at("skep_pool_can_serve{pool=\"default\"}") == 1);
        BOOST_TEST(samples.at("skep_call_run_seconds_count{pool=\"default\",command=\"echo\"}") == 5);
        BOOST_TEST(samples.at("skep_worker_resident_bytes{pool=\"default\"}") > 1e6);
    });
}

BOOST_AUTO_TEST_CASE(load_capacity_and_availability_are_those_of_the_status) {
    pool_metrics measured;
    measured.status.name = "p";
    measured.status.counters.waited = 7;
    const auto add = [&](std::uint32_t slot, std::size_t load, std::size_t capacity,
                         availability_view looks) {
        auto& added = measured.status.workers.emplace_back();
        added.id = {"p", slot, 1};
        added.load = load;
        added.capacity = capacity;
        added.availability = looks;
    };
    add(0, 3, 4, availability_view::available);
    add(1, 2, 2, availability_view::busy);
    add(1, 0, 2, availability_view::recovering); // the successor of the one before
    add(2, 0, 0, availability_view::tainted);
    add(3, 1, 4, availability_view::available);
    add(4, 0, 1, availability_view::dead);
    const std::vector<pool_metrics> one{measured};
    const auto samples = samples_of(text_of(to_families(one)));
    const auto of_slot = [&](const std::string& name, int slot) {
        return samples.at("skep_worker_" + name + "{pool=\"p\",slot=\"" + std::to_string(slot) + "\"}");
    };
    BOOST_TEST(of_slot("load", 0) == 3);
    BOOST_TEST(of_slot("capacity", 0) == 4);
    BOOST_TEST(of_slot("load", 1) == 2);
    BOOST_TEST(of_slot("capacity", 1) == 4);
    BOOST_TEST(of_slot("capacity", 2) == 0);
    BOOST_TEST(of_slot("load", 3) == 1);
    const auto looking = [&](const std::string& how) {
        return samples.at("skep_workers_by_availability{pool=\"p\",availability=\"" + how + "\"}");
    };
    BOOST_TEST(looking("available") == 2);
    for (const auto* each : {"busy", "tainted", "recovering", "dead"}) {
        BOOST_TEST(looking(each) == 1, each);
    }
    BOOST_TEST(samples.at("skep_calls_waited_total{pool=\"p\"}") == 7);
}

/// A thread that runs an execution context, as services have.
class context_thread {
public:
    asio::io_context context;
    ~context_thread() {
        work_.reset();
        thread_.join();
    }

private:
    asio::executor_work_guard<asio::io_context::executor_type> work_{context.get_executor()};
    std::thread thread_{[this] { context.run(); }};
};

BOOST_AUTO_TEST_CASE(a_collector_asks_all_pools_of_a_manager_from_a_thread_of_its_own) {
    context_thread service;
    manager_config config;
    config.pools = {basic_pool(1), basic_pool(1)};
    config.pools[1].name = "second";
    pool_manager pools(service.context, config);
    asio::co_spawn(service.context, pools.start(), asio::use_future).get();
    const prometheus_collector collector(pools);
    const auto samples = samples_of(text_of(collector.Collect()));
    BOOST_TEST(samples.at("skep_workers_started_total{pool=\"default\"}") == 1);
    BOOST_TEST(samples.at("skep_workers_started_total{pool=\"second\"}") == 1);
    asio::co_spawn(service.context, pools.shutdown(), asio::use_future).get();
    const auto after = samples_of(text_of(collector.Collect()));
    BOOST_TEST(after.at("skep_pool_can_serve{pool=\"second\"}") == 0);
}

BOOST_AUTO_TEST_CASE(a_pool_that_does_not_answer_is_left_out_in_time) {
    asio::io_context nobody_runs_it;
    pool workers(nobody_runs_it, basic_pool(1));
    const prometheus_collector collector(workers, 20ms);
    BOOST_TEST(collector.Collect().empty());
}

BOOST_AUTO_TEST_CASE(a_timeout_out_of_range_is_refused) {
    asio::io_context context;
    pool workers(context, basic_pool(1));
    BOOST_CHECK_EXCEPTION(prometheus_collector(workers, 2min), error, [](const error& problem) {
        return problem.kind() == errc::invalid_config &&
               std::string(problem.what()).find("timeout") != std::string::npos;
    });
}

BOOST_AUTO_TEST_CASE(a_collector_shows_nodes_and_keeps_pools_of_one_name_apart) {
    context_thread service;
    manager_config config;
    config.pools = {basic_pool(1)};
    pool_manager pools(service.context, config);
    const auto nodes = std::make_shared<other_pool>(service.context.get_executor(), "default");
    nodes->add_node("gpu-7");
    nodes->add_node("gpu-8", node_state::silent);
    nodes->figures.status.counters.busy_answers = 3;
    pools.add("default", nodes);
    const prometheus_collector collector(pools);
    const auto text = text_of(collector.Collect());
    auto samples = samples_of(text);
    BOOST_TEST(samples[R"(skep_nodes{pool="default-elsewhere",state="linked"})"] == 1);
    BOOST_TEST(samples[R"(skep_nodes{pool="default-elsewhere",state="silent"})"] == 1);
    BOOST_TEST(samples[R"(skep_node_calls_total{pool="default-elsewhere",node="gpu-7",outcome="ok"})"] == 1);
    BOOST_TEST(samples[R"(skep_busy_answers_total{pool="default-elsewhere"})"] == 3);
    BOOST_TEST(samples.contains(R"(skep_pool_can_serve{pool="default"})"));
    BOOST_TEST(!samples.contains(R"(skep_bus_up{pool="default"})"));
    BOOST_TEST(complaints_of_promtool(text) == "");
    asio::co_spawn(service.context, pools.shutdown(), asio::use_future).get();
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
