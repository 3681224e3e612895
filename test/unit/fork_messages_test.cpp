// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// The template's messages, read by the host, and the reverse.

#include "wire/fork_messages.hpp"

#include <boost/test/unit_test.hpp>

#include <optional>
#include <string>
#include <vector>

namespace skep::test {

BOOST_AUTO_TEST_SUITE(fork_messages_test)

BOOST_AUTO_TEST_CASE(an_order_arrives_as_it_was_sent) {
    const fork_order order{"default/0#1", {{"DEVICE", "2 \"x\""}, {"LANG", std::nullopt}}, {"--fast", ""}};
    const auto read = decode_fork_order(encode_fork_order(order));
    BOOST_TEST_REQUIRE(read.has_value());
    BOOST_TEST(read->worker == order.worker);
    BOOST_TEST((read->environment == order.environment));
    BOOST_TEST((read->arguments == order.arguments));
}

BOOST_AUTO_TEST_CASE(other_messages_are_no_orders) {
    for (const std::string text :
         {"", "{", "[]", "{}", R"({"type":"forked","pid":1})", R"({"type":1})",
          R"({"type":"fork","environment":[]})", R"({"type":"fork","environment":{"A":1}})",
          R"({"type":"fork","arguments":{}})", R"({"type":"fork","arguments":[1]})",
          R"({"type":"fork","worker":null})"}) {
        BOOST_TEST_CONTEXT(text) {
            BOOST_TEST(!decode_fork_order(text).has_value());
        }
    }
    BOOST_TEST(decode_fork_order(R"({"type":"fork","new":{"member":[1]}})").has_value());
}

BOOST_AUTO_TEST_CASE(a_report_arrives_as_it_was_sent) {
    const auto read =
        decode_template_report(encode_template_report({4711, {"1 thread: \"x\"", "a socket"}, true}));
    BOOST_TEST_REQUIRE(read.has_value());
    BOOST_TEST(read->pid == 4711);
    BOOST_TEST(read->takes_regions);
    BOOST_TEST((read->objections == std::vector<std::string>{"1 thread: \"x\"", "a socket"}));
}

BOOST_AUTO_TEST_CASE(answers_arrive_as_they_were_sent) {
    const auto worker = decode_fork_answer(encode_fork_answer({4711, {}}));
    BOOST_TEST_REQUIRE(worker.has_value());
    BOOST_TEST(worker->pid == 4711);
    const auto failure = decode_fork_answer(encode_fork_answer({0, "fork: no memory"}));
    BOOST_TEST_REQUIRE(failure.has_value());
    BOOST_TEST(failure->pid == 0);
    BOOST_TEST(failure->error == "fork: no memory");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
