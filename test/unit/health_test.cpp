// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Health probes and degradation, on virtual time.

#include "support/probed_pool.hpp"

#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/test/unit_test.hpp>

#include <stdexcept>

namespace skep::test {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(health)

BOOST_AUTO_TEST_CASE(a_probe_function_fails_by_any_exception_even_one_that_says_nothing) {
    auto config = quiet_config();
    config.health_check.probe = [](worker_id, pid_t) -> asio::awaitable<void> {
        throw std::runtime_error("");
        co_return;
    };
    running_pool pool(config);
    pool.advance(30s, 1s);
    BOOST_TEST((pool.worker_status_of(0).state == worker_state::degraded));
    check_mentions(pool.worker_status_of(0).last_transition->reason, "an exception without a message");
}

BOOST_AUTO_TEST_CASE(what_a_probe_complains_of_is_kept_in_part) {
    probed_pool pool(quiet_config());
    pool.advance(30s, 1s);
    pool.worker(0).fail(pool.take_probe(), "RuntimeError", "it begins " + std::string(50'000, 'x'));
    pool.run_until_idle();
    const auto reason = pool.worker_status_of(0).last_transition->reason;
    check_mentions(reason, "it begins");
    BOOST_TEST(reason.size() < 2000u);
}

BOOST_AUTO_TEST_CASE(an_idle_worker_is_probed_every_thirty_seconds) {
    probed_pool pool(quiet_config());
    pool.advance(29s, 1s);
    BOOST_TEST(!pool.is_probed());
    pool.advance(1s);
    pool.pass(pool.take_probe());
    BOOST_TEST((pool.worker_status_of(0).state == worker_state::ready));
    pool.advance(29s, 1s);
    BOOST_TEST(!pool.is_probed());
    pool.advance(1s);
    pool.pass(pool.take_probe());
    BOOST_TEST(pool.counters().submitted == 0u);
    BOOST_TEST(pool.worker_status_of(0).completed == 0u);
}

BOOST_AUTO_TEST_CASE(one_failure_degrades_one_success_restores) {
    probed_pool pool(quiet_config());
    pool.advance(30s, 1s);
    pool.fail(pool.take_probe());
    const auto degraded = pool.worker_status_of(0);
    BOOST_TEST((degraded.state == worker_state::degraded));
    BOOST_TEST((degraded.health == worker_health::unhealthy));
    BOOST_REQUIRE(degraded.last_transition);
    check_mentions(degraded.last_transition->reason, "no GPU");

    const auto waiting = pool.execute(request("work").queue_timeout(1min)); // a degraded worker takes no work
    BOOST_TEST(!pool.is_probed());
    BOOST_TEST(pool.status().queued == 1u);

    pool.advance(5s, 1s);
    pool.pass(pool.take_probe());
    BOOST_TEST((pool.worker_status_of(0).health == worker_health::healthy));
    BOOST_TEST(pool.serve() == "work");
    BOOST_TEST(waiting->value.has_value());
    BOOST_TEST(pool.launched() == 1u);
}

BOOST_AUTO_TEST_CASE(three_failures_in_a_row_replace) {
    probed_pool pool(quiet_config());
    pool.advance(30s, 1s);
    pool.fail(pool.take_probe());
    pool.advance(5s, 1s);
    pool.fail(pool.take_probe());
    BOOST_TEST(pool.launched() == 1u);
    pool.advance(5s, 1s);
    pool.fail(pool.take_probe());
    pool.advance(2s);
    BOOST_TEST(pool.launched() == 2u);
    BOOST_TEST(pool.worker(0).terminations == 1);
    const auto status = pool.status();
    BOOST_TEST(status.counters.unhealthy_workers_terminated == 1u);
    BOOST_TEST(status.counters.workers_replaced == 1u);
    check_mentions(status.workers[0].last_failure, "unhealthy_worker_terminated");
    check_mentions(status.workers[0].last_failure, "no GPU");
    BOOST_REQUIRE(status.last_failure);
    check_mentions(status.last_failure->detail, "unhealthy_worker_terminated");
}

BOOST_AUTO_TEST_CASE(a_probe_without_answer_fails_after_its_limit) {
    probed_pool pool(quiet_config());
    pool.advance(30s, 1s);
    pool.take_probe();
    pool.advance(4999ms);
    BOOST_TEST((pool.worker_status_of(0).state != worker_state::degraded));
    pool.advance(1ms);
    BOOST_TEST((pool.worker_status_of(0).state == worker_state::degraded));
    pool.advance(25s, 500ms); // it is not asked twice, but each wait counts
    BOOST_TEST(!pool.is_probed());
    BOOST_TEST(pool.launched() == 2u);
    BOOST_TEST(pool.counters().unhealthy_workers_terminated == 1u);
}

BOOST_AUTO_TEST_CASE(a_late_answer_lets_the_next_probe_decide) {
    probed_pool pool(quiet_config());
    pool.advance(30s, 1s);
    const auto probe = pool.take_probe();
    pool.advance(5s);
    BOOST_TEST((pool.worker_status_of(0).state == worker_state::degraded));
    pool.pass(probe);
    BOOST_TEST((pool.worker_status_of(0).state == worker_state::degraded));
    pool.advance(5s);
    pool.pass(pool.take_probe());
    BOOST_TEST((pool.worker_status_of(0).state == worker_state::ready));
}

BOOST_AUTO_TEST_CASE(work_done_shows_what_a_check_that_only_answers_would_show) {
    probed_pool pool(quiet_config(), true);
    for (int i = 0; i < 5; ++i) {
        pool.advance(20s, 1s);
        const auto call = pool.execute(request("work"));
        BOOST_TEST(pool.serve() == "work");
        BOOST_TEST(call->value.has_value());
    }
    BOOST_TEST(!pool.is_probed());
    pool.advance(30s, 1s);
    pool.pass(pool.take_probe());
}

BOOST_AUTO_TEST_CASE(an_error_is_no_sign_of_health) {
    for (const bool only_answers : {false, true}) {
        probed_pool pool(quiet_config(), only_answers);
        for (int i = 0; i < 2; ++i) {
            pool.advance(10s, 1s);
            const auto call = pool.execute(request("work"));
            pool.worker(0).fail(pool.worker(0).take_call(), "Error" + std::to_string(i), "");
            pool.run_until_idle();
            BOOST_TEST(call->code() == errc::remote_error);
        }
        pool.advance(9s, 1s);
        BOOST_TEST(!pool.is_probed());
        pool.advance(1s);
        pool.pass(pool.take_probe());
    }
}

BOOST_AUTO_TEST_CASE(under_steady_load_the_probe_comes_between_two_calls) {
    for (const std::size_t depth : {0, 2}) {
        auto config = quiet_config();
        config.pipeline_depth = depth;
        probed_pool pool(config);
        std::vector<std::shared_ptr<manual_pool::outcome<reply>>> calls;
        std::vector<std::uint64_t> sent;
        int probes = 0;
        for (int i = 0; i < 90; ++i) { // there is always more than the worker takes
            while (calls.size() < static_cast<std::size_t>(i) + 5) {
                calls.push_back(pool.execute(request("work").queue_timeout(1min)));
            }
            for (const auto& each : pool.worker(0).take_calls()) {
                const bool is_probe = each.at("command").as_string() == "skep.health_check";
                BOOST_TEST((!is_probe || sent.empty()), "a probe behind a call");
                probes += is_probe ? 1 : 0;
                sent.push_back(id_of(each));
            }
            BOOST_TEST(sent.size() <= 1 + depth);
            pool.advance(1s);
            pool.worker(0).reply(sent.front());
            sent.erase(sent.begin());
            pool.run_until_idle();
        }
        BOOST_TEST(probes >= 2);
        BOOST_TEST(probes <= 3);
        pool.shutdown();
        pool.advance(10s, 1s);
    }
}

BOOST_AUTO_TEST_CASE(probes_of_an_idle_pool_are_spread_and_a_call_finds_another_worker) {
    probed_pool pool(quiet_config(6));
    std::size_t probed = 0;
    for (int second = 0; second < 60; ++second) {
        pool.advance(1s);
        std::vector<std::pair<std::size_t, std::uint64_t>> probes;
        for (std::size_t index = 0; index < 6; ++index) {
            for (const auto& each : pool.worker(index).take_calls()) {
                probes.emplace_back(index, id_of(each));
            }
        }
        BOOST_TEST(probes.size() <= 1u);
        probed += probes.size();
        const auto call = pool.execute(request("work"));
        std::size_t served = 0;
        for (std::size_t index = 0; index < 6; ++index) {
            for (const auto& each : pool.worker(index).take_calls()) {
                pool.worker(index).reply(id_of(each));
                ++served;
            }
        }
        pool.run_until_idle();
        BOOST_TEST(served == 1u);
        BOOST_TEST(call->value.has_value());
        for (const auto& [index, probe] : probes) {
            pool.pass(probe, index);
        }
    }
    BOOST_TEST(probed >= 10u);
    BOOST_TEST(probed <= 12u);
}

BOOST_AUTO_TEST_CASE(a_worker_with_calls_in_flight_is_not_probed) {
    auto config = quiet_config();
    config.request_timeout = 0s;
    probed_pool pool(config);
    const auto call = pool.execute(request("long"));
    pool.worker(0).take_call();
    pool.advance(10min, 1s);
    BOOST_TEST(!pool.is_probed());
    BOOST_TEST(!call->done);
    BOOST_TEST((pool.worker_status_of(0).state == worker_state::busy));
}

BOOST_AUTO_TEST_CASE(a_call_that_comes_during_a_probe_waits_for_it) {
    probed_pool pool(quiet_config());
    pool.advance(30s, 1s);
    const auto probe = pool.take_probe();
    const auto call = pool.execute(request("work"));
    BOOST_TEST(!pool.is_probed());
    pool.pass(probe);
    BOOST_TEST(pool.serve() == "work");
    BOOST_TEST(call->value.has_value());
}

BOOST_AUTO_TEST_CASE(a_probe_does_not_keep_a_worker_from_leaving) {
    probed_pool pool(quiet_config());
    pool.advance(30s, 1s);
    pool.take_probe();
    const auto report = pool.shutdown();
    pool.advance(3s);
    BOOST_REQUIRE(report->value);
    BOOST_TEST((report->value->took < 3s));
}

BOOST_AUTO_TEST_CASE(a_worker_that_offers_no_check_is_not_probed_unless_one_is_configured) {
    for (const bool configured : {false, true}) {
        auto config = quiet_config();
        config.health_check.command = configured ? "ping" : "";
        running_pool pool(config);
        pool.advance(31s, 1s);
        const auto calls = pool.worker(0).take_calls();
        BOOST_REQUIRE_EQUAL(calls.size(), configured ? 1u : 0u);
        BOOST_TEST((!configured || calls[0].at("command").as_string() == "ping"));
    }
}

BOOST_AUTO_TEST_CASE(it_can_be_switched_off) {
    auto config = quiet_config();
    config.health_check.enabled = false;
    probed_pool pool(config);
    pool.advance(5min, 1s);
    BOOST_TEST(!pool.is_probed());
}

BOOST_AUTO_TEST_CASE(a_probe_of_the_users_own) {
    auto config = quiet_config();
    int asked = 0;
    bool well = true;
    config.health_check.probe = [&](worker_id which, pid_t pid) -> asio::awaitable<void> {
        ++asked;
        BOOST_TEST(to_string(which) == "default/0#1");
        BOOST_TEST(pid == 1000000);
        if (!well) {
            throw std::runtime_error("its port does not answer");
        }
        co_return;
    };
    running_pool pool(config);
    pool.advance(30s, 1s);
    BOOST_TEST(asked == 1);
    BOOST_TEST((pool.worker_status_of(0).state == worker_state::ready));
    well = false;
    pool.advance(30s, 1s);
    BOOST_TEST(asked == 2);
    check_mentions(pool.worker_status_of(0).last_transition->reason, "its port does not answer");
    well = true;
    pool.advance(5s, 1s);
    BOOST_TEST(asked == 3);
    BOOST_TEST((pool.worker_status_of(0).state == worker_state::ready));
}

BOOST_AUTO_TEST_CASE(a_hung_probe_of_the_users_own_blocks_nothing) {
    auto config = quiet_config();
    int cancelled = 0;
    config.health_check.probe = [&](worker_id, pid_t) -> asio::awaitable<void> {
        asio::basic_waitable_timer<skep::clock> never(co_await asio::this_coro::executor, time_point::max());
        try {
            co_await never.async_wait(asio::use_awaitable);
        } catch (const boost::system::system_error&) {
            ++cancelled;
            throw;
        }
    };
    running_pool pool(config);
    pool.advance(35s, 1s);
    BOOST_TEST(cancelled == 1);
    BOOST_TEST((pool.worker_status_of(0).state == worker_state::degraded));
    pool.advance(20s, 500ms);
    BOOST_TEST(pool.launched() == 2u);
    pool.advance(31s, 1s); // the next one's probe hangs as well, and the pool is shut down meanwhile
}

BOOST_AUTO_TEST_CASE(a_call_that_fails_in_a_way_that_counts_degrades) {
    probed_pool pool(quiet_config());
    const auto call = pool.execute(request("work"));
    pool.worker(0).fail(pool.worker(0).take_call(), "MemoryError", "");
    pool.run_until_idle();
    BOOST_TEST(call->code() == errc::remote_error);
    const auto status = pool.worker_status_of(0);
    BOOST_TEST((status.state == worker_state::degraded));
    BOOST_TEST(status.errors == 1u);
    check_mentions(status.last_transition->reason, "MemoryError");
    pool.pass(pool.take_probe());
    BOOST_TEST((pool.worker_status_of(0).state == worker_state::ready));
}

BOOST_AUTO_TEST_CASE(other_exceptions_are_the_calls_own) {
    probed_pool pool(quiet_config());
    for (int i = 0; i < 19; ++i) {
        const auto call = pool.execute(request("work"));
        pool.worker(0).fail(pool.worker(0).take_call(), "ValueError", "");
        pool.run_until_idle();
        BOOST_TEST(call->code() == errc::remote_error);
    }
    BOOST_TEST((pool.worker_status_of(0).state == worker_state::ready));
    BOOST_TEST(pool.worker_status_of(0).errors == 19u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
