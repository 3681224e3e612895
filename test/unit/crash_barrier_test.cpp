// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// What follows from crashes: taint, poison, retries, restart intensity; on virtual time.

#include "support/fake_runtime.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <csignal>
#include <memory>
#include <vector>

namespace skep::test {

using namespace std::chrono_literals;

namespace {

const auto segfault = exit_status::signalled(SIGSEGV);

pool_config barrier_config(std::size_t workers) {
    auto config = fake_config(workers);
    config.crash_barrier.enabled = true;
    config.restart.stable_after = 0s;
    return config;
}

request poison() {
    return request("load").arg("path", "/tmp/bad.bin").idempotent(true);
}

/// Lets the worker that has received a call crash on it.
void crash_on_call(manual_pool& pool, std::size_t index, exit_status how = segfault) {
    pool.worker(index).take_call();
    crash_worker(pool, index, how);
    pool.advance(1s); // retries included
}

/// Whether it has received a call with that argument since the last look.
bool holds(fake_worker& which, std::string_view argument) {
    const auto calls = which.take_calls();
    return std::any_of(calls.begin(), calls.end(),
                       [&](const auto& each) { return each.at("args").as_object().contains(argument); });
}

void exit_at_once(fake_worker& fresh) {
    fresh.last_words = "Traceback: ImportError: no module named model";
    fresh.exit(exit_status::exited(1));
}

pool_config fragile_config(std::size_t workers = 1) {
    auto config = fake_config(workers);
    config.restart.limit = 3;
    config.restart.window = 1min;
    config.restart.open_time = 20s;
    config.restart.initial_backoff = 10ms;
    config.restart.max_backoff = 100ms;
    return config;
}

} // namespace

BOOST_AUTO_TEST_SUITE(crash_barrier)

BOOST_AUTO_TEST_CASE(a_crashed_slot_is_held_back_for_the_taint_time) {
    running_pool pool(barrier_config(2));
    crash_worker(pool, 0, segfault);
    pool.advance(1s);
    BOOST_TEST(pool.launched() == 2u);
    const auto held = pool.worker_status_of(0);
    BOOST_TEST((held.state == worker_state::pending));
    BOOST_REQUIRE(held.held_for);
    BOOST_TEST((*held.held_for > 58s && *held.held_for < 60s));
    BOOST_TEST(pool.counters().crashes == 1u);
    pool.advance(58s, 500ms);
    BOOST_TEST(pool.launched() == 2u);
    pool.advance(2s);
    BOOST_TEST(pool.launched() == 3u);
}

BOOST_AUTO_TEST_CASE(the_whole_pool_is_never_idled) {
    running_pool pool(barrier_config(2));
    crash_worker(pool, 0, segfault);
    pool.advance(1s);
    BOOST_TEST(pool.launched() == 2u);
    crash_worker(pool, 1, segfault);
    pool.advance(1s);
    BOOST_TEST(pool.launched() == 3u); // one comes back, the other is held
    BOOST_TEST(pool.status().live == 1u);
    pool.advance(30s, 500ms);
    BOOST_TEST(pool.launched() == 3u);
}

BOOST_AUTO_TEST_CASE(the_taint_grows_with_each_crash_in_a_row) {
    running_pool pool(barrier_config(2));
    crash_worker(pool, 0, segfault);
    pool.advance(62s, 500ms);
    BOOST_TEST(pool.launched() == 3u);
    crash_worker(pool, 2, segfault);
    pool.advance(62s, 500ms);
    BOOST_TEST(pool.launched() == 3u);
    pool.advance(60s, 500ms);
    BOOST_TEST(pool.launched() == 4u);
}

BOOST_AUTO_TEST_CASE(ends_of_other_kinds_do_not_taint) {
    for (const auto how : {exit_status::signalled(SIGKILL), exit_status::exited(3), exit_status::exited(0)}) {
        running_pool pool(barrier_config(2));
        crash_worker(pool, 0, how);
        pool.advance(1s);
        BOOST_TEST(pool.launched() == 3u, to_string(how));
    }
}

BOOST_AUTO_TEST_CASE(an_exit_code_that_is_named_does) {
    auto config = barrier_config(3);
    config.crash_barrier.taint_on = {"77"};
    running_pool pool(config);
    crash_worker(pool, 0, exit_status::exited(77));
    pool.advance(1s);
    BOOST_TEST(pool.launched() == 3u);
    BOOST_TEST(pool.worker_status_of(0).held_for.has_value());
    crash_worker(pool, 1, exit_status::exited(7));
    pool.advance(1s);
    BOOST_TEST(pool.launched() == 4u);
}

BOOST_AUTO_TEST_CASE(an_out_of_memory_kill_is_told_from_another) {
    running_pool pool(barrier_config(2));
    const auto call = pool.execute(request("work"));
    pool.worker(0).oom_killed = true;
    crash_on_call(pool, 0, exit_status::signalled(SIGKILL));
    BOOST_REQUIRE(call->problem);
    BOOST_TEST((call->info().exit_kind == exit_class::out_of_memory));
    check_mentions(call->text(), "out_of_memory");
    BOOST_TEST(pool.launched() == 2u); // and taints
}

BOOST_AUTO_TEST_CASE(without_the_barrier_a_crashed_worker_is_replaced_at_once) {
    running_pool pool(fake_config(2));
    pool.warm_up();
    crash_worker(pool, 0, segfault);
    BOOST_TEST(pool.launched() == 3u);
}

BOOST_AUTO_TEST_SUITE(poison_input)

BOOST_AUTO_TEST_CASE(an_input_that_crashed_two_workers_is_refused) {
    running_pool pool(fake_config(3));
    const auto first = pool.execute(poison());
    crash_on_call(pool, 0);
    crash_on_call(pool, 1);
    BOOST_TEST(first->code() == errc::poisonous_request);
    check_mentions(first->text(), "do not send it again");
    BOOST_TEST((first->info().exit_kind == exit_class::segfault));
    const auto again = pool.execute(poison());
    BOOST_TEST(again->code() == errc::poisonous_request); // at once, and nobody dies of it
    BOOST_TEST(pool.counters().poisonous == 2u);
    const auto other = pool.execute(request("load").arg("path", "/tmp/good.bin"));
    BOOST_TEST(!other->done);
}

BOOST_AUTO_TEST_CASE(callers_that_send_it_once_each_count_together) {
    running_pool pool(fake_config(3));
    for (std::size_t i = 0; i < 2; ++i) {
        const auto call = pool.execute(request("load").arg("path", "/tmp/bad.bin"));
        crash_on_call(pool, i);
        BOOST_TEST(call->code() == (i == 0 ? errc::worker_lost : errc::poisonous_request));
    }
    const auto third = pool.execute(request("load").arg("path", "/tmp/bad.bin").correlation_id("other"));
    BOOST_TEST(third->code() == errc::poisonous_request);
}

BOOST_AUTO_TEST_CASE(it_is_forgotten_in_time) {
    running_pool pool(fake_config(3));
    const auto first = pool.execute(poison());
    crash_on_call(pool, 0);
    crash_on_call(pool, 1);
    pool.advance(11min, 1s);
    const auto again = pool.execute(poison());
    BOOST_TEST(!again->done);
}

BOOST_AUTO_TEST_CASE(an_input_that_makes_workers_break_the_protocol_is_refused_likewise) {
    running_pool pool(fake_config(3));
    const auto call = pool.execute(poison());
    for (std::size_t i = 0; i < 2; ++i) {
        pool.worker(i).take_call();
        pool.worker(i).send_raw("\xFF\xFF\xFF\xFF");
        pool.run_until_idle();
        pool.worker(i).exit(exit_status::signalled(SIGTERM));
        pool.run_until_idle();
    }
    BOOST_TEST(call->code() == errc::poisonous_request);
    BOOST_TEST(pool.worker(2).take_calls().empty());
    BOOST_TEST(pool.execute(poison())->code() == errc::poisonous_request);
}

BOOST_AUTO_TEST_CASE(crashes_of_one_session_refuse_the_command_to_that_session_alone) {
    running_pool pool(fake_config(4));
    const auto step = [](const char* session) { return request("step").session(session); };
    for (std::size_t i = 0; i < 2; ++i) {
        const auto call = pool.execute(step("visitor"));
        std::size_t at = 0;
        while (pool.worker(at).has_exited() || pool.worker(at).take_calls().empty()) {
            ++at; // throws at the end
        }
        crash_worker(pool, at, segfault);
        pool.advance(1s);
        BOOST_TEST(call->code() == (i == 0 ? errc::worker_lost : errc::poisonous_request));
    }
    BOOST_TEST(pool.execute(step("visitor"))->code() == errc::poisonous_request);
    BOOST_TEST(!pool.execute(step("another"))->done);
    BOOST_TEST(!pool.execute(request("step"))->done);
    BOOST_TEST(!pool.execute(request("step").metadata("tenant", "x"))->done);
}

BOOST_AUTO_TEST_CASE(so_do_broken_frames) {
    running_pool pool(fake_config(3));
    const auto call = pool.execute(request("step").session("visitor").idempotent(true));
    for (std::size_t i = 0; i < 2; ++i) {
        pool.worker(i).take_call();
        pool.worker(i).send_raw("\xFF\xFF\xFF\xFF");
        pool.run_until_idle();
        pool.worker(i).exit(exit_status::signalled(SIGTERM));
        pool.run_until_idle();
    }
    BOOST_TEST(call->code() == errc::poisonous_request);
    BOOST_TEST(pool.execute(request("step").session("visitor"))->code() == errc::poisonous_request);
    BOOST_TEST(!pool.execute(request("step").session("another"))->done);
}

BOOST_AUTO_TEST_CASE(a_place_in_a_trace_and_a_correlation_id_are_no_part_of_the_input) {
    auto config = fake_config(3);
    config.tracing.sample_ratio = 1;
    running_pool pool(config);
    const auto first = pool.execute(poison().correlation_id("a"));
    crash_on_call(pool, 0);
    crash_on_call(pool, 1);
    BOOST_TEST(first->code() == errc::poisonous_request);
    BOOST_TEST(pool.execute(poison().correlation_id("b"))->code() == errc::poisonous_request);
}

BOOST_AUTO_TEST_CASE(a_lease_answers_for_itself_alone) {
    for (const int most : {1, 2}) {
        auto config = fake_config(2);
        config.crash_barrier.poison_crashes = most;
        running_pool pool(config);
        for (int i = 0; i < 3; ++i) {
            const auto held = pool.checkout();
            BOOST_REQUIRE(held->value.has_value());
            const auto call = pool.execute(*held->value, poison());
            std::size_t at = 0;
            while (pool.worker(at).has_exited() || pool.worker(at).take_calls().empty()) {
                ++at;
            }
            crash_worker(pool, at, segfault);
            pool.advance(5s, 500ms);
            BOOST_TEST(call->code() == (most == 1 ? errc::poisonous_request : errc::worker_lost));
        }
        const auto other = pool.execute(poison());
        BOOST_TEST(!other->done);
    }
}

BOOST_AUTO_TEST_CASE(nor_is_it_refused_what_crashed_others) {
    running_pool pool(fake_config(3));
    pool.execute(poison());
    crash_on_call(pool, 0);
    crash_on_call(pool, 1);
    BOOST_TEST(pool.execute(poison())->code() == errc::poisonous_request);
    const auto held = pool.checkout();
    BOOST_REQUIRE(held->value.has_value());
    BOOST_TEST(!pool.execute(*held->value, poison())->done);
}

BOOST_AUTO_TEST_CASE(a_caller_that_gives_up_before_the_crash_changes_nothing) {
    for (const bool by_timeout : {true, false}) {
        running_pool pool(fake_config(3));
        for (std::size_t i = 0; i < 2; ++i) {
            const auto call = pool.execute(poison().timeout(1s));
            if (by_timeout) {
                pool.advance(1s);
            } else {
                call->cancel.emit(boost::asio::cancellation_type::terminal);
            }
            pool.run_until_idle();
            BOOST_TEST(call->code() == (by_timeout ? errc::timeout : errc::cancelled));
            crash_on_call(pool, i);
        }
        BOOST_TEST(pool.execute(poison())->code() == errc::poisonous_request);
        BOOST_TEST(!pool.execute(request("load").arg("path", "/tmp/good.bin"))->done);
    }
}

BOOST_AUTO_TEST_CASE(a_crash_of_a_worker_that_is_ended_for_an_overdue_call_blames_nobody) {
    running_pool pool(fake_config(3));
    for (std::size_t i = 0; i < 3; ++i) {
        const auto call = pool.execute(poison().timeout(1s));
        pool.run_until_idle();
        std::size_t at = 0;
        while (pool.worker(at).has_exited() || pool.worker(at).take_calls().empty()) {
            ++at; // throws at the end
        }
        pool.worker(at).obeys_terminate = false;
        while (pool.worker(at).terminations == 0) {
            pool.advance(500ms);
        }
        BOOST_TEST(call->code() == errc::timeout);
        BOOST_TEST(!pool.worker(at).has_exited());
        crash_worker(pool, at, exit_status::signalled(SIGABRT));
        pool.advance(1s);
    }
    BOOST_TEST(!pool.execute(poison())->done);
}

BOOST_AUTO_TEST_CASE(an_input_that_takes_too_much_memory_of_worker_after_worker_is_refused) {
    auto config = fake_config(3);
    config.recycle.soft_memory = 100u << 20;
    config.recycle.hard_memory = 200u << 20;
    for (const bool is_idempotent : {true, false}) {
        running_pool pool(config);
        auto call = pool.execute(poison().idempotent(is_idempotent));
        for (std::size_t grown = 0; grown < 2; ++grown) {
            std::size_t at = 0;
            while (pool.worker(at).has_exited() || pool.worker(at).take_calls().empty()) {
                ++at;
            }
            pool.worker(at).resident = 150u << 20;
            pool.advance(2s, 500ms);
            pool.worker(at).resident = 250u << 20;
            pool.advance(2s, 500ms);
            if (!is_idempotent && grown == 0) {
                BOOST_TEST(call->code() == errc::worker_lost);
                BOOST_TEST(call->text().find("idempotent") == std::string::npos);
                call = pool.execute(poison().idempotent(false));
            }
        }
        BOOST_TEST(call->code() == errc::poisonous_request);
        check_mentions(call->text(), "its hard limit is");
        BOOST_TEST(pool.execute(poison())->code() == errc::poisonous_request);
        BOOST_TEST(!pool.execute(request("load").arg("path", "/tmp/good.bin"))->done);
    }
}

BOOST_AUTO_TEST_CASE(a_call_that_takes_the_memory_of_the_machine_is_not_advised_to_be_idempotent) {
    running_pool pool(fake_config(3));
    const auto call = pool.execute(request("load"));
    pool.worker(0).take_call();
    pool.worker(0).oom_killed = true;
    crash_worker(pool, 0, exit_status::signalled(SIGKILL));
    BOOST_TEST(call->code() == errc::worker_lost);
    check_mentions(call->text(), "run fewer workers or give them more memory if the call needs that much");
    BOOST_TEST(call->text().find("idempotent") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_leak_blames_nobody) {
    auto config = fake_config(1);
    config.recycle.hard_memory = 100u << 20;
    running_pool pool(config);
    for (std::size_t generation = 0; generation < 3; ++generation) {
        for (std::size_t held = 10; held <= 90; held += 10) {
            const auto call = pool.execute(poison());
            pool.worker(generation).resident = held << 20;
            pool.advance(1s, 500ms);
            BOOST_TEST(pool.serve(generation) == "load");
            BOOST_TEST(call->value.has_value());
        }
        const auto last = pool.execute(poison().idempotent(false));
        pool.worker(generation).take_call();
        pool.worker(generation).resident = 101u << 20;
        pool.advance(5s, 500ms);
        BOOST_TEST(last->code() == errc::worker_lost);
    }
    BOOST_TEST(!pool.execute(poison())->done);
}

BOOST_AUTO_TEST_CASE(kills_from_outside_poison_nothing) {
    running_pool pool(fake_config(4));
    const auto call = pool.execute(poison());
    for (std::size_t i = 0; i < 3; ++i) {
        crash_on_call(pool, i, exit_status::signalled(SIGKILL));
    }
    BOOST_TEST(call->code() == errc::worker_lost); // three attempts
    BOOST_TEST(!pool.execute(poison())->done);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(retries)

BOOST_AUTO_TEST_CASE(the_first_is_at_once_the_next_after_its_wait) {
    auto config = fake_config(3);
    config.retry.backoff = {0ms, 500ms};
    config.retry.jitter = 0;
    running_pool pool(config);
    const auto call = pool.execute(poison());
    pool.worker(0).take_call();
    crash_worker(pool, 0, exit_status::signalled(SIGKILL));
    pool.worker(1).take_call();
    crash_worker(pool, 1, exit_status::signalled(SIGKILL));
    BOOST_TEST(pool.worker(2).take_calls().empty());
    BOOST_TEST(pool.status().queued == 1u);
    pool.advance(499ms);
    BOOST_TEST(pool.worker(2).take_calls().empty());
    pool.advance(1ms);
    BOOST_TEST(pool.serve(2) == "load");
    BOOST_TEST(call->value->attempts == 3);
}

BOOST_AUTO_TEST_CASE(a_wait_ends_with_the_calls_deadline_its_cancelling_and_the_pool) {
    auto config = fake_config(5);
    config.retry.backoff = {1h};
    running_pool pool(config);
    std::vector<std::shared_ptr<manual_pool::outcome<reply>>> calls;
    for (std::size_t i = 0; i < 3; ++i) {
        calls.push_back(pool.execute(request("load").idempotent(true).timeout(i == 0 ? 2s : 1min)));
        pool.worker(i).take_call();
        crash_worker(pool, i, exit_status::signalled(SIGKILL));
    }
    BOOST_TEST(pool.status().queued == 3u);
    pool.advance(2s);
    BOOST_TEST(calls[0]->code() == errc::timeout);
    calls[1]->cancel.emit(asio::cancellation_type::total);
    pool.run_until_idle();
    BOOST_TEST(calls[1]->code() == errc::cancelled);
    const auto report = pool.shutdown();
    pool.advance(10s, 100ms);
    BOOST_TEST(calls[2]->code() == errc::shutting_down);
    BOOST_TEST(report->value.has_value());
}

BOOST_AUTO_TEST_CASE(the_budget_keeps_them_from_doubling_an_overload) {
    auto config = fake_config(10);
    config.retry.backoff = {0ms};
    config.retry.budget = 4; // two retries, until calls succeed
    config.restart.limit = 1000;
    running_pool pool(config);
    const auto kill_holder = [&pool] {
        std::size_t holder = 0;
        while (pool.worker(holder).has_exited() || pool.worker(holder).take_calls().empty()) {
            ++holder; // throws at the end
        }
        crash_worker(pool, holder, exit_status::signalled(SIGKILL));
    };
    for (int i = 0; i < 2; ++i) {
        const auto call = pool.execute(request("load").idempotent(true));
        kill_holder();
        BOOST_TEST(!call->done);
        call->cancel.emit(boost::asio::cancellation_type::terminal);
        pool.run_until_idle();
    }
    const auto call = pool.execute(request("load").arg("n", 3).idempotent(true));
    std::size_t holder = 0;
    while (pool.worker(holder).has_exited() || !holds(pool.worker(holder), "n")) {
        ++holder;
    }
    crash_worker(pool, holder, exit_status::signalled(SIGKILL));
    BOOST_TEST(call->code() == errc::worker_lost);
    check_mentions(call->text(), "not retried");
    BOOST_TEST(pool.counters().retries_denied == 1u);
    BOOST_TEST(pool.status().retry_tokens <= 2.0);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(restart_intensity)

BOOST_AUTO_TEST_CASE(too_many_make_the_pool_unavailable_with_the_last_cause) {
    running_pool pool(fragile_config());
    pool.warm_up();
    const auto waiting = pool.execute(request("work").queue_timeout(1h).timeout(1h));
    pool.worker(0).take_call();
    pool.runtime().on_start = exit_at_once;
    crash_worker(pool, 0, segfault);
    const auto queued = pool.execute(request("work").queue_timeout(1h).timeout(1h));
    pool.advance(2s);
    BOOST_TEST(waiting->code() == errc::worker_lost);
    BOOST_TEST(queued->code() == errc::unavailable);
    check_mentions(queued->text(), "ImportError");
    const auto late = pool.execute(request("work"));
    BOOST_TEST(late->code() == errc::unavailable); // at once
    check_mentions(late->text(), "ImportError");
    const auto status = pool.status();
    BOOST_TEST((status.breaker == circuit_state::open));
    BOOST_TEST(status.restarts_left == 0u);
    BOOST_REQUIRE(status.last_failure);
    check_mentions(status.last_failure->output_tail, "ImportError");
}

BOOST_AUTO_TEST_CASE(trials_go_on_and_the_first_that_comes_up_ends_it) {
    running_pool pool(fragile_config(3));
    pool.runtime().on_start = exit_at_once;
    for (std::size_t i = 0; i < 3; ++i) {
        crash_worker(pool, i, segfault);
    }
    pool.advance(5s);
    const auto before = pool.launched();
    BOOST_TEST(pool.execute(request("work"))->code() == errc::unavailable);
    pool.advance(14s, 100ms);
    BOOST_TEST(pool.launched() == before); // no storm
    pool.advance(5s, 100ms);
    BOOST_TEST(pool.launched() == before + 1); // one trial
    pool.advance(20s, 100ms);
    BOOST_TEST(pool.launched() == before + 2);

    pool.runtime().on_start = [](fake_worker& fresh) { fresh.shake_hands(); };
    pool.advance(21s, 100ms);
    BOOST_TEST((pool.status().breaker == circuit_state::closed));
    BOOST_TEST(pool.status().live == 3u);
    BOOST_TEST(pool.execute(request("work"))->code() == errc());
}

BOOST_AUTO_TEST_CASE(a_trial_that_is_no_longer_needed_has_not_failed) {
    running_pool pool(fragile_config(2));
    pool.runtime().on_start = exit_at_once;
    crash_worker(pool, 0, segfault);
    pool.advance(5s);
    const auto before = pool.launched();
    pool.runtime().on_start = [](fake_worker&) {}; // the trial takes its time
    while (pool.launched() == before) {
        pool.advance(100ms);
    }
    pool.begin(pool.facade().resize(size_limits(1)));
    pool.advance(2s);
    BOOST_TEST((pool.status().breaker == circuit_state::half_open));
    pool.runtime().on_start = [](fake_worker& fresh) { fresh.shake_hands(); };
    pool.begin(pool.facade().resize(size_limits(2)));
    pool.advance(100ms);
    BOOST_TEST((pool.status().breaker == circuit_state::closed));
    BOOST_TEST(pool.status().live == 2u);
}

BOOST_AUTO_TEST_CASE(while_a_worker_is_left_calls_are_served) {
    running_pool pool(fragile_config(2));
    pool.runtime().on_start = exit_at_once;
    crash_worker(pool, 0, segfault);
    pool.advance(5s, 100ms);
    BOOST_TEST((pool.status().breaker == circuit_state::open));
    const auto call = pool.execute(request("work"));
    BOOST_TEST(pool.serve(1) == "work");
    BOOST_TEST(call->value.has_value());
}

BOOST_AUTO_TEST_CASE(planned_ends_do_not_count) {
    auto config = fragile_config();
    config.recycle.calls = 1;
    running_pool pool(config);
    for (std::size_t i = 0; i < 8; ++i) {
        pool.warm_up(i);
        pool.advance(2s);
    }
    BOOST_TEST(pool.counters().workers_recycled == 8u);
    BOOST_TEST((pool.status().breaker == circuit_state::closed));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
