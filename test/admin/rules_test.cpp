// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// What an admin server decides without a connection.

#include "admin/feed.hpp"
#include "admin/request_rules.hpp"
#include "admin/sample.hpp"
#include "support/run.hpp"

#include <boost/asio/strand.hpp>
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <sys/resource.h>

namespace skep::test {

BOOST_AUTO_TEST_SUITE(admin_rules)

namespace {

/// The most memory that the process has had, in bytes.
std::size_t peak_memory() {
    ::rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return static_cast<std::size_t>(usage.ru_maxrss) << 10;
}

} // namespace

BOOST_AUTO_TEST_CASE(changes_are_named_by_their_path) {
    const auto whole = order_in("/pools/models/restart?x=1");
    BOOST_REQUIRE(whole);
    BOOST_TEST(whole->pool == "models");
    BOOST_TEST(whole->action == "restart");
    BOOST_TEST(!whole->worker);
    const auto one = order_in("/pools/models/workers/3.17/suspend");
    BOOST_REQUIRE((one && one->worker));
    BOOST_TEST(to_string(*one->worker) == "models/3#17");
    for (const auto* path :
         {"", "/", "/pools", "/pools/a", "/pools/a/b/c", "/pool/a/restart", "pools/a/restart",
          "/pools/a/workers/3/restart", "/pools/a/workers/-1.1/restart",
          "/pools/a/workers/1.99999999999999999999/restart", "/pools/a/others/1.1/restart"}) {
        BOOST_TEST(!order_in(path), path);
    }
}

BOOST_AUTO_TEST_CASE(tokens) {
    BOOST_TEST(is_authorised("Bearer abc", "abc"));
    for (const auto* given :
         {"", "Bearer", "Bearer ", "bearer abc", "Bearer abd", "Bearer abcd", "Basic abc"}) {
        BOOST_TEST(!is_authorised(given, "abc"), given);
        BOOST_TEST(!is_authorised(given, ""), given);
    }
}

BOOST_AUTO_TEST_CASE(an_answer_that_is_too_long_is_refused_before_it_is_text) {
    reply answer;
    answer.value = std::string(std::size_t(16) << 20, '\x01'); // six bytes each, as JSON has it
    const auto before = peak_memory();
    BOOST_CHECK_EXCEPTION(text_of(std::move(answer)), error,
                          [](const error& refusal) { return refusal.kind() == errc::invalid_request; });
    BOOST_TEST(peak_memory() - before < std::size_t(32) << 20);
    reply longest;
    const auto length = text_of(longest).size();
    longest.value =
        std::string((std::size_t(1) << 20) - length + 3, 'x'); // in quotes, for null and a line feed
    BOOST_TEST(text_of(longest).size() == (std::size_t(1) << 20) + 1);
}

BOOST_AUTO_TEST_CASE(a_sample_is_of_what_has_ended_since_the_last) {
    pool_status status;
    status.queued = 7;
    call_totals before;
    before.succeeded = 10;
    before.run_time.record(5s);
    auto now = before;
    now.succeeded += 2;
    before.failed = {{errc::timeout, 3}, {errc::worker_lost, 2}};
    now.failed = {{errc::timeout, 4}, {errc::worker_lost, 2}};
    status.workers.resize(2);
    status.workers[0].resident_bytes = 1000;
    status.workers[1].resident_bytes = 24;
    now.run_time.record(10ms);
    const auto sample = sample_of(status, now, before, 1234);
    BOOST_TEST(sample.at("at_ms").to_number<int>() == 1234);
    BOOST_TEST(sample.at("queued").to_number<int>() == 7);
    BOOST_TEST(sample.at("finished").to_number<int>() == 3);
    BOOST_TEST(sample.at("failed").to_number<int>() == 1);
    BOOST_TEST(sample.at("failures") == json::value({{"timeout", 1}}));
    BOOST_TEST(sample.at("resident_bytes").to_number<int>() == 1024);
    BOOST_TEST(std::abs(sample.at("run_p99_ms").as_double() - 10) < 0.7);
    BOOST_TEST(sample.at("wait_p50_ms").is_null());
}

BOOST_AUTO_TEST_CASE(a_page_that_reads_too_slowly_is_given_up) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        feed_reader fresh(strand(context.get_executor()));
        fresh.put(
            std::make_shared<const std::string>(std::size_t(9) << 20, 'x')); // of a service with many pools
        auto first = fresh.take();
        auto history = co_await std::move(first);
        BOOST_TEST(history.size() == 1u);
        feed_reader slow(strand(context.get_executor()));
        const auto text = std::make_shared<const std::string>(std::size_t(1) << 20, 'x');
        for (int i = 0; i < 3; ++i) {
            slow.put(text);
        }
        auto taking = slow.take();
        auto taken = co_await std::move(taking);
        BOOST_TEST(taken.size() == 3u);
        for (int i = 0; i < 6; ++i) {
            slow.put(text);
        }
        auto again = slow.take();
        taken = co_await std::move(again);
        BOOST_TEST(taken.empty());
    });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
