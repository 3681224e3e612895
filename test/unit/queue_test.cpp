// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "support/fake_runtime.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

namespace skep::test {

using namespace std::chrono_literals;

namespace {

using pending_reply = std::shared_ptr<manual_pool::outcome<reply>>;

/// Calls named "0", "1" and so on.
std::vector<pending_reply> submit(manual_pool& pool, int count) {
    std::vector<pending_reply> calls;
    for (int i = 0; i < count; ++i) {
        calls.push_back(pool.execute(request(std::to_string(i))));
    }
    return calls;
}

pool_config with_queue_limit(std::size_t limit) {
    auto config = fake_config();
    config.queue.limit = limit;
    return config;
}

pool_config with_queue_timeout(duration limit) {
    auto config = fake_config();
    config.queue.timeout = limit;
    return config;
}

/// Runs `count` handlers, no matter which.
void run_some(manual_pool& pool, int count) {
    pool.context.restart();
    for (int i = 0; i < count; ++i) {
        pool.context.poll_one();
    }
}

void ignore_newcomers(manual_pool& pool) {
    pool.runtime().on_start = [](fake_worker&) {};
}

} // namespace

BOOST_AUTO_TEST_SUITE(queue)

BOOST_AUTO_TEST_CASE(calls_are_served_in_order_of_arrival) {
    running_pool pool(fake_config());
    const auto calls = submit(pool, 5);
    for (int i = 0; i < 5; ++i) {
        BOOST_TEST(pool.serve() == std::to_string(i));
        BOOST_TEST(calls[i]->value.has_value());
        BOOST_TEST((i == 4 || !calls[i + 1]->done));
    }
}

BOOST_AUTO_TEST_CASE(the_oldest_waiter_gets_whichever_worker_is_free_first) {
    running_pool pool(fake_config(3));
    submit(pool, 6);
    pool.serve(1);
    pool.serve(2);
    BOOST_TEST(pool.serve(1) == "3");
    BOOST_TEST(pool.serve(2) == "4");
    BOOST_TEST(pool.serve(1) == "5");
}

BOOST_AUTO_TEST_CASE(a_worker_with_room_for_more_takes_them_at_once) {
    auto config = fake_config();
    config.capacity = 3;
    running_pool pool(config);
    submit(pool, 5);
    BOOST_TEST(pool.worker(0).take_calls().size() == 3u);
    BOOST_TEST(pool.status().queued == 2u);
    BOOST_TEST(pool.status().in_flight == 3u);
}

BOOST_AUTO_TEST_CASE(a_worker_that_offers_less_gets_less) {
    auto config = fake_config();
    config.capacity = 3;
    manual_pool pool(config);
    pool.runtime().on_start = [](fake_worker& fresh) { fresh.shake_hands(2); };
    pool.start();
    submit(pool, 5);
    BOOST_TEST(pool.worker(0).take_calls().size() == 2u);
}

/// As bytes go: what a worker has been sent and has not taken must not pile up in the host.
BOOST_AUTO_TEST_CASE(a_worker_too_slow_to_take_its_calls_gets_more_as_it_takes_them) {
    auto config = fake_config();
    config.capacity = 100;
    config.limits.frame_bytes = config.limits.json_bytes = 1u << 20;
    running_pool pool(config);
    for (int i = 0; i < 20; ++i) {
        pool.execute(request(std::to_string(i)).attach(std::vector<std::byte>(1'000'000)));
    }
    BOOST_TEST(pool.status().in_flight < 5u);
    std::size_t received = 0;
    for (int turn = 0; turn < 1000 && received < 20; ++turn) {
        received += pool.worker(0).take_calls().size();
        pool.run_until_idle();
    }
    BOOST_TEST(received == 20u); // though it has not answered any
    BOOST_TEST(pool.status().queued == 0u);
}

BOOST_AUTO_TEST_CASE(a_newcomer_does_not_overtake) {
    for (int handlers = 0; handlers < 20; ++handlers) {
        running_pool pool(fake_config());
        submit(pool, 2);
        pool.worker(0).answer_call();
        run_some(pool, handlers);
        const auto newcomer = pool.execute(request("newcomer"));
        BOOST_TEST(pool.serve() == "1");
        BOOST_TEST(pool.serve() == "newcomer");
    }
}

BOOST_AUTO_TEST_CASE(waiting_and_running_time_are_told_apart) {
    running_pool pool(fake_config());
    const auto calls = submit(pool, 2);
    pool.advance(300ms);
    pool.serve();
    pool.advance(200ms);
    pool.serve();
    BOOST_REQUIRE(calls[1]->value);
    BOOST_TEST((calls[0]->value->queue_time == 0ms));
    BOOST_TEST((calls[0]->value->run_time == 300ms));
    BOOST_TEST((calls[1]->value->queue_time == 300ms));
    BOOST_TEST((calls[1]->value->run_time == 200ms));
}

BOOST_AUTO_TEST_SUITE(limit)

BOOST_AUTO_TEST_CASE(a_full_queue_refuses_at_once) {
    running_pool pool(with_queue_limit(2));
    const auto calls = submit(pool, 4);
    BOOST_TEST(!calls[2]->done);
    BOOST_TEST(calls[3]->code() == errc::pool_saturated);
    BOOST_TEST(calls[3]->info().queue_depth == 2u);
    BOOST_TEST(calls[3]->info().command == "3");
    BOOST_TEST(pool.counters().rejected == 1u);
}

BOOST_AUTO_TEST_CASE(a_place_that_became_free_is_free) {
    running_pool pool(with_queue_limit(2));
    submit(pool, 3);
    pool.serve();
    const auto late = pool.execute(request("late"));
    BOOST_TEST(!late->done);
    BOOST_TEST(pool.execute(request("too late"))->code() == errc::pool_saturated);
}

BOOST_AUTO_TEST_CASE(zero_refuses_when_all_are_busy) {
    running_pool pool(with_queue_limit(0));
    const auto calls = submit(pool, 2);
    BOOST_TEST(!calls[0]->done);
    BOOST_TEST(calls[1]->code() == errc::pool_saturated);
    pool.serve();
    BOOST_TEST(!pool.execute(request("next"))->done);
}

BOOST_AUTO_TEST_CASE(a_cancelled_waiter_gives_up_its_place) {
    running_pool pool(with_queue_limit(1));
    const auto calls = submit(pool, 2);
    calls[1]->cancel.emit(asio::cancellation_type::terminal);
    pool.run_until_idle();
    BOOST_TEST(!pool.execute(request("next"))->done);
}

BOOST_AUTO_TEST_CASE(a_waiter_that_timed_out_gives_up_its_place) {
    running_pool pool(with_queue_limit(1));
    submit(pool, 2);
    pool.advance(5s);
    BOOST_TEST(!pool.execute(request("next"))->done);
}

BOOST_AUTO_TEST_CASE(a_retried_call_may_wait_though_the_queue_is_full) {
    running_pool pool(with_queue_limit(0));
    ignore_newcomers(pool);
    const auto call = pool.execute(request("again").idempotent(true));
    pool.worker(0).exit(exit_status::exited(1));
    pool.run_until_idle();
    BOOST_TEST(!call->done);
    BOOST_TEST(pool.status().queued == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(timeouts)

BOOST_AUTO_TEST_CASE(a_waiter_times_out_at_its_time) {
    running_pool pool(fake_config());
    const auto calls = submit(pool, 2);
    pool.advance(4990ms);
    BOOST_TEST(!calls[1]->done);
    pool.advance(10ms);
    BOOST_TEST(calls[1]->code() == errc::queue_timeout);
    BOOST_TEST((calls[1]->info().wait_time == 5s));
    BOOST_TEST(calls[1]->info().attempts == 0);
    BOOST_TEST(!calls[0]->done);
    BOOST_TEST(pool.counters().queue_timeouts == 1u);
    BOOST_TEST(pool.counters().timeouts == 0u);
}

BOOST_AUTO_TEST_CASE(each_at_its_own) {
    running_pool pool(fake_config());
    pool.execute(request("busy"));
    const auto third = pool.execute(request("c").queue_timeout(3s));
    const auto first = pool.execute(request("a").queue_timeout(1s));
    const auto second = pool.execute(request("b").queue_timeout(2s));
    pool.advance(1s);
    BOOST_TEST(first->code() == errc::queue_timeout);
    BOOST_TEST(!second->done);
    pool.advance(1s);
    BOOST_TEST(second->code() == errc::queue_timeout);
    BOOST_TEST(!third->done);
    pool.advance(1s);
    BOOST_TEST(third->code() == errc::queue_timeout);
}

BOOST_AUTO_TEST_CASE(a_request_may_wait_longer_than_the_pools_limit) {
    running_pool pool(with_queue_timeout(1s));
    pool.execute(request("busy"));
    const auto patient = pool.execute(request("patient").queue_timeout(3s));
    pool.advance(2990ms);
    BOOST_TEST(!patient->done);
    pool.advance(10ms);
    BOOST_TEST(patient->code() == errc::queue_timeout);
}

BOOST_AUTO_TEST_CASE(zero_in_a_request_leaves_only_the_deadline) {
    running_pool pool(fake_config());
    pool.execute(request("busy"));
    const auto patient = pool.execute(request("patient").queue_timeout(0s).timeout(20s));
    pool.advance(19990ms);
    BOOST_TEST(!patient->done);
    pool.advance(10ms);
    BOOST_TEST(patient->code() == errc::timeout);
}

BOOST_AUTO_TEST_CASE(zero_in_the_pool_leaves_only_the_deadline) {
    running_pool pool(with_queue_timeout(0s));
    pool.execute(request("busy").timeout(0s));
    const auto patient = pool.execute(request("patient"));
    pool.advance(59990ms);
    BOOST_TEST(!patient->done);
    pool.advance(10ms);
    BOOST_TEST(patient->code() == errc::timeout);
}

BOOST_AUTO_TEST_CASE(the_deadline_is_named_when_it_comes_first) {
    running_pool pool(fake_config());
    pool.execute(request("busy"));
    const auto call = pool.execute(request("urgent").timeout(1s));
    pool.advance(990ms);
    BOOST_TEST(!call->done);
    pool.advance(10ms);
    BOOST_TEST(call->code() == errc::timeout);
    BOOST_TEST(pool.counters().timeouts == 1u);
    BOOST_TEST(pool.counters().queue_timeouts == 0u);
}

BOOST_AUTO_TEST_CASE(the_queue_is_named_when_it_comes_first) {
    running_pool pool(fake_config());
    pool.execute(request("busy"));
    const auto call = pool.execute(request("x").timeout(5001ms));
    pool.advance(5s);
    BOOST_TEST(call->code() == errc::queue_timeout);
}

BOOST_AUTO_TEST_CASE(the_clock_of_the_queue_stops_when_a_worker_is_found) {
    running_pool pool(fake_config());
    const auto calls = submit(pool, 2);
    pool.advance(4s);
    pool.serve();
    pool.advance(10s);
    BOOST_TEST(!calls[1]->done);
    pool.serve();
    BOOST_TEST(calls[1]->value.has_value());
}

BOOST_AUTO_TEST_CASE(it_says_why_there_is_no_worker) {
    running_pool pool(fake_config());
    ignore_newcomers(pool);
    pool.worker(0).exit(exit_status::exited(3));
    pool.run_until_idle();
    const auto call = pool.execute(request("x"));
    pool.advance(5s);
    BOOST_TEST(call->code() == errc::no_worker);
    check_mentions(call->text(), "no worker is up");
    check_mentions(call->text(), "its process ended");
}

BOOST_AUTO_TEST_CASE(a_hundred_thousand_at_once_neither_get_lost_nor_block_the_pool) {
    auto config = fake_config();
    config.queue.limit = 1'000'000;
    running_pool pool(config);
    pool.execute(request("busy"));
    constexpr int count = 100'000;
    int timed_out = 0;
    int others = 0;
    int timed_out_before_status = -1;
    const auto on_status = [&](std::exception_ptr, const pool_status&) {
        timed_out_before_status = timed_out;
    };
    const auto on_end = [&](std::exception_ptr problem, const reply&) {
        try {
            std::rethrow_exception(problem);
        } catch (const error& e) {
            ++(e.code() == errc::queue_timeout ? timed_out : others);
        }
        if (timed_out == 1) { // in the midst of it somebody wants to know something
            asio::co_spawn(pool.context, pool.facade().status(), on_status);
        }
    };
    for (int i = 0; i < count; ++i) {
        asio::co_spawn(pool.context, pool.facade().execute("x"), on_end);
    }
    pool.run_until_idle();
    BOOST_TEST(pool.status().queued == std::size_t(count));
    pool.advance(5s, 5s);
    BOOST_TEST(timed_out == count);
    BOOST_TEST(others == 0);
    BOOST_TEST(timed_out_before_status > 0);
    BOOST_TEST(timed_out_before_status < 5'000);
    BOOST_TEST(pool.status().queued == 0u);
    BOOST_TEST(pool.serve() == "busy");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(leaving)

BOOST_AUTO_TEST_CASE(cancelling_some_leaves_the_others_in_order) {
    running_pool pool(fake_config());
    const auto calls = submit(pool, 8);
    for (const int i : {1, 4, 7}) { // the first, one in the middle, the last
        calls[i]->cancel.emit(asio::cancellation_type::terminal);
        pool.run_until_idle();
        BOOST_TEST(calls[i]->code() == errc::cancelled);
    }
    for (const auto* const next : {"0", "2", "3", "5", "6"}) {
        BOOST_TEST(pool.serve() == next);
    }
    BOOST_TEST(pool.status().queued == 0u);
}

BOOST_AUTO_TEST_CASE(timeouts_of_some_leave_the_others_in_order) {
    running_pool pool(fake_config());
    submit(pool, 1);
    for (const int i : {1, 2, 3, 4, 5}) {
        pool.execute(request(std::to_string(i)).queue_timeout(i % 2 == 0 ? 1s : 4s));
    }
    pool.advance(2s);
    for (const auto* const next : {"0", "1", "3", "5"}) {
        BOOST_TEST(pool.serve() == next);
    }
}

// However the two meet, the worker goes to somebody, and nobody is forgotten.
BOOST_AUTO_TEST_CASE(a_waiter_cancelled_while_a_worker_becomes_free_loses_nothing) {
    for (const auto type : {asio::cancellation_type::terminal, asio::cancellation_type::partial,
                            asio::cancellation_type::total}) {
        for (int handlers = 0; handlers < 30; ++handlers) {
            running_pool pool(fake_config());
            const auto calls = submit(pool, 3);
            pool.worker(0).answer_call();
            run_some(pool, handlers);
            calls[1]->cancel.emit(type);
            pool.run_until_idle();
            BOOST_TEST(calls[0]->value.has_value());
            auto next = pool.serve();
            if (next == "1") { // it had been granted
                next = pool.serve();
            }
            BOOST_TEST(next == "2");
            BOOST_TEST(calls[1]->done);
            BOOST_TEST(calls[2]->value.has_value());
            BOOST_TEST(pool.status().in_flight == 0u);
        }
    }
}

BOOST_AUTO_TEST_CASE(a_waiter_that_times_out_while_a_worker_becomes_free_loses_nothing) {
    for (int handlers = 0; handlers < 30; ++handlers) {
        running_pool pool(fake_config());
        pool.execute(request("0"));
        const auto unlucky = pool.execute(request("1").queue_timeout(1s));
        const auto next = pool.execute(request("2"));
        pool.advance(990ms);
        pool.worker(0).answer_call();
        pool.time.advance(10ms);
        run_some(pool, handlers);
        pool.run_until_idle();
        auto command = pool.serve();
        BOOST_TEST((command == "1") == !unlucky->problem);
        if (command == "1") {
            command = pool.serve();
        }
        BOOST_TEST(command == "2");
        BOOST_TEST(unlucky->done);
        BOOST_TEST(next->value.has_value());
    }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(coming_back)

BOOST_AUTO_TEST_CASE(a_retried_call_goes_to_the_front) {
    running_pool pool(fake_config(2));
    ignore_newcomers(pool);
    pool.execute(request("first").idempotent(true));
    pool.execute(request("second"));
    pool.execute(request("third"));
    pool.worker(0).exit(exit_status::exited(1));
    pool.run_until_idle();
    BOOST_TEST(pool.serve(1) == "second");
    BOOST_TEST(pool.serve(1) == "first");
    BOOST_TEST(pool.serve(1) == "third");
}

BOOST_AUTO_TEST_CASE(a_retried_call_goes_straight_to_a_free_worker) {
    running_pool pool(fake_config(2));
    const auto call = pool.execute(request("first").idempotent(true));
    pool.worker(0).exit(exit_status::exited(1));
    pool.run_until_idle();
    BOOST_TEST(pool.serve(1) == "first");
    BOOST_TEST(call->value.has_value());
}

BOOST_AUTO_TEST_CASE(retried_calls_keep_their_order) {
    auto config = fake_config();
    config.capacity = 12;
    running_pool pool(config);
    for (int i = 0; i < 12; ++i) {
        pool.execute(request(std::to_string(i)).idempotent(true));
    }
    pool.worker(0).exit(exit_status::exited(1));
    pool.advance(200ms);
    BOOST_REQUIRE_EQUAL(pool.launched(), 2u);
    std::string order;
    for (const auto& call : pool.worker(1).take_calls()) {
        order += std::string(call.at("command").as_string()) + " ";
    }
    BOOST_TEST(order == "0 1 2 3 4 5 6 7 8 9 10 11 ");
}

BOOST_AUTO_TEST_CASE(a_retried_call_waits_its_time_anew) {
    running_pool pool(fake_config());
    ignore_newcomers(pool);
    const auto call = pool.execute(request("x").idempotent(true));
    pool.advance(4s);
    pool.worker(0).exit(exit_status::exited(1));
    pool.advance(4990ms);
    BOOST_TEST(!call->done);
    pool.advance(10ms);
    BOOST_TEST(call->code() == errc::no_worker);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_CASE(an_error_says_what_keeps_the_pool_busy) {
    auto config = fake_config(1);
    config.queue.limit = 2;
    running_pool pool(config);
    pool.execute(request("train").timeout(1h));
    pool.advance(2s);
    pool.execute(request("a").queue_timeout(1h));
    pool.execute(request("b").queue_timeout(1h));
    const auto refused = pool.execute(request("c"));
    BOOST_TEST(refused->code() == errc::pool_saturated);
    BOOST_TEST(refused->info().queue_depth == 2u);
    BOOST_TEST(refused->info().running_calls == 1u);
    BOOST_TEST(refused->info().oldest_command == "train");
    BOOST_TEST((refused->info().oldest_run_time >= 2s));
    check_mentions(refused->text(), "2 calls queued, 1 running, 'train' for 2");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
