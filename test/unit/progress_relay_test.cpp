// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "call/progress_relay.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace skep::test {

BOOST_AUTO_TEST_SUITE(progress_relay_test)

namespace {

progress report_of(std::string text) {
    progress report;
    report.text = std::move(text);
    return report;
}

std::shared_ptr<progress_relay> relay_on(boost::asio::io_context& context, progress_handler handler) {
    return std::make_shared<progress_relay>(context.get_executor(), std::move(handler));
}

} // namespace

BOOST_AUTO_TEST_CASE(the_newest_report_is_handed_on_and_the_ones_before_are_not) {
    boost::asio::io_context context;
    std::vector<std::string> seen;
    const auto relay = relay_on(context, [&](const progress& report) { seen.push_back(report.text); });
    relay->put(report_of("a"));
    relay->put(report_of("b"));
    BOOST_TEST(seen.empty()); // put() does not call the handler
    context.run();
    relay->put(report_of("c"));
    context.restart();
    context.run();
    BOOST_TEST((seen == std::vector<std::string>{"b", "c"}));
}

BOOST_AUTO_TEST_CASE(a_report_that_comes_while_the_handler_runs_is_handed_on_after_that) {
    boost::asio::io_context context;
    std::vector<std::string> seen;
    std::shared_ptr<progress_relay> relay;
    relay = relay_on(context, [&](const progress& report) {
        seen.push_back(report.text);
        if (report.text == "first") {
            relay->put(report_of("second"));
            relay->put(report_of("third"));
        }
        seen.push_back("end of " + report.text);
    });
    relay->put(report_of("first"));
    context.run();
    BOOST_TEST((seen == std::vector<std::string>{"first", "end of first", "third", "end of third"}));
}

BOOST_AUTO_TEST_CASE(a_handler_that_throws_gets_the_next_report_all_the_same) {
    boost::asio::io_context context;
    int calls = 0;
    const auto relay = relay_on(context, [&](const progress&) {
        ++calls;
        throw std::runtime_error("no");
    });
    for (int i = 0; i < 2; ++i) {
        relay->put(report_of("x"));
        context.restart();
        context.run();
    }
    BOOST_TEST(calls == 2);
}

BOOST_AUTO_TEST_CASE(once_it_is_closed_the_handler_is_called_no_more) {
    boost::asio::io_context context;
    int calls = 0;
    const auto relay = relay_on(context, [&](const progress&) { ++calls; });
    relay->put(report_of("under way"));
    relay->close();
    relay->put(report_of("late"));
    context.run();
    BOOST_TEST(calls == 0);
}

BOOST_AUTO_TEST_CASE(the_handler_may_close_it) {
    boost::asio::io_context context;
    int calls = 0;
    std::shared_ptr<progress_relay> relay;
    relay = relay_on(context, [&](const progress&) {
        ++calls;
        relay->close();
        relay->put(report_of("late"));
    });
    relay->put(report_of("first"));
    context.run();
    BOOST_TEST(calls == 1);
}

BOOST_AUTO_TEST_CASE(close_on_another_thread_waits_for_the_handler) {
    boost::asio::io_context context;
    std::promise<void> begun;
    std::promise<void> closed;
    auto is_closed = closed.get_future();
    bool was_closed_meanwhile = true;
    const auto relay = relay_on(context, [&](const progress&) {
        begun.set_value();
        constexpr std::chrono::milliseconds chance(200); // for a close() that does not wait
        was_closed_meanwhile = is_closed.wait_for(chance) == std::future_status::ready;
    });
    relay->put(report_of("x"));
    std::thread runner([&] { context.run(); });
    begun.get_future().wait();
    relay->close();
    closed.set_value();
    runner.join();
    BOOST_TEST(!was_closed_meanwhile);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
