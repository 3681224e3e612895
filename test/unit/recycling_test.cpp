// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Planned replacement: recycling, restart(), rolling_restart(), on virtual time.

#include "support/fake_runtime.hpp"
#include "support/log_capture.hpp"

#include <boost/test/unit_test.hpp>

#include <csignal>
#include <set>

namespace skep::test {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(recycling)

namespace {

pool_config recycling_config(std::size_t workers = 1) {
    auto config = fake_config(workers);
    config.recycle.jitter = 0;
    return config;
}

/// Keeps the successors from becoming ready until the test lets them.
void hold_back_successors(manual_pool& pool) {
    pool.runtime().on_start = [](fake_worker&) {};
}

std::size_t ready_workers(manual_pool& pool) {
    std::size_t count = 0;
    for (const auto& each : pool.status().workers) {
        count += !each.retiring && (each.state == worker_state::ready || each.state == worker_state::busy);
    }
    return count;
}

/// Its first worker is retired with a call that its caller has given up, and another one behind.
class retired_in_two_minds : public running_pool {
public:
    retired_in_two_minds() : running_pool(config()) {
        given_up = execute(request("given up").timeout(1s));
        behind = execute(request("behind"));
        ids = worker(0).take_calls();
        BOOST_REQUIRE(ids.size() == 2u);
        advance(1s);
        BOOST_TEST(given_up->code() == errc::timeout);
        begin(facade().rolling_restart());
    }

    bool is_asked_to_stop() { return !worker(0).take_controls("shutdown").empty(); }

    std::shared_ptr<outcome<reply>> given_up;
    std::shared_ptr<outcome<reply>> behind;
    std::vector<boost::json::object> ids;

private:
    static pool_config config() {
        auto result = recycling_config();
        result.pipeline_depth = 1;
        return result;
    }
};

} // namespace

BOOST_AUTO_TEST_CASE(by_number_of_calls_with_the_new_one_ready_before_the_old_one_leaves) {
    auto config = recycling_config();
    config.recycle.calls = 3;
    running_pool pool(config);
    hold_back_successors(pool);
    for (int i = 0; i < 3; ++i) {
        pool.warm_up();
    }
    BOOST_TEST(pool.launched() == 2u);
    const auto meanwhile = pool.execute(request("meanwhile"));
    BOOST_TEST(pool.serve(0) == "meanwhile"); // make before break
    BOOST_TEST(pool.status().starting == 1u);

    pool.worker(1).shake_hands();
    pool.run_until_idle();
    const auto next = pool.execute(request("next"));
    BOOST_TEST(pool.serve(1) == "next");
    BOOST_TEST(next->value->worker.generation == 2u);
    BOOST_TEST(pool.worker(0).take_controls("shutdown").size() == 1u); // asked, so that on_stop runs
    pool.advance(2s);
    const auto counters = pool.counters();
    BOOST_TEST(counters.workers_recycled == 1u);
    BOOST_TEST(counters.workers_lost == 0u);
    BOOST_TEST(pool.status().workers.size() == 1u);
    BOOST_TEST(!pool.status().last_failure);
}

BOOST_AUTO_TEST_CASE(failed_calls_count_too) {
    auto config = recycling_config();
    config.recycle.calls = 2;
    running_pool pool(config);
    for (int i = 0; i < 2; ++i) {
        const auto call = pool.execute(request("work"));
        pool.worker(0).fail(pool.worker(0).take_call(), "ValueError", "");
        pool.run_until_idle();
    }
    pool.advance(2s);
    BOOST_TEST(pool.counters().workers_recycled == 1u);
}

BOOST_AUTO_TEST_CASE(by_age) {
    auto config = recycling_config();
    config.recycle.age = 1min;
    running_pool pool(config);
    BOOST_TEST((pool.worker_status_of(0).recycle_in == 60s));
    pool.advance(59s, 1s);
    BOOST_TEST(pool.launched() == 1u);
    pool.advance(1s);
    BOOST_TEST(pool.launched() == 2u);
    pool.advance(3s, 100ms);
    BOOST_TEST(pool.worker_status_of(0).id.generation == 2u);
    BOOST_TEST(pool.counters().workers_recycled == 1u);
}

BOOST_AUTO_TEST_CASE(workers_of_one_age_do_not_leave_together) {
    auto config = recycling_config(4);
    config.recycle.age = 100s;
    config.recycle.jitter = 0.2;
    running_pool pool(config);
    std::set<duration> dues;
    for (const auto& each : pool.status().workers) {
        dues.insert(each.recycle_in.value());
        BOOST_TEST((*each.recycle_in >= 80s && *each.recycle_in <= 120s));
    }
    BOOST_TEST(dues.size() == 4u);
}

BOOST_AUTO_TEST_CASE(by_its_own_memory_softly_calls_in_flight_finish) {
    auto config = recycling_config();
    config.recycle.soft_memory = 100u << 20;
    running_pool pool(config);
    const auto call = pool.execute(request("work"));
    const auto id = pool.worker(0).take_call();
    pool.advance(5s);
    BOOST_TEST(pool.launched() == 1u);
    pool.worker(0).resident = 101u << 20;
    BOOST_TEST(pool.worker_status_of(0).resident_bytes == 101u << 20);
    pool.advance(1s);
    BOOST_TEST(pool.launched() == 2u);
    pool.advance(5s);
    BOOST_TEST(pool.worker(0).terminations == 0);
    BOOST_TEST(pool.worker(0).take_controls("shutdown").empty());
    pool.worker(0).reply(id);
    pool.run_until_idle();
    BOOST_TEST(call->value.has_value());
    BOOST_TEST(pool.worker(0).take_controls("shutdown").size() == 1u);
}

BOOST_AUTO_TEST_CASE(above_the_hard_limit_at_once) {
    auto config = recycling_config();
    config.recycle.hard_memory = 100u << 20;
    running_pool pool(config);
    const auto call = pool.execute(request("work").idempotent(true));
    pool.worker(0).take_call();
    pool.worker(0).resident = 101u << 20;
    pool.advance(1s);
    BOOST_TEST(pool.worker(0).terminations == 1);
    BOOST_TEST(pool.serve(1) == "work");
    BOOST_TEST(call->value.has_value());
    check_mentions(pool.worker_status_of(0).last_failure, "its hard limit is 104857600");
}

BOOST_AUTO_TEST_CASE(one_that_leaves_for_its_soft_limit_and_crosses_the_hard_one_tells_the_hard_one) {
    auto config = recycling_config();
    config.recycle.soft_memory = 100u << 20;
    config.recycle.hard_memory = 200u << 20;
    running_pool pool(config);
    const auto call = pool.execute(request("work"));
    pool.worker(0).take_call();
    pool.worker(0).resident = 101u << 20;
    pool.advance(2s);
    BOOST_TEST(pool.worker_status_of(0).id.generation == 2u); // it has a successor
    pool.worker(0).resident = 201u << 20;
    pool.advance(1s);
    BOOST_TEST(pool.worker(0).terminations == 1);
    BOOST_TEST(call->code() == errc::worker_lost);
    check_mentions(call->text(), "its hard limit is 209715200");
    check_mentions(call->text(), "raise recycle.hard_memory if the call needs that much");
    BOOST_TEST(call->text().find("soft") == std::string::npos);
    BOOST_TEST(call->text().find("idempotent") == std::string::npos);
    BOOST_TEST(pool.counters().workers_replaced == 1u);
    BOOST_TEST(pool.counters().workers_recycled == 0u);
}

BOOST_AUTO_TEST_CASE(no_more_at_a_time_than_allowed_and_never_fewer_ready) {
    auto config = recycling_config(4);
    config.recycle.age = 10s;
    config.recycle.max_recycling = 2;
    running_pool pool(config);
    hold_back_successors(pool);
    pool.advance(11s, 1s);
    BOOST_TEST(pool.launched() == 6u);
    BOOST_TEST(ready_workers(pool) == 4u);
    pool.worker(4).shake_hands();
    pool.advance(500ms);
    BOOST_TEST(pool.launched() == 6u); // the old one has been asked, and is still there
    pool.advance(1s);
    BOOST_TEST(pool.launched() == 7u);
    BOOST_TEST(ready_workers(pool) == 4u);
    for (std::size_t i = 5; i < 8; ++i) {
        pool.worker(i).shake_hands();
        pool.advance(2s);
        BOOST_TEST(ready_workers(pool) == 4u);
    }
    BOOST_TEST(pool.counters().workers_recycled == 4u);
}

BOOST_AUTO_TEST_CASE(an_old_one_that_dies_meanwhile_leaves_its_place_to_the_new_one) {
    auto config = recycling_config();
    config.recycle.calls = 1;
    running_pool pool(config);
    hold_back_successors(pool);
    pool.warm_up();
    BOOST_TEST(pool.launched() == 2u);
    pool.worker(0).exit(exit_status::signalled(SIGSEGV));
    pool.advance(1s);
    BOOST_TEST(pool.launched() == 2u);
    pool.worker(1).shake_hands();
    pool.run_until_idle();
    pool.warm_up(1);
    BOOST_TEST(pool.counters().workers_lost == 1u);
    BOOST_TEST(pool.counters().workers_recycled == 0u);
}

BOOST_AUTO_TEST_CASE(a_new_one_that_does_not_come_up_leaves_the_old_one_serving_and_is_tried_again) {
    auto config = recycling_config();
    config.recycle.calls = 1;
    running_pool pool(config);
    pool.runtime().on_start = [](fake_worker& fresh) { fresh.exit(exit_status::exited(1)); };
    pool.warm_up();
    pool.advance(1s);
    BOOST_TEST(pool.launched() > 2u);
    pool.warm_up(0);
    pool.runtime().on_start = [](fake_worker& fresh) { fresh.shake_hands(); };
    pool.advance(1min, 100ms);
    BOOST_TEST(pool.counters().workers_recycled == 1u);
    BOOST_TEST(pool.worker_status_of(0).id.generation > 2u);
}

BOOST_AUTO_TEST_CASE(restart_of_one) {
    running_pool pool(recycling_config(2));
    const auto old = pool.worker_status_of(1).id;
    const auto restarted = pool.begin(pool.facade().restart(old));
    BOOST_TEST(!restarted->done);
    pool.advance(2s);
    BOOST_TEST(restarted->value.has_value());
    BOOST_TEST(pool.worker_status_of(1).id.generation == 2u);
    BOOST_TEST(pool.worker_status_of(0).id.generation == 1u);
    const auto again = pool.begin(pool.facade().restart(old));
    BOOST_TEST(again->code() == errc::unknown_worker);
}

BOOST_AUTO_TEST_CASE(rolling_restart_replaces_all_and_loses_nothing) {
    running_pool pool(recycling_config(3));
    const auto call = pool.execute(request("long"));
    const auto id = pool.worker(0).take_call();
    const auto rolled = pool.begin(pool.facade().rolling_restart());
    pool.advance(10s, 100ms);
    BOOST_TEST(!rolled->done); // a call is in flight
    pool.worker(0).reply(id);
    pool.advance(10s, 100ms);
    BOOST_TEST(call->value.has_value());
    BOOST_TEST(rolled->value.has_value());
    for (const auto& each : pool.status().workers) {
        BOOST_TEST(each.id.generation == 2u);
    }
    BOOST_TEST(pool.counters().workers_recycled == 3u);
}

BOOST_AUTO_TEST_CASE(a_rolling_restart_onto_a_broken_script_fails_and_leaves_the_rest_serving) {
    running_pool pool(recycling_config(3));
    pool.runtime().on_start = [](fake_worker& fresh) {
        fresh.last_words = "ImportError: no module";
        fresh.exit(exit_status::exited(1));
    };
    const auto rolled = pool.begin(pool.facade().rolling_restart());
    pool.advance(1s);
    BOOST_TEST(rolled->code() == errc::restart_failed);
    check_mentions(rolled->text(), "the restart failed");
    check_mentions(rolled->text(), "ImportError");
    pool.advance(1min, 1s);
    BOOST_TEST(ready_workers(pool) == 3u);
    BOOST_TEST(pool.launched() == 4u);
}

BOOST_AUTO_TEST_CASE(cancelling_and_shutting_down_end_the_wait) {
    running_pool pool(recycling_config(2));
    hold_back_successors(pool);
    const auto cancelled = pool.begin(pool.facade().rolling_restart());
    const auto shut_down = pool.begin(pool.facade().rolling_restart());
    cancelled->cancel.emit(asio::cancellation_type::terminal);
    pool.run_until_idle();
    BOOST_TEST(cancelled->code() == errc::cancelled);
    const auto report = pool.shutdown();
    pool.advance(10s, 100ms);
    BOOST_TEST(shut_down->code() == errc::shutting_down);
    BOOST_TEST(report->value.has_value());
}

BOOST_AUTO_TEST_CASE(counters_add_up) {
    auto config = recycling_config(3);
    config.recycle.calls = 2;
    running_pool pool(config);
    for (int i = 0; i < 12; ++i) {
        const auto call = pool.execute(request("work"));
        for (std::size_t k = 0; k < pool.launched(); ++k) {
            for (const auto& each : pool.worker(k).take_calls()) {
                pool.worker(k).reply(id_of(each));
            }
        }
        pool.advance(2s, 100ms);
        BOOST_TEST(call->value.has_value());
    }
    pool.worker(pool.launched() - 1).exit(exit_status::signalled(SIGKILL));
    pool.advance(2s);
    const auto status = pool.status();
    const auto& c = status.counters;
    BOOST_TEST(c.workers_recycled >= 5u);
    BOOST_TEST(c.workers_lost == 1u);
    BOOST_TEST(c.workers_started ==
               c.workers_lost + c.workers_replaced + c.workers_recycled + c.workers_removed + status.live);
    BOOST_TEST(c.submitted == c.succeeded + c.failed + status.in_flight + status.queued);
}

// It may have answered the one and begun the other before it learnt that it is to go.
BOOST_AUTO_TEST_CASE(a_call_behind_one_that_was_given_up_is_not_lost_if_it_has_begun) {
    retired_in_two_minds pool;
    BOOST_TEST(pool.launched() == 2u);
    BOOST_TEST(!pool.is_asked_to_stop());
    pool.worker(0).reply(id_of(pool.ids[0]));
    pool.advance(5s);
    BOOST_TEST(!pool.is_asked_to_stop());
    pool.worker(0).reply(id_of(pool.ids[1]), "done");
    pool.run_until_idle();
    BOOST_REQUIRE(pool.behind->value);
    BOOST_TEST(pool.behind->value->value == boost::json::value("done"));
    BOOST_TEST(pool.behind->value->worker.generation == 1u);
    BOOST_TEST(pool.is_asked_to_stop());
}

// Somebody restarts the worker, and it crashes at the call that it was to end first.
BOOST_AUTO_TEST_CASE(a_worker_that_crashes_as_it_drains_is_told_and_counted_as_crashed) {
    running_pool pool(recycling_config());
    const auto call = pool.execute(request("work"));
    pool.worker(0).take_call();
    pool.begin(pool.facade().rolling_restart());
    pool.run_until_idle();
    BOOST_TEST(pool.worker_status_of(0).id.generation == 2u);
    crash_worker(pool, 0, exit_status::signalled(SIGSEGV));
    BOOST_TEST(call->code() == errc::worker_lost);
    check_mentions(call->text(), "its process ended");
    BOOST_TEST(call->text().find("restart") == std::string::npos);
    const auto& counters = pool.counters();
    BOOST_TEST(counters.workers_recycled == 0u);
    BOOST_TEST(counters.workers_lost == 1u);
    BOOST_TEST(counters.crashes == 1u);
    BOOST_TEST((pool.worker_status_of(0).availability == availability_view::available)); // as it left by plan
    check_mentions(pool.worker_status_of(0).last_failure, "its process ended");
}

BOOST_AUTO_TEST_CASE(it_is_sent_to_another_if_the_worker_says_nothing_for_cancel_grace) {
    retired_in_two_minds pool;
    pool.advance(1900ms);
    BOOST_TEST(!pool.is_asked_to_stop());
    pool.advance(200ms);
    BOOST_TEST(pool.is_asked_to_stop());
    pool.worker(0).exit(exit_status::exited(0));
    pool.advance(300ms);
    BOOST_TEST(pool.serve(1) == "behind");
    BOOST_TEST(pool.behind->value.has_value());
}

BOOST_AUTO_TEST_SUITE(limits_that_cannot_be_met)

namespace {

constexpr std::uint64_t mebibyte = 1u << 20;

pool_config logged_config() {
    auto config = recycling_config();
    config.restart.jitter = 0;
    config.log_level = log_level::warning;
    config.log_handler = capturing_handler();
    return config;
}

/// Each of its workers holds so much from the beginning.
void begin_with(manual_pool& pool, std::uint64_t bytes) {
    pool.runtime().on_start = [bytes](fake_worker& fresh) {
        fresh.resident = bytes;
        fresh.shake_hands();
    };
}

} // namespace

BOOST_AUTO_TEST_CASE(a_soft_limit_below_what_a_fresh_worker_holds_is_warned_of_once_and_backs_off) {
    const log_capture log;
    auto config = logged_config();
    config.recycle.soft_memory = 100 * mebibyte;
    manual_pool pool(config);
    begin_with(pool, 101 * mebibyte);
    BOOST_TEST(pool.start()->value.has_value());
    pool.advance(10min, 100ms);
    BOOST_TEST(pool.launched() > 3u);
    BOOST_TEST(pool.launched() < 40u); // half a minute apart in the end
    BOOST_TEST(log.count("recycle.soft_memory is less than a fresh worker needs") == 1, log.text());
    check_mentions(log.text(), "it holds 105906176 bytes, its soft limit is 104857600");
    check_mentions(log.text(), "it held 105906176 when it was ready");
    pool.warm_up(pool.launched() - 1);
}

BOOST_AUTO_TEST_CASE(it_does_not_put_off_its_number_of_calls) {
    auto config = recycling_config();
    config.recycle.soft_memory = 100 * mebibyte;
    config.recycle.calls = 3;
    config.restart.initial_backoff = 1h;
    config.restart.max_backoff = 1h;
    manual_pool pool(config);
    begin_with(pool, 101 * mebibyte);
    BOOST_TEST(pool.start()->value.has_value());
    pool.advance(10s, 100ms);
    BOOST_TEST(pool.launched() == 2u);
    for (int i = 0; i < 3; ++i) {
        pool.warm_up(1);
    }
    pool.advance(10s, 100ms);
    BOOST_TEST(pool.launched() == 3u);
    BOOST_TEST(pool.counters().workers_recycled == 2u);
}

BOOST_AUTO_TEST_CASE(nor_its_age) {
    auto config = recycling_config();
    config.recycle.soft_memory = 100 * mebibyte;
    config.recycle.age = 1min;
    config.restart.initial_backoff = 1h;
    config.restart.max_backoff = 1h;
    manual_pool pool(config);
    begin_with(pool, 101 * mebibyte);
    BOOST_TEST(pool.start()->value.has_value());
    pool.advance(50s, 100ms);
    BOOST_TEST(pool.launched() == 2u);
    pool.advance(20s, 100ms);
    BOOST_TEST(pool.launched() == 3u);
}

BOOST_AUTO_TEST_CASE(workers_that_grow_by_their_calls_are_replaced_as_ever) {
    const log_capture log;
    auto config = logged_config();
    config.recycle.soft_memory = 100 * mebibyte;
    running_pool pool(config);
    for (std::size_t i = 0; i < 20; ++i) {
        BOOST_TEST_REQUIRE(pool.launched() == i + 1);
        pool.warm_up(i);
        pool.worker(i).resident = 101 * mebibyte;
        pool.advance(2s, 100ms);
    }
    BOOST_TEST(log.text() == "");
}

BOOST_AUTO_TEST_CASE(a_hard_limit_below_what_a_fresh_worker_holds_backs_off_too) {
    const log_capture log;
    auto config = logged_config();
    config.recycle.hard_memory = 100 * mebibyte;
    config.restart.limit = 1'000'000; // which would make the pool unavailable before
    manual_pool pool(config);
    begin_with(pool, 101 * mebibyte);
    BOOST_TEST(pool.start()->value.has_value());
    pool.advance(1min, 100ms);
    BOOST_TEST(pool.launched() > 3u);
    BOOST_TEST(pool.launched() < 15u);
    check_mentions(log.text(), "it holds 105906176 bytes, its hard limit is 104857600");
}

BOOST_AUTO_TEST_CASE(an_age_that_is_no_more_than_a_start_takes_is_warned_of_once) {
    const log_capture log;
    auto config = logged_config();
    config.recycle.age = 2s;
    running_pool pool(config);
    hold_back_successors(pool);
    for (std::size_t i = 1; i < 5; ++i) {
        pool.advance(3s, 100ms);
        BOOST_TEST_REQUIRE(pool.launched() == i + 1);
        pool.advance(3s, 100ms);
        pool.worker(i).shake_hands();
        pool.run_until_idle();
    }
    BOOST_TEST(log.count("recycle.age, 2000 ms, is no more than the") == 1, log.text());
}

BOOST_AUTO_TEST_CASE(limits_of_memory_that_cannot_be_measured_are_warned_of_once) {
    const log_capture log;
    auto config = logged_config();
    config.workers = 2;
    config.recycle.soft_memory = 100 * mebibyte;
    manual_pool pool(config);
    pool.runtime().on_start = [](fake_worker& fresh) {
        fresh.is_measurable = false;
        fresh.resident = 1u << 30;
        fresh.shake_hands();
    };
    BOOST_TEST(pool.start()->value.has_value());
    pool.advance(1min, 100ms);
    BOOST_TEST(pool.launched() == 2u);
    BOOST_TEST(pool.worker_status_of(0).resident_bytes == 0u);
    BOOST_TEST(log.count("is not measured, and recycle.soft_memory") == 1, log.text());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
