// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "support/fake_runtime.hpp"

#include <boost/test/unit_test.hpp>

#include <limits>
#include <string>
#include <vector>

namespace skep::test {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(pool_time)

namespace {

void check_sums(const pool_status& status) {
    const auto& totals = status.counters;
    BOOST_TEST(totals.submitted == totals.succeeded + totals.failed + status.in_flight + status.queued);
}

} // namespace

BOOST_AUTO_TEST_CASE(a_call_is_answered) {
    running_pool pool(fake_config());
    const auto call = pool.execute(request("echo").arg("value", 7));
    const auto received = pool.worker(0).take_calls();
    BOOST_REQUIRE_EQUAL(received.size(), 1u);
    BOOST_TEST(received[0].at("command") == "echo");
    BOOST_TEST(received[0].at("args").at("value") == 7);
    BOOST_TEST(!call->done);
    pool.advance(40ms);
    pool.worker(0).reply(id_of(received[0]), 7);
    pool.run_until_idle();
    BOOST_REQUIRE(call->value);
    BOOST_TEST(call->value->value == 7);
    BOOST_TEST(call->value->attempts == 1);
    BOOST_TEST(to_string(call->value->worker) == "default/0#1");
    BOOST_TEST((call->value->run_time == 40ms));
}

BOOST_AUTO_TEST_CASE(what_comes_with_a_call_reaches_the_worker) {
    running_pool pool(fake_config());
    const auto call =
        pool.execute(request("x").session("user-42").correlation_id("c-1").metadata("tenant", "acme"));
    const auto received = pool.worker(0).take_calls();
    BOOST_REQUIRE_EQUAL(received.size(), 1u);
    BOOST_TEST(received[0].at("session") == "user-42");
    BOOST_TEST(received[0].at("correlation_id") == "c-1");
    BOOST_TEST(received[0].at("metadata").at("tenant") == "acme");
    pool.worker(0).reply(id_of(received[0]));
    pool.run_until_idle();
    BOOST_REQUIRE(call->value);
    BOOST_TEST(call->value->correlation_id == "c-1");
}

BOOST_AUTO_TEST_CASE(an_exception_of_the_workers_is_passed_on) {
    running_pool pool(fake_config());
    const auto call = pool.execute(request("divide"));
    pool.worker(0).fail(pool.worker(0).take_call(), "ZeroDivisionError", "division by zero");
    pool.run_until_idle();
    BOOST_TEST(call->code() == errc::remote_error);
    BOOST_TEST(call->info().remote_type == "ZeroDivisionError");
    BOOST_TEST(call->info().remote_message == "division by zero");
    BOOST_TEST(call->info().command == "divide");
    BOOST_TEST(pool.counters().remote_errors == 1u);
    BOOST_TEST(!pool.execute(request("next"))->done);
    BOOST_TEST(pool.worker(0).take_calls().size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_remote_error_is_not_retried) {
    running_pool pool(fake_config(2));
    const auto call = pool.execute(request("x").idempotent(true));
    pool.worker(0).fail(pool.worker(0).take_call(), "E", "no");
    pool.run_until_idle();
    BOOST_TEST(call->code() == errc::remote_error);
    BOOST_TEST(pool.worker(1).take_calls().empty());
}

BOOST_AUTO_TEST_CASE(a_request_that_cannot_be_encoded_costs_the_worker_nothing) {
    running_pool pool(fake_config());
    const auto bad = pool.execute(request("\xff"));
    BOOST_TEST(bad->code() == errc::invalid_request);
    BOOST_TEST(pool.worker(0).take_calls().empty());
    const auto good = pool.execute(request("good"));
    pool.serve();
    BOOST_TEST(good->value.has_value());
    BOOST_TEST(pool.status().workers[0].load == 0u);
}

BOOST_AUTO_TEST_CASE(a_request_that_is_too_large_is_refused) {
    auto config = fake_config();
    config.limits.frame_bytes = 100'000;
    config.limits.json_bytes = 100'000;
    running_pool pool(config);
    const auto call = pool.execute(request("x").attach(std::vector<std::byte>(100'000)));
    BOOST_TEST(call->code() == errc::frame_too_large);
    BOOST_TEST(!pool.execute(request("next"))->done);
}

BOOST_AUTO_TEST_CASE(a_bad_request_is_refused_at_once_however_busy_the_pool) {
    running_pool pool(fake_config());
    pool.execute(request("busy"));
    pool.execute(request("waiting"));
    const auto bad = pool.execute(request("\xff"));
    const auto worse = pool.execute(request("x").arg("y", std::numeric_limits<double>::quiet_NaN()));
    BOOST_TEST(bad->code() == errc::invalid_request);
    BOOST_TEST(worse->code() == errc::invalid_request);
    BOOST_TEST(bad->info().pool == "default");
    BOOST_TEST(pool.status().queued == 1u);
    const auto counters = pool.counters();
    BOOST_TEST(counters.submitted == 4u);
    BOOST_TEST(counters.failed == 2u);
    BOOST_TEST(pool.serve() == "busy");
    BOOST_TEST(pool.serve() == "waiting");
}

BOOST_AUTO_TEST_CASE(answers_may_come_in_any_order) {
    auto config = fake_config();
    config.capacity = 3;
    running_pool pool(config);
    std::vector<std::shared_ptr<manual_pool::outcome<reply>>> calls;
    for (const auto* const name : {"a", "b", "c"}) {
        calls.push_back(pool.execute(request(name)));
    }
    const auto received = pool.worker(0).take_calls();
    BOOST_REQUIRE_EQUAL(received.size(), 3u);
    for (const std::size_t i : {2, 0, 1}) {
        pool.worker(0).reply(id_of(received[i]), received[i].at("command"));
    }
    pool.run_until_idle();
    for (const auto& call : calls) {
        BOOST_REQUIRE(call->value);
    }
    BOOST_TEST(calls[0]->value->value == "a");
    BOOST_TEST(calls[1]->value->value == "b");
    BOOST_TEST(calls[2]->value->value == "c");
}

BOOST_AUTO_TEST_CASE(work_is_spread_over_the_workers) {
    running_pool pool(fake_config(3));
    for (int i = 0; i < 3; ++i) {
        pool.execute(request("x"));
    }
    for (std::size_t i = 0; i < 3; ++i) {
        BOOST_TEST(pool.worker(i).take_calls().size() == 1u);
    }
}

BOOST_AUTO_TEST_CASE(a_scheduler_of_the_users_own_is_asked) {
    class highest_slot final : public scheduler {
    public:
        void offer(std::uint32_t slot, std::size_t) override { free_[slot] = true; }
        void withdraw(std::uint32_t slot) override { free_.erase(slot); }
        std::optional<std::uint32_t> pick(const claim_view&) override {
            return free_.empty() ? std::nullopt : std::optional(free_.rbegin()->first);
        }

    private:
        std::map<std::uint32_t, bool> free_;
    };
    auto config = fake_config(3);
    config.custom_scheduler = [] { return std::make_unique<highest_slot>(); };
    running_pool pool(config);
    pool.execute(request("a"));
    pool.execute(request("b"));
    BOOST_TEST(pool.serve(2) == "a");
    BOOST_TEST(pool.serve(1) == "b");
}

BOOST_AUTO_TEST_CASE(the_status_is_one_consistent_picture) {
    auto config = fake_config(2);
    config.name = "compute";
    running_pool pool(config);
    for (int i = 0; i < 5; ++i) {
        pool.execute(request("x"));
    }
    pool.advance(1s);
    pool.serve(0);
    const auto status = pool.status();
    BOOST_TEST(status.name == "compute");
    BOOST_TEST(status.queued == 2u);
    BOOST_TEST(status.in_flight == 2u);
    BOOST_REQUIRE_EQUAL(status.workers.size(), 2u);
    BOOST_TEST(to_string(status.workers[0].state) == "busy");
    BOOST_TEST(status.workers[0].load == 1u);
    BOOST_TEST(status.workers[0].completed == 1u);
    BOOST_TEST((status.workers[0].uptime == 1s));
    check_sums(status);
}

BOOST_AUTO_TEST_CASE(the_counters_add_up_whatever_happens) {
    auto config = fake_config(2);
    config.queue.limit = 2;
    manual_pool pool(config);
    pool.execute(request("too early"));
    pool.start();
    for (int i = 0; i < 6; ++i) { // two run, two wait, two are refused
        pool.execute(request("x").timeout(2s).idempotent(true));
        check_sums(pool.status());
    }
    pool.serve(0);
    check_sums(pool.status());
    pool.worker(1).exit(exit_status::exited(1));
    pool.run_until_idle();
    check_sums(pool.status());
    pool.advance(5s);
    check_sums(pool.status());
    const auto totals = pool.counters();
    BOOST_TEST(totals.submitted == 7u);
    BOOST_TEST(totals.succeeded == 1u);
    BOOST_TEST(totals.rejected == 2u);
    BOOST_TEST(totals.timeouts == 3u);
    BOOST_TEST(totals.failed == 6u);
}

BOOST_AUTO_TEST_CASE(a_moved_pool_goes_on) {
    running_pool pool(fake_config());
    const auto call = pool.execute(request("x"));
    auto elsewhere = std::move(pool.facade());
    pool.serve();
    BOOST_TEST(call->value.has_value());
    pool.facade() = std::move(elsewhere);
    BOOST_TEST(!pool.execute(request("y"))->done);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
