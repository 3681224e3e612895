// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "support/fake_runtime.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <csignal>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace skep::test {

using namespace std::chrono_literals;

namespace {} // namespace

BOOST_AUTO_TEST_SUITE(loss)

BOOST_AUTO_TEST_SUITE(of_an_idle_worker)

BOOST_AUTO_TEST_CASE(it_is_replaced_at_once) {
    running_pool pool(fake_config());
    pool.warm_up();
    crash_worker(pool, 0);
    BOOST_TEST(pool.launched() == 2u);
    BOOST_TEST(to_string(pool.worker(1).order().worker) == "default/0#2");
    pool.warm_up(1);
    BOOST_TEST(pool.counters().workers_lost == 1u);
    BOOST_TEST(pool.counters().workers_started == 2u);
}

BOOST_AUTO_TEST_CASE(the_new_one_has_a_token_of_its_own) {
    running_pool pool(fake_config());
    pool.warm_up();
    crash_worker(pool, 0);
    BOOST_TEST(pool.worker(0).order().token != pool.worker(1).order().token);
}

BOOST_AUTO_TEST_CASE(an_exit_with_0_that_nobody_asked_for_is_a_loss_too) {
    running_pool pool(fake_config());
    pool.warm_up();
    crash_worker(pool, 0, exit_status::exited(0));
    BOOST_TEST(pool.launched() == 2u);
    BOOST_TEST(pool.counters().workers_lost == 1u);
}

BOOST_AUTO_TEST_CASE(the_status_says_why) {
    running_pool pool(fake_config());
    pool.warm_up();
    crash_worker(pool, 0);
    const auto status = pool.status();
    BOOST_REQUIRE_EQUAL(status.workers.size(), 1u);
    BOOST_TEST(to_string(status.workers[0].id) == "default/0#2");
    check_mentions(status.workers[0].last_failure, "its process ended");
}

BOOST_AUTO_TEST_CASE(calls_in_between_wait_for_the_new_one) {
    running_pool pool(fake_config());
    pool.warm_up();
    pool.runtime().on_start = never_ready;
    crash_worker(pool, 0);
    const auto call = pool.execute(request("x"));
    pool.advance(1s);
    BOOST_TEST(!call->done);
    pool.worker(1).shake_hands();
    pool.run_until_idle();
    pool.serve(1);
    BOOST_TEST(call->value.has_value());
}

BOOST_AUTO_TEST_CASE(the_others_are_not_touched) {
    running_pool pool(fake_config(3));
    const auto call = pool.execute(request("x"));
    crash_worker(pool, 1);
    crash_worker(pool, 2);
    pool.advance(1s);
    pool.serve(0);
    BOOST_TEST(call->value.has_value());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(with_a_call)

BOOST_AUTO_TEST_CASE(one_that_is_not_idempotent_fails_with_the_whole_story) {
    running_pool pool(fake_config());
    const auto call = pool.execute(request("work"));
    crash_worker(pool, 0);
    BOOST_TEST(call->code() == errc::worker_lost);
    BOOST_TEST((call->info().status == exit_3));
    BOOST_TEST(call->info().attempts == 1);
    BOOST_TEST(call->info().pid == 1000000);
    for (const auto* const part : {"work", "default/0#1", "1000000", "exit code 3", "its process ended",
                                   "the fake's last words", "mark the request idempotent"}) {
        check_mentions(call->text(), part);
    }
}

BOOST_AUTO_TEST_CASE(the_stacks_of_a_fatal_error_are_quoted_whole) {
    running_pool pool(fake_config());
    std::string stack =
        "Fatal Python error: Segmentation fault\n\nCurrent thread 0x7f (most recent call first):";
    for (int i = 0; i < 100; ++i) {
        stack +=
            "\n  File \"/srv/models/worker.py\", line " + std::to_string(i) + " in f" + std::to_string(i);
    }
    pool.worker(0).last_words = stack;
    const auto call = pool.execute(request("work"));
    crash_worker(pool, 0, exit_status::signalled(SIGSEGV));
    BOOST_TEST(call->code() == errc::worker_lost);
    BOOST_TEST(call->info().output_tail == stack);
    check_mentions(call->text(), "last output of the worker:\n    Fatal Python error: Segmentation fault\n");
    check_mentions(call->text(), "line 99 in f99");
}

BOOST_AUTO_TEST_CASE(output_that_only_looks_like_a_fatal_error_is_quoted_within_a_limit) {
    running_pool pool(fake_config());
    pool.worker(0).last_words = "Fatal Python error: " + std::string(100'000, 'x');
    const auto call = pool.execute(request("work"));
    crash_worker(pool, 0, exit_status::signalled(SIGSEGV));
    BOOST_TEST(call->text().size() < 20'000u);
}

BOOST_AUTO_TEST_CASE(a_signal_is_named_with_its_likely_cause) {
    running_pool pool(fake_config());
    const auto call = pool.execute(request("work"));
    crash_worker(pool, 0, exit_status::signalled(SIGKILL));
    check_mentions(call->text(), "signal 9");
    check_mentions(call->text(), likely_cause(exit_status::signalled(SIGKILL)));
}

BOOST_AUTO_TEST_CASE(one_that_is_idempotent_is_done_by_another) {
    running_pool pool(fake_config(2));
    const auto call = pool.execute(request("work").idempotent(true));
    pool.worker(0).take_calls();
    crash_worker(pool, 0);
    BOOST_TEST(pool.serve(1) == "work");
    BOOST_REQUIRE(call->value);
    BOOST_TEST(call->value->attempts == 2);
    BOOST_TEST(to_string(call->value->worker) == "default/1#1");
    BOOST_TEST(pool.counters().retried == 1u);
    BOOST_TEST(pool.counters().succeeded == 1u);
}

BOOST_AUTO_TEST_CASE(with_one_worker_it_is_done_by_its_successor) {
    running_pool pool(fake_config());
    pool.warm_up();
    const auto call = pool.execute(request("work").idempotent(true));
    crash_worker(pool, 0);
    pool.serve(1);
    BOOST_REQUIRE(call->value);
    BOOST_TEST(call->value->attempts == 2);
}

BOOST_AUTO_TEST_CASE(no_more_often_than_retry_attempts) {
    for (const int limit : {1, 2, 3}) {
        auto config = fake_config(5);
        config.retry.attempts = limit;
        config.retry.backoff = {0ms};
        config.crash_barrier.poison_crashes = 0;
        running_pool pool(config);
        const auto call = pool.execute(request("poison").idempotent(true));
        int deaths = 0;
        for (std::size_t i = 0; i < 5 && !call->done; ++i) {
            if (!pool.worker(i).take_calls().empty()) {
                crash_worker(pool, i);
                ++deaths;
            }
        }
        BOOST_TEST(deaths == limit);
        BOOST_TEST(call->code() == errc::worker_lost);
        BOOST_TEST(call->info().attempts == limit);
        check_mentions(call->text(), "all of retry.attempts are used up");
        BOOST_TEST(pool.counters().retried == static_cast<std::uint64_t>(limit - 1));
    }
}

BOOST_AUTO_TEST_CASE(every_call_of_a_shared_worker_ends) {
    auto config = fake_config();
    config.capacity = 5;
    running_pool pool(config);
    std::vector<std::shared_ptr<manual_pool::outcome<reply>>> calls;
    for (int i = 0; i < 5; ++i) {
        calls.push_back(pool.execute(request("x")));
    }
    crash_worker(pool, 0);
    for (const auto& call : calls) {
        BOOST_TEST(call->code() == errc::worker_lost);
    }
}

BOOST_AUTO_TEST_CASE(an_answer_sent_right_before_the_end_counts) {
    running_pool pool(fake_config());
    const auto call = pool.execute(request("x"));
    pool.worker(0).answer_call("last words");
    crash_worker(pool, 0);
    BOOST_REQUIRE(call->value);
    BOOST_TEST(call->value->value == "last words");
}

BOOST_AUTO_TEST_CASE(many_answers_sent_right_before_the_end_all_count) {
    auto config = fake_config();
    config.capacity = 40;
    running_pool pool(config);
    std::vector<std::shared_ptr<manual_pool::outcome<reply>>> calls;
    for (int i = 0; i < 40; ++i) {
        calls.push_back(pool.execute(request("x")));
    }
    const std::string much(1000, 'x');
    for (const auto& call : pool.worker(0).take_calls()) {
        pool.worker(0).reply(id_of(call), boost::json::string(much));
    }
    crash_worker(pool, 0);
    for (const auto& call : calls) {
        BOOST_TEST(call->value.has_value());
    }
}

BOOST_AUTO_TEST_CASE(half_an_answer_does_not_count) {
    running_pool pool(fake_config());
    const auto call = pool.execute(request("x"));
    pool.worker(0).send_raw({"\0\0\0\x40\0\0\0\x20{\"type\":\"res", 20});
    crash_worker(pool, 0);
    BOOST_TEST(call->code() == errc::worker_lost);
}

BOOST_AUTO_TEST_CASE(the_data_channel_closed_by_a_living_worker) {
    running_pool pool(fake_config());
    pool.warm_up();
    const auto call = pool.execute(request("x"));
    pool.worker(0).close_data();
    pool.advance(300ms);
    BOOST_TEST(call->code() == errc::worker_lost);
    check_mentions(call->text(), "closed its data channel");
    BOOST_TEST(pool.worker(0).terminations == 1);
    BOOST_TEST(pool.launched() == 2u);
}

BOOST_AUTO_TEST_CASE(its_caller_does_not_wait_until_a_stubborn_one_has_ended) {
    running_pool pool(fake_config());
    const auto call = pool.execute(request("x"));
    pool.worker(0).obeys_terminate = false;
    pool.worker(0).close_data();
    pool.advance(300ms);
    BOOST_TEST(call->done);
    BOOST_TEST(!pool.worker(0).has_exited());
    pool.advance(2s);
    BOOST_TEST(pool.worker(0).has_exited());
}

BOOST_AUTO_TEST_CASE(a_deadline_that_passes_between_two_attempts_ends_the_call) {
    running_pool pool(fake_config());
    pool.runtime().on_start = never_ready;
    const auto call = pool.execute(request("x").idempotent(true).timeout(3s));
    crash_worker(pool, 0);
    pool.advance(2990ms);
    BOOST_TEST(!call->done);
    pool.advance(10ms);
    BOOST_TEST(call->code() == errc::no_worker);
}

BOOST_AUTO_TEST_CASE(so_does_one_that_passes_during_the_pause_before_a_retry) {
    auto config = fake_config(2);
    config.retry.backoff = {10s};
    running_pool pool(config);
    const auto call = pool.execute(request("x").idempotent(true).timeout(3s));
    const std::size_t first = pool.worker(0).take_calls().empty() ? 1 : 0;
    crash_worker(pool, first);
    pool.advance(2990ms);
    BOOST_TEST(!call->done);
    pool.advance(10ms);
    BOOST_TEST(call->code() == errc::timeout);
    BOOST_TEST(call->info().correlation_id.empty()); // the id that it had at its worker is that worker's
    BOOST_TEST(pool.worker(1 - first).take_calls().empty());
}

BOOST_AUTO_TEST_SUITE_END()

/// A worker that does not read: what is behind the first few hundred kilobytes has not been sent.
BOOST_AUTO_TEST_SUITE(before_it_was_sent)

namespace {

request big_request(std::string name) {
    return request(std::move(name)).attach(std::vector<std::byte>(4u << 20));
}

pool_config two_at_a_time(std::size_t workers) {
    auto config = fake_config(workers);
    config.capacity = 2;
    return config;
}

} // namespace

BOOST_AUTO_TEST_CASE(a_call_goes_to_another_though_it_is_not_idempotent) {
    running_pool pool(two_at_a_time(1));
    pool.warm_up();
    const auto sent = pool.execute(big_request("sent"));
    const auto unsent = pool.execute(request("unsent"));
    crash_worker(pool, 0);
    BOOST_TEST(sent->code() == errc::worker_lost);
    BOOST_TEST(!unsent->done);
    BOOST_TEST(pool.serve(1) == "unsent");
    BOOST_REQUIRE(unsent->value);
    BOOST_TEST(unsent->value->attempts == 1);
    BOOST_TEST(pool.counters().retried == 1u);
}

BOOST_AUTO_TEST_CASE(such_attempts_do_not_count) {
    auto config = two_at_a_time(3);
    config.retry.attempts = 1;
    running_pool pool(config);
    pool.runtime().on_start = never_ready;
    for (int i = 0; i < 3; ++i) {
        pool.execute(big_request("sent"));
    }
    const auto unsent = pool.execute(request("unsent"));
    const auto holder = [&pool] { // the slot in which it waits behind a big one
        const auto workers = pool.status().workers;
        const auto found = std::find_if(workers.begin(), workers.end(),
                                        [](const worker_status& worker) { return worker.load == 2; });
        BOOST_REQUIRE((found != workers.end()));
        return static_cast<std::size_t>(found - workers.begin());
    };
    for (int i = 0; i < 2; ++i) {
        crash_worker(pool, holder());
        BOOST_TEST(!unsent->done);
    }
    crash_worker(pool, holder());
    BOOST_TEST(!unsent->done);
    BOOST_TEST(pool.status().queued == 1u);
    BOOST_TEST(pool.counters().retried == 3u);
    pool.advance(5s);
    BOOST_TEST(unsent->code() == errc::no_worker);
    BOOST_TEST(unsent->info().attempts == 0);
}

BOOST_AUTO_TEST_CASE(a_call_of_which_a_part_was_sent_may_have_begun) {
    running_pool pool(two_at_a_time(1));
    const auto call = pool.execute(big_request("partly sent"));
    crash_worker(pool, 0);
    BOOST_TEST(call->code() == errc::worker_lost);
}

BOOST_AUTO_TEST_CASE(it_goes_out_when_the_worker_reads_on) {
    running_pool pool(two_at_a_time(1));
    const auto first = pool.execute(big_request("first"));
    const auto second = pool.execute(request("second"));
    std::vector<boost::json::object> received;
    for (int i = 0; i < 200 && received.size() < 2; ++i) {
        for (auto& call : pool.worker(0).take_calls()) {
            received.push_back(std::move(call));
        }
        pool.run_until_idle();
    }
    BOOST_REQUIRE_EQUAL(received.size(), 2u);
    BOOST_TEST(received[0].at("attachments").at(0) == 4u << 20);
    pool.worker(0).reply(id_of(received[1]));
    pool.worker(0).reply(id_of(received[0]));
    pool.run_until_idle();
    BOOST_TEST(first->value.has_value());
    BOOST_TEST(second->value.has_value());
}

BOOST_AUTO_TEST_CASE(one_that_timed_out_there_is_not_sent_to_another) {
    auto config = two_at_a_time(2);
    config.schedule = scheduling::least_loaded;
    running_pool pool(config);
    pool.execute(big_request("to worker 1"));
    pool.execute(big_request("to worker 0"));
    const auto unsent = pool.execute(request("unsent").timeout(1s));
    pool.advance(1s);
    BOOST_TEST(unsent->code() == errc::timeout);
    crash_worker(pool, 0);
    pool.advance(1s);
    BOOST_TEST(pool.counters().retried == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

/// Each ends the worker with a text that names the rule it broke, and harms nobody else.
BOOST_AUTO_TEST_SUITE(by_a_broken_rule)

namespace {

/// A worker with call `id` breaks a rule.
void check_violation(const std::function<void(fake_worker&, std::uint64_t)>& break_rule,
                     const std::string& text, pool_config config = fake_config()) {
    running_pool pool(std::move(config));
    pool.warm_up();
    const auto call = pool.execute(request("x"));
    const auto id = pool.worker(0).take_call();
    break_rule(pool.worker(0), id);
    pool.run_until_idle();
    BOOST_TEST(call->code() == errc::worker_lost);
    check_mentions(call->text(), text);
    BOOST_TEST(pool.worker(0).terminations == 1);
    BOOST_TEST(pool.counters().workers_lost == 1u);
    check_mentions(pool.status().workers[0].last_failure, text);
    BOOST_REQUIRE_EQUAL(pool.launched(), 2u);
    const auto next = pool.execute(request("next"));
    pool.serve(1);
    BOOST_TEST(next->value.has_value());
}

} // namespace

BOOST_AUTO_TEST_CASE(an_answer_to_a_call_that_never_was) {
    check_violation([](fake_worker& worker, auto id) { worker.reply(id + 1); }, "which it does not have");
}

BOOST_AUTO_TEST_CASE(an_error_for_a_call_that_never_was) {
    check_violation([](fake_worker& worker, auto id) { worker.fail(id + 1, "E", "x"); },
                    "which it does not have");
}

BOOST_AUTO_TEST_CASE(an_answer_to_a_call_answered_before) {
    check_violation([](fake_worker& worker, auto id) { worker.reply(id - 1); }, "which it does not have");
}

BOOST_AUTO_TEST_CASE(pong_on_the_data_channel) {
    const auto pong = [](fake_worker& worker, auto) {
        worker.send_data({{"type", "pong"}, {"seq", 1}, {"in_flight", 0}, {"completed", 0}});
    };
    check_violation(pong, "pong");
}

BOOST_AUTO_TEST_CASE(pong_to_a_ping_that_was_not_sent) {
    for (const int sequence : {0, 2, 1'000'000}) {
        const auto pong = [sequence](fake_worker& worker, auto) {
            worker.answers_pings = false;
            worker.send_control({{"type", "pong"}, {"seq", sequence}, {"in_flight", 0}, {"completed", 0}});
        };
        check_violation(pong, "unexpected pong");
    }
}

BOOST_AUTO_TEST_CASE(pong_though_there_are_no_pings) {
    auto config = fake_config();
    config.heartbeat.enabled = false;
    const auto pong = [](fake_worker& worker, auto) {
        worker.send_control({{"type", "pong"}, {"seq", 1}, {"in_flight", 0}, {"completed", 0}});
    };
    check_violation(pong, "unexpected pong", config);
}

BOOST_AUTO_TEST_CASE(an_answer_on_the_control_channel) {
    check_violation(
        [](fake_worker& worker, auto id) {
            worker.send_control({{"type", "result"}, {"id", id}, {"value", 1}});
        },
        "only pong, recalled, release, region, event and log may come over the control channel");
}

BOOST_AUTO_TEST_CASE(garbage) {
    check_violation([](fake_worker& worker, auto) { worker.send_raw("Traceback (most recent call last):"); },
                    "exceeds the limit");
}

BOOST_AUTO_TEST_CASE(a_frame_without_room_for_its_header) {
    check_violation([](fake_worker& worker, auto) { worker.send_raw({"\0\0\0\0\0\0\0\0", 8}); }, "header");
}

BOOST_AUTO_TEST_CASE(a_frame_that_is_not_json) {
    check_violation([](fake_worker& worker, auto) { worker.send_raw({"\0\0\0\7\0\0\0\3abc", 11}); }, "JSON");
}

BOOST_AUTO_TEST_CASE(a_second_hello) {
    check_violation([](fake_worker& worker, auto) { worker.send_data(worker.hello()); }, "a second hello");
}

BOOST_AUTO_TEST_CASE(a_second_ready) {
    check_violation(
        [](fake_worker& worker, auto) {
            worker.send_data({{"type", "ready"}});
        },
        "an unexpected ready");
}

BOOST_AUTO_TEST_CASE(a_message_of_the_hosts) {
    check_violation(
        [](fake_worker& worker, auto) {
            worker.send_data({{"type", "shutdown"}});
        },
        "may not send a message");
}

BOOST_AUTO_TEST_CASE(a_result_without_id) {
    check_violation(
        [](fake_worker& worker, auto) {
            worker.send_data({{"type", "result"}, {"value", 1}});
        },
        "field 'id'");
}

BOOST_AUTO_TEST_CASE(a_result_without_value) {
    check_violation(
        [](fake_worker& worker, auto id) {
            worker.send_data({{"type", "result"}, {"id", id}});
        },
        "field 'value'");
}

BOOST_AUTO_TEST_CASE(what_came_before_the_broken_rule_counts) {
    auto config = fake_config();
    config.capacity = 2;
    running_pool pool(config);
    const auto good = pool.execute(request("good"));
    const auto bad = pool.execute(request("bad"));
    const auto calls = pool.worker(0).take_calls();
    pool.worker(0).reply(id_of(calls[0]), "fine");
    pool.worker(0).send_raw("garbage");
    pool.run_until_idle();
    BOOST_REQUIRE(good->value);
    BOOST_TEST(good->value->value == "fine");
    BOOST_TEST(bad->code() == errc::worker_lost);
}

BOOST_AUTO_TEST_CASE(what_comes_after_it_does_not) {
    running_pool pool(fake_config());
    pool.worker(0).obeys_terminate = false;
    const auto call = pool.execute(request("x"));
    const auto id = pool.worker(0).take_call();
    pool.worker(0).send_data({{"type", "ready"}});
    pool.worker(0).reply(id);
    pool.run_until_idle();
    BOOST_TEST(call->code() == errc::worker_lost);
    BOOST_TEST(pool.counters().late_answers == 0u);
}

BOOST_AUTO_TEST_CASE(an_idempotent_call_goes_elsewhere) {
    running_pool pool(fake_config(2));
    const auto call = pool.execute(request("x").idempotent(true));
    pool.worker(0).send_raw("garbage");
    pool.run_until_idle();
    pool.serve(1);
    BOOST_TEST(call->value.has_value());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
