// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "remote/client_rules.hpp"
#include "wire/protocol_violation.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <limits>
#include <string>

namespace skep::test {

BOOST_AUTO_TEST_SUITE(client_rules_test)

namespace {

call_message call_of(std::uint64_t id) {
    call_message call;
    call.id = id;
    return call;
}

/// The rules of a node for one client.
struct rules_bench {
    /// Returns the violation; empty if there is none.
    std::string check(const host_message& message, std::size_t calls = 0) {
        try {
            rules.check(message, calls);
        } catch (const protocol_violation& violation) {
            return violation.what();
        }
        return {};
    }
    void welcome() { BOOST_TEST(check(welcome_message()) == ""); }

    client_rules rules;
};

} // namespace

BOOST_AUTO_TEST_CASE(a_client_that_keeps_the_rules) {
    rules_bench of;
    of.welcome();
    BOOST_TEST(of.check(call_of(1)) == "");
    BOOST_TEST(of.check(call_of(7), 3) == "");
    BOOST_TEST(of.check(cancel_message{7}, 4) == "");
    BOOST_TEST(of.check(cancel_message{99}, 4) == "");
    BOOST_TEST(of.check(credit_message{}, 4) == "");
    BOOST_TEST(of.check(tool_result_message(), 4) == "");
    BOOST_TEST(of.check(ping_message(), 4) == "");
    BOOST_TEST(of.check(shutdown_message(), 4) == "");
}

BOOST_AUTO_TEST_CASE(the_welcome_is_the_first_message) {
    const host_message others[] = {call_of(1),       cancel_message(),      recall_message(),
                                   credit_message(), tool_result_message(), tool_error_message(),
                                   ping_message(),   shutdown_message()};
    for (const auto& each : others) {
        rules_bench of;
        BOOST_TEST(of.check(each) == "a message before the welcome");
    }
}

BOOST_AUTO_TEST_CASE(there_is_one_welcome) {
    rules_bench of;
    of.welcome();
    BOOST_TEST(of.check(welcome_message()) == "a second welcome");
}

BOOST_AUTO_TEST_CASE(the_ids_of_calls_grow) {
    rules_bench of;
    of.welcome();
    BOOST_TEST(of.check(call_of(0)) == "call 0 after call 0");
    BOOST_TEST(of.check(call_of(5)) == "");
    BOOST_TEST(of.check(call_of(5)) == "call 5 after call 5");
    BOOST_TEST(of.check(call_of(4)) == "call 4 after call 5");
    constexpr auto largest = std::numeric_limits<std::uint64_t>::max();
    BOOST_TEST(of.check(call_of(largest)) == "");
    BOOST_TEST(of.check(call_of(largest)) == "call 18446744073709551615 after call 18446744073709551615");
}

BOOST_AUTO_TEST_CASE(calls_come_without_a_batch) {
    rules_bench of;
    of.welcome();
    auto call = call_of(1);
    call.batch = {3, 2};
    BOOST_TEST(of.check(call) == "a batch, which a node does not take");
    call.batch = {3, 1};
    BOOST_TEST(of.check(call) == "");
}

BOOST_AUTO_TEST_CASE(the_number_of_calls_is_limited) {
    rules_bench of;
    of.welcome();
    BOOST_TEST(of.check(call_of(1), 65'535) == "");
    BOOST_TEST(of.check(call_of(2), 65'536) == "more than 65536 calls at a time");
    BOOST_TEST(of.check(call_of(3), 100'000) == "more than 65536 calls at a time");
}

BOOST_AUTO_TEST_CASE(a_call_has_come_once_it_was_checked) {
    rules_bench of;
    of.welcome();
    BOOST_TEST(!of.rules.has_come(1));
    BOOST_TEST(of.check(call_of(3)) == "");
    BOOST_TEST(of.rules.has_come(3));
    BOOST_TEST(!of.rules.has_come(4));
    BOOST_TEST(of.check(call_of(9), 65'536) != "");
    BOOST_TEST(!of.rules.has_come(9));
}

BOOST_AUTO_TEST_CASE(limits_are_at_least_the_least_of_a_pool) {
    worker_limits none;
    none.frame_bytes = none.json_bytes = none.json_depth = none.tree_bytes = 0;
    none.attachments = none.tool_calls = none.message_bytes = none.tool_call_bytes = 0;
    const auto least = usable_limits(none);
    BOOST_TEST(least.frame_bytes == 1024u);
    BOOST_TEST(least.json_bytes == 1024u);
    BOOST_TEST(least.json_depth == 4u);
    BOOST_TEST(least.tree_bytes == 64u << 10);
    BOOST_TEST(least.attachments == 0u);
    BOOST_TEST(least.tool_calls == 1u);
    BOOST_TEST(least.message_bytes == 1024u);
    BOOST_TEST(least.tool_call_bytes == 1024u);
}

BOOST_AUTO_TEST_CASE(higher_limits_stay) {
    worker_limits told;
    told.frame_bytes = 1025;
    told.json_depth = 5;
    told.tool_calls = 9;
    const auto limits = usable_limits(told);
    BOOST_TEST(limits.frame_bytes == 1025u);
    BOOST_TEST(limits.json_depth == 5u);
    BOOST_TEST(limits.tool_calls == 9u);
    BOOST_TEST(limits.json_bytes == told.json_bytes);
    BOOST_TEST(limits.tree_bytes == told.tree_bytes);
    BOOST_TEST(limits.message_bytes == told.message_bytes);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
