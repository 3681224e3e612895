// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Results that break a limit are errors of their calls, and no reason to end a worker that only answered.

#include "support/run.hpp"

namespace skep::test {

namespace {

/// Has the worker return what a Python expression gives; the error that it ends with.
asio::awaitable<error> refusal_of(pool& workers, std::string expression) {
    request call = request("evaluate").arg("expression", std::move(expression));
    auto running = workers.execute(std::move(call));
    auto refusal = co_await failure_of(std::move(running));
    co_return refusal;
}

/// The same worker answers before and after each of the results, which is refused with a text that has
/// `words` in it.
void check_refused(const pool_config& config,
                   const std::vector<std::pair<std::string, std::string>>& results) {
    with_pool(config, [&](pool& workers) -> asio::awaitable<void> {
        const auto before = co_await pid_of(workers);
        for (const auto& [expression, words] : results) {
            const auto e = co_await refusal_of(workers, expression);
            BOOST_TEST(e.code() == errc::remote_error, expression << ": " << e.what());
            BOOST_TEST(e.info().remote_type == "skep.UnserializableResult",
                       expression << ": " << e.info().remote_type);
            BOOST_TEST(contains(e.info().remote_message, words),
                       expression << ": " << e.info().remote_message);
        }
        const auto after = co_await pid_of(workers);
        BOOST_TEST(after == before);
    });
}

} // namespace

BOOST_AUTO_TEST_SUITE(honest_results)

BOOST_AUTO_TEST_CASE(beyond_fixed_rules) {
    check_refused(basic_pool(), {{"2**64", "integer at result"},
                                 {"{'a': [1, 2**64 + 1]}", "result.a[1]"},
                                 {"-2**63 - 1", "integer at result"},
                                 {"__import__('math').factorial(200)", "integer at result"},
                                 {"[{1: 'a', '1': 'b'}]", "result[0]"},
                                 {"[b''] * 65537", "65536"}});
}

BOOST_AUTO_TEST_CASE(beyond_depth) {
    auto config = basic_pool();
    config.limits.json_depth = 100;
    check_refused(config, {{"nested(100)", "nested too deeply"}, {"nested(600)", "nested too deeply"}});
    check_refused(basic_pool(), {{"nested(512)", "nested too deeply"}});
}

BOOST_AUTO_TEST_CASE(beyond_sizes) {
    auto config = basic_pool();
    config.limits.json_bytes = 10'000;
    check_refused(config, {{"'x' * 20000", "10000 bytes"}});
    config = basic_pool();
    config.limits.tree_bytes = 1u << 20;
    check_refused(config, {{"[0] * 100000", "1048576 bytes"}, {"[[]] * 30000", "1048576 bytes"}});
}

BOOST_AUTO_TEST_CASE(up_to_the_limits_arrive) {
    with_pool(basic_pool(), [](pool& workers) -> asio::awaitable<void> {
        const auto before = co_await pid_of(workers);
        for (const auto* const expression :
             {"2**64 - 1", "-2**63", "nested(511)", "[b''] * 65536", "0.00012345678901234567", "'9' * 40"}) {
            request call = request("evaluate").arg("expression", expression);
            const auto answer = co_await workers.execute(std::move(call));
            BOOST_TEST(!answer.value.is_null());
        }
        json::value deepest = json::array();
        for (int i = 1; i < 499; ++i) {
            deepest = json::array{deepest};
        }
        request echo = request("echo").arg("value", deepest);
        const auto echoed = co_await workers.execute(std::move(echo));
        BOOST_TEST((echoed.value == deepest));
        const auto after = co_await pid_of(workers);
        BOOST_TEST(after == before);
    });
}

BOOST_AUTO_TEST_CASE(an_error_fits_the_least_limits) {
    auto config = basic_pool();
    config.limits.frame_bytes = config.limits.json_bytes = 1024;
    config.limits.tree_bytes = 64u << 10;
    config.limits.json_depth = 4;
    with_pool(config, [](pool& workers) -> asio::awaitable<void> {
        const auto before = co_await pid_of(workers);
        const auto e = co_await refusal_of(workers, "1 / 0 if '\\0' * 500000 else fail('x')");
        BOOST_TEST(e.info().remote_type == "ZeroDivisionError");
        const auto long_one = co_await refusal_of(workers, "fail('\\0' * 500000)");
        BOOST_TEST(long_one.info().remote_type == "ValueError");
        const auto after = co_await pid_of(workers);
        BOOST_TEST(after == before);
    });
    config = basic_pool();
    config.limits.tree_bytes = 64u << 10;
    with_pool(config, [](pool& workers) -> asio::awaitable<void> {
        const auto e = co_await refusal_of(workers, "fail('x' * 500000)");
        BOOST_TEST(e.info().remote_type == "ValueError");
    });
}

BOOST_AUTO_TEST_CASE(a_result_that_was_an_attachment_is_the_workers_own_again) {
    with_pool(basic_pool(), [](pool& workers) -> asio::awaitable<void> {
        for (const auto* const expression : {"kept", "kept.extend(b'more')", "kept"}) {
            request call = request("evaluate").arg("expression", expression);
            co_await workers.execute(std::move(call));
        }
    });
}

/// The deadline of a call that was pipelined counts from when it was sent.
BOOST_AUTO_TEST_CASE(a_pipelined_call_does_not_begin_after_its_deadline) {
    auto config = basic_pool();
    config.pipeline_depth = 1;
    run([&](asio::io_context& context) -> asio::awaitable<void> {
        pool workers(context.get_executor(), config);
        co_await workers.start();
        auto first = begin_call(context, workers, request("sleep").arg("seconds", 0.5));
        auto second = begin_call(context, workers, request("remaining").timeout(10s));
        const bool both = co_await is_ended(second);
        BOOST_TEST_REQUIRE(both);
        BOOST_TEST(first->is_done());
        BOOST_TEST_REQUIRE(second->answer.has_value());
        BOOST_TEST(second->answer->value.as_double() < 9.6);
        co_await workers.shutdown();
    });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
