// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Spans on their way to a collector that records what it gets, or does not take it.

#include "otlp/recording_collector.hpp"

#include <set>

namespace skep::test {

BOOST_AUTO_TEST_SUITE(exporter)

namespace {

void put(event_bus& into, int count) {
    for (int i = 0; i < count; ++i) {
        into.emit<events::span>([] {
            events::span span;
            span.what = "predict";
            span.trace_id = "4bf92f3577b34da6a3ce929d0e0e4736";
            span.span_id = "00f067aa0ba902b7";
            return span;
        });
    }
}

otlp_options quick_options(unsigned short port) {
    otlp_options options;
    options.port = port;
    options.interval = 20ms;
    options.backoff = 10ms;
    options.timeout = 2s;
    return options;
}

/// `body(collector, bus, options)` is a coroutine.
template <class Body>
void with_collector(Body body) {
    run([&body](asio::io_context& context) -> asio::awaitable<void> {
        recording_collector collector(context.get_executor());
        event_bus bus;
        otlp_options options = quick_options(collector.port());
        co_await body(collector, bus, options);
        co_await collector.end();
    });
}

asio::awaitable<bool> has_sent(otlp_exporter& by, std::uint64_t count) {
    auto is_sent = [&by, count] { return by.counts().sent == count; };
    const bool sent = co_await eventually(is_sent);
    co_return sent;
}

} // namespace

BOOST_AUTO_TEST_CASE(spans_go_in_batches_over_one_connection) {
    with_collector(
        [](recording_collector& collector, event_bus& bus, otlp_options& options) -> asio::awaitable<void> {
            options.batch = 10;
            options.path = "/some/where";
            options.headers = {{"Authorization", "Bearer x"}};
            otlp_exporter exporter(co_await asio::this_coro::executor, bus, options);
            put(bus, 25);
            const bool sent = co_await has_sent(exporter, 25);
            BOOST_TEST(sent);
            BOOST_TEST(collector.connections == 1);
            std::multiset<std::size_t> sizes;
            for (const auto& each : collector.taken) {
                sizes.insert(collector.spans_in(each.body()).size());
                BOOST_TEST(each.target() == "/some/where");
                BOOST_TEST(each[http::field::content_type] == "application/json");
                BOOST_TEST(each[http::field::authorization] == "Bearer x");
                BOOST_TEST(each[http::field::host] == "127.0.0.1:" + std::to_string(options.port));
            }
            BOOST_TEST((sizes == std::multiset<std::size_t>{5, 10, 10}));
            co_await exporter.stop();
        });
}

BOOST_AUTO_TEST_CASE(a_collector_that_has_hung_up_or_has_no_time_is_asked_again) {
    with_collector(
        [](recording_collector& collector, event_bus& bus, otlp_options& options) -> asio::awaitable<void> {
            otlp_exporter exporter(co_await asio::this_coro::executor, bus, options);
            put(bus, 1);
            bool sent = co_await has_sent(exporter, 1);
            BOOST_TEST(sent);
            collector.hang_up();
            for (const unsigned code : {429u, 502u, 503u, 504u}) {
                collector.answers.push_back(refusal(code, code == 503 ? "0" : ""));
            }
            put(bus, 1);
            sent = co_await has_sent(exporter, 2);
            BOOST_TEST(sent);
            BOOST_TEST(collector.refused == 4);
            BOOST_TEST(exporter.counts().lost == 0u);
            co_await exporter.stop();
        });
}

BOOST_AUTO_TEST_CASE(it_waits_for_as_long_as_it_is_told_to) {
    with_collector(
        [](recording_collector& collector, event_bus& bus, otlp_options& options) -> asio::awaitable<void> {
            collector.answers.push_back(refusal(503, "1"));
            otlp_exporter exporter(co_await asio::this_coro::executor, bus, options);
            const auto begun = std::chrono::steady_clock::now();
            put(bus, 1);
            const bool sent = co_await has_sent(exporter, 1);
            BOOST_TEST(sent);
            BOOST_TEST((std::chrono::steady_clock::now() - begun >= 1s));
            co_await exporter.stop();
        });
}

BOOST_AUTO_TEST_CASE(what_is_refused_or_cannot_be_sent_is_lost_and_told_of) {
    with_collector([](recording_collector& collector, event_bus& bus,
                      otlp_options& options) -> asio::awaitable<void> {
        std::vector<std::string> told;
        options.attempts = 2;
        options.on_problem = [&told](std::string_view why) {
            told.emplace_back(why);
            throw std::runtime_error("of no account");
        };
        collector.answers.push_back(refusal(400));
        http::response<http::string_body> in_part(http::status::ok, 11);
        in_part.body() = R"({"partialSuccess":{"rejectedSpans":1,"errorMessage":"too old"}})";
        collector.answers.push_back(std::move(in_part));
        otlp_exporter exporter(co_await asio::this_coro::executor, bus, options);
        auto has_told = [&told](std::size_t count) {
            return eventually([&told, count] { return told.size() == count; });
        };
        put(bus, 3);
        bool is_told = co_await has_told(1);
        BOOST_REQUIRE(is_told);
        BOOST_TEST(told[0] == "3 spans were lost, as the collector at 127.0.0.1:" +
                                  std::to_string(options.port) + " did not take them: it has answered 400");
        put(bus, 2);
        is_told = co_await has_told(2);
        BOOST_REQUIRE(is_told);
        BOOST_TEST(told[1].ends_with("too old"));
        BOOST_TEST(exporter.counts().sent == 1u);
        collector.close();
        put(bus, 2);
        is_told = co_await has_told(3);
        BOOST_REQUIRE(is_told);
        BOOST_TEST(told[2].ends_with("Connection refused"));
        BOOST_TEST(exporter.counts().lost == 6u);
        co_await exporter.stop();
    });
}

BOOST_AUTO_TEST_CASE(an_answer_that_is_none_puts_nothing_out_of_step) {
    with_collector(
        [](recording_collector& collector, event_bus& bus, otlp_options& options) -> asio::awaitable<void> {
            const auto executor = co_await asio::this_coro::executor;
            collector.answers.push_back(refusal(103)); // early hints: the batch is sent once more
            http::response<http::string_body> endless(http::status::ok, 11);
            endless.body() = std::string(1 << 20, ' ');
            otlp_exporter exporter(executor, bus, options);
            put(bus, 1);
            bool sent = co_await has_sent(exporter, 1);
            BOOST_TEST(sent);
            collector.answers.push_back(std::move(endless));
            put(bus, 1);
            auto is_lost = [&exporter] { return exporter.counts().lost == 1; };
            const bool lost = co_await eventually(is_lost);
            BOOST_TEST(lost);
            put(bus, 1);
            sent = co_await has_sent(exporter, 2);
            BOOST_TEST(sent);
            co_await exporter.stop();
        });
}

BOOST_AUTO_TEST_CASE(what_finds_no_room_is_dropped) {
    with_collector(
        [](recording_collector& collector, event_bus& bus, otlp_options& options) -> asio::awaitable<void> {
            options.capacity = 5;
            options.host = "localhost"; // found by name
            otlp_exporter exporter(co_await asio::this_coro::executor, bus, options);
            put(bus, 8);
            const bool sent = co_await has_sent(exporter, 5);
            BOOST_TEST(sent);
            BOOST_TEST(exporter.counts().dropped == 3u);
            BOOST_TEST(collector.spans().size() == 5u);
            co_await exporter.stop();
        });
}

BOOST_AUTO_TEST_CASE(the_rest_is_sent_when_it_is_stopped) {
    with_collector(
        [](recording_collector& collector, event_bus& bus, otlp_options& options) -> asio::awaitable<void> {
            options.interval = 1min;
            otlp_exporter exporter(co_await asio::this_coro::executor, bus, options);
            put(bus, 700);
            co_await exporter.stop();
            put(bus, 1); // which nobody wants any more
            BOOST_TEST(collector.spans().size() == 700u);
            BOOST_TEST(exporter.counts().sent == 700u);
            BOOST_TEST(!bus.wants<events::span>());
            co_await exporter.stop();
        });
}

BOOST_AUTO_TEST_CASE(a_collector_that_says_nothing_holds_up_no_end) {
    with_collector(
        [](recording_collector& collector, event_bus& bus, otlp_options& options) -> asio::awaitable<void> {
            collector.is_silent = true;
            options.timeout = 100ms;
            options.batch = 1;
            const auto executor = co_await asio::this_coro::executor;
            otlp_exporter stopped(executor, bus, options);
            put(bus, 3);
            int ended = 0;
            for (int i = 0; i < 2; ++i) { // more than one may wait
                asio::co_spawn(executor, stopped.stop(), [&ended](const std::exception_ptr&) { ++ended; });
            }
            co_await stopped.stop();
            auto have_ended = [&ended] { return ended == 2; };
            const bool all_ended = co_await eventually(have_ended);
            BOOST_TEST(all_ended);
            BOOST_TEST(stopped.counts().lost == 3u);
            otlp_exporter destroyed(co_await asio::this_coro::executor, bus, options);
            put(bus, 1);
            co_await pause(20ms);
        });
}

BOOST_AUTO_TEST_CASE(a_bus_may_end_before) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        recording_collector collector(context.get_executor());
        std::optional<event_bus> bus(std::in_place);
        otlp_exporter exporter(context.get_executor(), *bus, quick_options(collector.port()));
        put(*bus, 2);
        bus.reset();
        co_await exporter.stop();
        BOOST_TEST(collector.spans().size() == 2u);
        co_await collector.end();
    });
}

BOOST_AUTO_TEST_CASE(options_that_break_their_rules_are_refused) {
    asio::io_context context;
    event_bus bus;
    otlp_options options;
    options.host = "http://localhost:4318";
    options.port = 0;
    options.resource = {{"service.version", "\xFF"}};
    options.path = "traces";
    options.headers = {{"X-Token", "secret\r\nHost: other"}};
    options.batch = 0;
    options.interval = 1ms;
    options.capacity = 0;
    options.timeout = 0s;
    options.attempts = 0;
    options.backoff = 0s;
    options.max_backoff = 0s;
    try {
        otlp_exporter exporter(context.get_executor(), bus, options);
        BOOST_ERROR("they were taken");
    } catch (const error& refused) {
        BOOST_TEST(refused.code() == errc::invalid_config);
        const std::string text = refused.what();
        BOOST_TEST(text.find("secret") == std::string::npos);
        for (const auto* name : {"host", "port", "path", "X-Token", "resource", "batch", "interval",
                                 "capacity", "timeout", "attempts", "backoff", "max_backoff"}) {
            BOOST_TEST(text.find(name) != std::string::npos, text << " does not name " << name);
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
