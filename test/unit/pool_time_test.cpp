// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "support/fake_runtime.hpp"

#include <boost/test/unit_test.hpp>

namespace skep::test {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(pool_time)

BOOST_AUTO_TEST_CASE(a_call_is_answered) {
    manual_pool pool(fake_config(1));
    const auto started = pool.start();
    BOOST_REQUIRE(started->value);
    const auto call = pool.execute(request("echo").arg("value", 7));
    const auto received = pool.worker(0).take_calls();
    BOOST_REQUIRE_EQUAL(received.size(), 1u);
    BOOST_TEST(received[0].at("command") == "echo");
    BOOST_TEST(!call->done);
    pool.worker(0).reply(received[0].at("id").to_number<std::uint64_t>(), 7);
    pool.settle();
    BOOST_REQUIRE(call->value);
    BOOST_TEST(call->value->value == 7);
}

BOOST_AUTO_TEST_CASE(a_queued_call_times_out_at_its_time) {
    manual_pool pool(fake_config(1));
    pool.start();
    const auto first = pool.execute(request("a"));
    const auto second = pool.execute(request("b"));
    pool.advance(4990ms);
    BOOST_TEST(!second->done);
    pool.advance(10ms);
    BOOST_REQUIRE(second->problem);
    BOOST_TEST(second->problem->code() == errc::queue_timeout);
    BOOST_TEST(!first->done);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
