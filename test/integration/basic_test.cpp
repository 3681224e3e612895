// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "support/run.hpp"

namespace skep::test {

BOOST_AUTO_TEST_SUITE(basic)

BOOST_AUTO_TEST_CASE(a_pool_answers_and_stops_without_a_trace) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        pool workers(context.get_executor(), basic_pool(2));
        co_await workers.start();
        request call = request("add").arg("a", 40).arg("b", 2);
        const auto answer = co_await workers.execute(std::move(call));
        BOOST_TEST(answer.value == 42);
        const auto report = co_await workers.shutdown();
        BOOST_TEST(report.workers.size() == 2u);
        BOOST_TEST(report.clean());
    });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
