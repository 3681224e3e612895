// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "async/timer.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <optional>
#include <string>

namespace skep::test {

BOOST_AUTO_TEST_SUITE(pool_executor_test)

namespace {

/// The order in which an executor of `context` runs a posted function and one that is dispatched from within.
std::string order_of(asio::io_context& context, const asio::any_io_executor& given) {
    std::string order;
    const strand executor{pool_executor(given)};
    asio::post(executor, [&] {
        asio::post(executor, [&] { order += " posted"; });
        asio::dispatch(executor, [&] { order += " dispatched"; });
        order += " end";
    });
    order += "begin";
    context.restart();
    context.run();
    return order;
}

} // namespace

BOOST_AUTO_TEST_CASE(an_io_context_and_any_other_executor_run_functions_alike) {
    asio::io_context context;
    const auto expected = "begin dispatched end posted";
    BOOST_TEST(order_of(context, context.get_executor()) == expected);
    BOOST_TEST(order_of(context, asio::make_strand(context)) == expected);
}

BOOST_AUTO_TEST_CASE(an_io_context_is_recognised_behind_the_erased_type) {
    asio::io_context context;
    const asio::any_io_executor erased(context.get_executor());
    const pool_executor direct(context.get_executor());
    BOOST_TEST((pool_executor(erased) == direct));
    BOOST_TEST((pool_executor(asio::any_io_executor(asio::make_strand(context))) != direct));
    const auto copy = direct;
    BOOST_TEST((copy == direct));
}

BOOST_AUTO_TEST_CASE(outstanding_work_keeps_the_context_running) {
    asio::io_context context;
    for (const asio::any_io_executor& given :
         {asio::any_io_executor(context.get_executor()), asio::any_io_executor(asio::make_strand(context))}) {
        context.restart();
        const pool_executor executor(given);
        auto work = std::make_optional(asio::prefer(executor, asio::execution::outstanding_work.tracked));
        BOOST_TEST(context.poll() == 0U);
        BOOST_TEST(!context.stopped());
        const auto moved = std::move(*work);
        work.reset();
        BOOST_TEST(context.poll() == 0U);
        BOOST_TEST(!context.stopped());
    }
    context.restart();
    context.poll();
    BOOST_TEST(context.stopped());
}

BOOST_AUTO_TEST_CASE(it_converts_to_the_erased_type_and_back) {
    asio::io_context context;
    const strand executor(context.get_executor());
    const asio::any_io_executor erased(executor);
    int runs = 0;
    asio::post(erased, [&] { ++runs; });
    asio::post(strand(erased), [&] { ++runs; });
    context.run();
    BOOST_TEST(runs == 2);
}

BOOST_AUTO_TEST_CASE(a_strand_over_a_thread_pool_runs_one_function_at_a_time) {
    asio::thread_pool threads(4);
    const strand executor{pool_executor(asio::any_io_executor(threads.get_executor()))};
    int count = 0;
    std::atomic<int> at_once = 0;
    bool was_alone = true;
    for (int i = 0; i < 1000; ++i) {
        asio::post(executor, [&] {
            was_alone = was_alone && at_once.fetch_add(1) == 0;
            ++count;
            at_once.fetch_sub(1);
        });
    }
    threads.join();
    BOOST_TEST(count == 1000);
    BOOST_TEST(was_alone);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
