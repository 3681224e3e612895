// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// What a pool measures of its calls and starts, on virtual time.

#include "support/complete.hpp"
#include "support/fake_runtime.hpp"
#include "telemetry/call_recorder.hpp"
#include <skep/pool_metrics.hpp>

#include <boost/json/serialize.hpp>
#include <boost/test/unit_test.hpp>

#include <string>

namespace skep::test {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(metrics)

namespace {

bool is_about(duration measured, duration expected) {
    return std::chrono::abs(measured - expected) <= expected / 20 + 10ms;
}

void call_and_serve(manual_pool& pool, const std::string& command) {
    pool.execute(request(command));
    pool.serve();
    pool.run_until_idle();
}

} // namespace

BOOST_AUTO_TEST_CASE(calls_are_counted_by_command_and_outcome) {
    auto config = fake_config(1);
    config.queue.limit = 1;
    running_pool pool(config);
    call_and_serve(pool, "load");
    const auto given_up = pool.execute(request("predict"));
    pool.execute(request("predict"));
    pool.execute(request("predict")); // one too many
    given_up->cancel.emit(asio::cancellation_type::terminal);
    const auto figures = pool.metrics();
    BOOST_TEST(figures.commands.size() == 2u);
    BOOST_TEST(figures.commands.at("load").succeeded == 1u);
    BOOST_TEST(figures.commands.at("load").failures() == 0u);
    const auto& predict = figures.commands.at("predict");
    BOOST_TEST(predict.succeeded == 0u);
    BOOST_TEST(predict.failures() == 1u);
    BOOST_TEST(predict.failed.at(errc::cancelled) == 1u);
    BOOST_TEST(figures.others.failed.at(errc::pool_saturated) ==
               1u); // no worker had known the command by then
    BOOST_TEST(figures.calls().queue_time.count() == 3u);
    BOOST_TEST(figures.calls().run_time.count() == 2u); // the third was never sent
    BOOST_TEST(figures.calls().succeeded == figures.status.counters.succeeded);
    BOOST_TEST(figures.calls().failures() == figures.status.counters.failed);
}

BOOST_AUTO_TEST_CASE(times_are_those_of_the_calls) {
    auto config = fake_config(1);
    config.queue.timeout = 1h;
    running_pool pool(config);
    pool.execute(request("first"));
    pool.execute(request("second"));
    pool.advance(400ms);
    pool.serve();
    pool.advance(3s);
    pool.serve();
    pool.run_until_idle();
    const auto figures = pool.metrics();
    const auto& first = figures.commands.at("first");
    const auto& second = figures.commands.at("second");
    BOOST_TEST((first.queue_time.largest() < 10ms));
    BOOST_TEST(is_about(first.run_time.quantile(0.5), 400ms));
    BOOST_TEST(is_about(second.queue_time.quantile(0.5), 400ms));
    BOOST_TEST(is_about(second.run_time.quantile(0.5), 3s));
    BOOST_TEST(is_about(figures.calls().run_time.sum(), 3'400ms));
}

BOOST_AUTO_TEST_CASE(starts_are_timed) {
    manual_pool pool(fake_config(2));
    pool.runtime().on_start = never_ready;
    pool.start();
    pool.advance(2s);
    BOOST_TEST(pool.metrics().start_time.count() == 0u);
    pool.worker(0).shake_hands();
    pool.advance(1s);
    const auto figures = pool.metrics();
    BOOST_TEST(figures.start_time.count() == 1u);
    BOOST_TEST(is_about(figures.start_time.largest(), 2s));
}

BOOST_AUTO_TEST_CASE(so_many_commands_have_figures_of_their_own) {
    auto config = fake_config(1);
    config.metrics.commands = 2;
    running_pool pool(config);
    for (const auto* command : {"a", "b", "c", "d", "a", "c"}) {
        call_and_serve(pool, command);
    }
    const auto figures = pool.metrics();
    BOOST_TEST(figures.commands.size() == 2u);
    BOOST_TEST(figures.commands.at("a").succeeded == 2u);
    BOOST_TEST(figures.commands.at("b").succeeded == 1u);
    BOOST_TEST(figures.others.succeeded == 3u);
    BOOST_TEST(figures.calls().run_time.count() == 6u);
}

BOOST_AUTO_TEST_CASE(names_that_are_no_labels_have_no_figures_of_their_own) {
    running_pool pool(fake_config(1));
    pool.execute(request("\xFF"));
    pool.execute(request("unknown"));
    pool.run_until_idle();
    const auto id = pool.worker(0).take_call();
    pool.worker(0).fail(id, "skep.UnknownCommand", "no");
    pool.run_until_idle();
    call_and_serve(pool, "");
    call_and_serve(pool, std::string(129, 'x'));
    call_and_serve(pool, "known");
    const auto figures = pool.metrics();
    BOOST_TEST(figures.commands.size() == 1u);
    BOOST_TEST(figures.commands.count("known") == 1u);
    BOOST_TEST(figures.others.succeeded + figures.others.failures() == 4u);
}

BOOST_AUTO_TEST_CASE(none_are_kept_if_nobody_wants_them) {
    auto config = fake_config(1);
    config.metrics.enabled = false;
    running_pool pool(config);
    call_and_serve(pool, "work");
    const auto figures = pool.metrics();
    BOOST_TEST(figures.commands.empty());
    BOOST_TEST(figures.calls().queue_time.count() == 0u);
    BOOST_TEST(figures.status.counters.succeeded == 1u);
}

BOOST_AUTO_TEST_CASE(as_json) {
    running_pool pool(fake_config(1));
    call_and_serve(pool, "work");
    const auto text = to_json(pool.metrics());
    BOOST_TEST(text.at("status").at("name").as_string() == "default");
    BOOST_TEST(text.at("calls").at("succeeded").to_number<int>() == 1);
    BOOST_TEST(text.at("commands").at("work").at("run_time").at("count").to_number<int>() == 1);
    BOOST_TEST(text.at("start_time").at("p99_ms").is_double());
    BOOST_TEST(text.at("others").at("failed").as_object().empty());
}

BOOST_AUTO_TEST_CASE(a_hundred_nodes_have_counts_of_their_own) {
    call_recorder recorder{metrics_options()};
    for (int round = 0; round < 2; ++round) {
        for (int i = 0; i < 103; ++i) {
            recorder.record_at_node("node-" + std::to_string(i), {});
        }
    }
    recorder.record_at_node("node-7", errc::timeout);
    pool_metrics figures;
    recorder.report(figures);
    BOOST_TEST(figures.nodes.size() == 101u);
    BOOST_TEST(figures.nodes.at("node-99").succeeded == 2u);
    BOOST_TEST(figures.nodes.at("").succeeded == 6u);
    BOOST_TEST(figures.nodes.at("node-7").failed.at(errc::timeout) == 1u);
    figures.status.remote.emplace();
    const auto shown = boost::json::serialize(to_json(figures).at("nodes").at("node-7"));
    BOOST_TEST(shown == R"({"succeeded":2,"failed":{"timeout":1}})");
}

BOOST_AUTO_TEST_CASE(nodes_are_not_counted_if_nobody_wants_figures) {
    metrics_options options;
    options.enabled = false;
    call_recorder recorder(options);
    recorder.record_at_node("node", {});
    pool_metrics figures;
    recorder.report(figures);
    BOOST_TEST(figures.nodes.empty());
    BOOST_TEST(!to_json(figures).contains("nodes"));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
