// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// What an admin server keeps of the past, for a page that is opened later.

#include "admin/admin_client.hpp"
#include "admin/cpu_meter.hpp"
#include "admin/event_history.hpp"
#include "admin/host_facts.hpp"
#include "support/config.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <string>
#include <utility>

namespace skep::test {

BOOST_AUTO_TEST_SUITE(admin_history)

namespace {

events::worker_terminated crash(std::uint64_t generation, std::string correlation_id) {
    events::worker_terminated end;
    end.worker = {"models", 0, generation};
    end.reason = "its process ended";
    end.status = "signal 11 (Segmentation fault)";
    end.outcome = worker_state::failed;
    end.unanswered = {{{"predict", std::move(correlation_id)}}, 1};
    end.output_tail = "Fatal Python error";
    return end;
}

events::request_failed failure(std::string command, std::string outcome, std::string correlation_id = {}) {
    events::request_failed call;
    call.pool = "models";
    call.command = std::move(command);
    call.outcome = std::move(outcome);
    call.correlation_id = std::move(correlation_id);
    return call;
}

json::array faults_in(const event_history& history) {
    return history.all().at("faults").as_array();
}

std::string text_of(const json::value& value) {
    return std::string(value.as_string());
}

} // namespace

BOOST_AUTO_TEST_CASE(equal_faults_are_counted_with_the_first_and_the_last_time) {
    event_history history;
    for (int i = 1; i <= 30; ++i) {
        history.record(crash(static_cast<std::uint64_t>(i), "call-" + std::to_string(i)), 1000 * i);
    }
    const auto faults = faults_in(history);
    BOOST_REQUIRE(faults.size() == 1u);
    const auto& fault = faults[0].as_object();
    BOOST_TEST(fault.at("event") == "worker.terminated");
    BOOST_TEST(fault.at("pool") == "models");
    BOOST_TEST(fault.at("command") == "predict");
    BOOST_TEST(fault.at("cause") == "its process ended, signal 11 (Segmentation fault)");
    BOOST_TEST(fault.at("count").to_number<int>() == 30);
    BOOST_TEST(fault.at("first_at_ms").to_number<int>() == 1000);
    BOOST_TEST(fault.at("last_at_ms").to_number<int>() == 30'000);
    const auto& last = fault.at("last").as_array();
    BOOST_TEST(last.size() == fault_list::most_occurrences);
    const auto& newest = last.back().as_object();
    BOOST_TEST(newest.at("unanswered").at("named").at(0).at("correlation_id") == "call-30");
    BOOST_TEST(newest.at("output_tail") == "Fatal Python error");
    BOOST_TEST(!last.front().as_object().contains("output_tail"));
}

BOOST_AUTO_TEST_CASE(what_is_a_fault) {
    const auto is_fault = [](const event& subject) { return fault_in(subject).has_value(); };
    BOOST_TEST(is_fault(crash(1, "c")));
    auto planned = crash(1, "c");
    planned.planned = true;
    BOOST_TEST(!is_fault(planned));
    BOOST_TEST(is_fault(failure("predict", "remote_error")));
    BOOST_TEST(!is_fault(failure("predict", "cancelled")));
    BOOST_TEST(is_fault(events::breaker_changed{"p", "closed", "open"}));
    BOOST_TEST(!is_fault(events::breaker_changed{"p", "open", "half_open"}));
    BOOST_TEST(is_fault(events::pool_init_completed{"p", {}, 0, "no worker came up"}));
    BOOST_TEST(!is_fault(events::pool_init_completed{"p", {}, 1, ""}));
    BOOST_TEST(is_fault(events::worker_health_check{{}, {}, false, "no GPU"}));
    BOOST_TEST(!is_fault(events::worker_health_check{{}, {}, true, ""}));
    BOOST_TEST(is_fault(events::pool_unavailable()));
    BOOST_TEST(is_fault(events::pool_saturated()));
    BOOST_TEST(is_fault(events::heartbeat_missed()));
    BOOST_TEST(is_fault(events::lease_leaked()));
    BOOST_TEST(!is_fault(events::tool_called()));
    BOOST_TEST(!is_fault(events::worker_ready()));
}

BOOST_AUTO_TEST_CASE(failed_calls_displace_neither_events_nor_crashes) {
    event_history history;
    history.record(crash(1, "c"), 1);
    for (int i = 0; i < 1000; ++i) {
        history.record(failure("command-" + std::to_string(i), "remote_error"), 2 + i);
    }
    BOOST_TEST(history.all().at("events").as_array().size() == 1u);
    const auto faults = faults_in(history);
    BOOST_TEST(faults.size() == 1 + event_history::most_faults / 2);
    BOOST_TEST(faults.front().at("command") == "command-900");
    BOOST_TEST(faults[event_history::most_faults / 2 - 1].at("command") == "command-999");
    BOOST_TEST(faults.back().at("event") == "worker.terminated");
}

BOOST_AUTO_TEST_CASE(the_last_events_are_kept_and_numbered) {
    event_history history;
    for (int i = 1; i <= 600; ++i) {
        const auto shown = history.record(events::worker_ready(), i);
        BOOST_TEST(shown.at("serial").to_number<int>() == i);
    }
    const auto kept = history.all().at("events").as_array();
    BOOST_TEST(kept.size() == event_history::most_events);
    BOOST_TEST(kept.front().at("at_ms").to_number<int>() == 101);
    BOOST_TEST(kept.back().at("at_ms").to_number<int>() == 600);
}

BOOST_AUTO_TEST_CASE(passed_health_checks_are_not_kept) {
    event_history history;
    history.record(events::worker_health_check{{}, {}, true, ""}, 1);
    history.record(events::worker_health_check{{}, {}, false, "no GPU"}, 2);
    BOOST_TEST(history.all().at("events").as_array().size() == 1u);
}

BOOST_AUTO_TEST_CASE(of_a_long_text_the_beginning_is_kept_and_of_output_the_end) {
    event_history history;
    auto end = crash(1, "c");
    end.reason = "begin" + std::string(10'000, 'x');
    end.output_tail = std::string(10'000, 'x') + "end";
    const auto shown = history.record(end, 1);
    BOOST_TEST(text_of(shown.at("reason")).size() == 8192u);
    BOOST_TEST(text_of(shown.at("reason")).starts_with("begin"));
    BOOST_TEST(text_of(shown.at("output_tail")).size() == 8192u);
    BOOST_TEST(text_of(shown.at("output_tail")).ends_with("end"));
}

BOOST_AUTO_TEST_CASE(faults_of_calls_and_of_workers_have_different_ids) {
    event_history history;
    history.record(failure("a", "timeout"), 1);
    history.record(crash(1, "c"), 2);
    const auto faults = faults_in(history);
    BOOST_REQUIRE(faults.size() == 2u);
    BOOST_TEST(faults[0].at("id") != faults[1].at("id"));
}

BOOST_AUTO_TEST_CASE(faults_that_changed_are_taken_once) {
    event_history history;
    history.record(failure("a", "timeout"), 1);
    history.record(crash(1, "c"), 2);
    BOOST_TEST(history.take_changed_faults().size() == 2u);
    BOOST_TEST(history.take_changed_faults().empty());
    history.record(failure("a", "timeout"), 3);
    const auto changed = history.take_changed_faults();
    BOOST_REQUIRE(changed.size() == 1u);
    BOOST_TEST(changed[0].at("count").to_number<int>() == 2);
}

BOOST_AUTO_TEST_CASE(a_configuration_is_shown_without_secrets) {
    pool_config config = basic_pool(1);
    config.launch.prefix = {"env", "TOKEN=secret-1"};
    config.launch.args = {"--key", "secret-2"};
    config.launch.slot_args = {{"secret-3"}};
    config.launch.environment = {{"PASSWORD", "secret-4"}, {"REMOVED", std::nullopt}};
    config.launch.slot_environment = {{"KEY", {"secret-5"}}};
    asio::io_context context;
    const pool shown_pool(context, config);
    const auto facts = host_facts({{"default", shown_pool.configuration()}}, 17);
    const auto shown = json::serialize(facts);
    BOOST_TEST(!contains(shown, "secret"), shown);
    const auto& launch = facts.at("configurations").at("default").at("launch");
    BOOST_TEST(launch.at("args") == "2, not shown");
    BOOST_TEST(launch.at("environment").at("PASSWORD") == "(not shown)");
    BOOST_TEST(launch.at("environment").at("REMOVED").is_null());
    BOOST_TEST(text_of(launch.at("program")) == config.launch.program);
    BOOST_TEST(facts.at("started_at_ms").to_number<int>() == 17);
    BOOST_TEST(!facts.at("version").as_string().empty());
}

BOOST_AUTO_TEST_CASE(processors_used_by_workers) {
    static duration used;
    used = 1s;
    cpu_meter meter([](pid_t pid) { return pid == 7 ? std::optional<duration>() : std::optional(used); });
    pool_status status;
    for (const pid_t pid : {1, 2, 7, 0}) {
        status.workers.emplace_back();
        status.workers.back().id = {"p", static_cast<std::uint32_t>(pid), 1};
        status.workers.back().pid = pid;
        status.workers.back().resident_bytes = 1;
    }
    BOOST_TEST(!meter.used(status, time_point(10s)));
    used += 500ms;
    const auto both = meter.used(status, time_point(12s));
    BOOST_REQUIRE(both);
    BOOST_TEST(*both == 0.5);
    status.workers[0].id.generation = 2; // a new process
    used += 1s;
    BOOST_TEST(meter.used(status, time_point(13s)).value_or(0) == 1);
}

BOOST_AUTO_TEST_CASE(a_page_that_is_opened_after_the_crash_shows_it) {
    with_page(basic_pool(1), {}, [](pool& workers, unsigned short port) -> asio::awaitable<void> {
        auto ends = workers.events().subscribe<events::worker_terminated>();
        auto waiting = ends.next();
        try {
            request call = request("die").correlation_id("the-call");
            co_await workers.execute(std::move(call));
        } catch (const error&) {}
        co_await std::move(waiting);
        co_await pause(a_moment); // the server is told on its own strand
        const auto executor = co_await asio::this_coro::executor;
        client page(executor);
        co_await page.connect(port);
        co_await page.send("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n");
        co_await page.read_until("event: host\ndata: ");
        const std::string host = co_await page.read_until("\n\n");
        BOOST_TEST(json::parse(host).at("configurations").as_object().contains("default"));
        co_await page.read_until("event: history\ndata: ");
        const std::string text = co_await page.read_until("\n\n");
        const auto history = json::parse(text);
        bool is_crash_kept = false;
        bool is_call_kept = false;
        for (const auto& each : history.at("faults").as_array()) {
            const auto& last = each.at("last").as_array().back();
            is_crash_kept |= each.at("event") == "worker.terminated" &&
                             last.at("unanswered").at("named").at(0).at("correlation_id") == "the-call";
            is_call_kept |= each.at("event") == "request.failed" && last.at("correlation_id") == "the-call";
        }
        BOOST_TEST(is_crash_kept, text);
        BOOST_TEST(is_call_kept, text);
        BOOST_TEST(contains(json::serialize(history.at("events")), "worker.terminated"));
    });
}

BOOST_AUTO_TEST_CASE(the_end_of_a_link_is_kept_once) {
    event_history history;
    events::link_lost of_client;
    of_client.worker = {"default", 0, 1};
    of_client.node = "gpu-7";
    of_client.reason = "silence";
    history.record(of_client, 1); // worker.terminated tells it
    BOOST_TEST(history.all().at("events").as_array().empty());
    BOOST_TEST(faults_in(history).empty());
    events::link_lost of_node;
    of_node.pool = "default";
    of_node.node = "gpu-7";
    of_node.client = "shop";
    of_node.reason = "silence";
    history.record(of_node, 2);
    BOOST_TEST(history.all().at("events").as_array().size() == 1u);
    BOOST_REQUIRE(faults_in(history).size() == 1u);
    BOOST_TEST(text_of(faults_in(history)[0].at("cause")) == "shop: silence");
}

BOOST_AUTO_TEST_CASE(an_ejection_and_a_lost_bus_are_faults_and_a_joined_node_is_none) {
    event_history history;
    history.record(events::node_joined{"default", "gpu-7", "epoch", 4}, 1);
    BOOST_TEST(faults_in(history).empty());
    history.record(events::node_ejected{"default", "gpu-7", std::chrono::seconds(5), 1}, 2);
    history.record(events::bus_down{"default", {}, {}}, 3);
    const auto faults = faults_in(history);
    BOOST_REQUIRE(faults.size() == 2u);
    BOOST_TEST(text_of(faults[0].at("cause")) == "links to node gpu-7 were lost");
    BOOST_TEST(text_of(faults[1].at("cause")) == "the connection was lost");
    BOOST_TEST(history.all().at("events").as_array().size() == 3u);
}

BOOST_AUTO_TEST_CASE(a_refused_template_and_an_unplanned_end_of_one_are_faults) {
    event_history history;
    history.record(events::template_started{"default", 7, std::chrono::seconds(2)}, 1);
    history.record(events::template_ended{"default", 7, true, "replaced"}, 2);
    BOOST_TEST(faults_in(history).empty());
    history.record(events::template_ended{"default", 8, false, "it has ended"}, 3);
    history.record(events::template_refused{"default", "3 threads: a, b, c"}, 4);
    const auto faults = faults_in(history);
    BOOST_REQUIRE(faults.size() == 2u);
    BOOST_TEST(text_of(faults[0].at("cause")) == "it has ended");
    BOOST_TEST(text_of(faults[1].at("cause")) == "3 threads: a, b, c");
    BOOST_TEST(history.all().at("events").as_array().size() == 4u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
