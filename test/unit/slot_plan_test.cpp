// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/slot_plan.hpp"
#include "support/start_time.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <csignal>
#include <vector>

using namespace skep;
using namespace std::chrono_literals;

namespace {

using test::start;

restart_options restarts() {
    restart_options options;
    options.initial_backoff = 1s;
    options.max_backoff = 8s;
    options.jitter = 0.5;
    options.stable_after = 60s;
    return options;
}

crash_barrier_options barriers() {
    crash_barrier_options options;
    options.enabled = true;
    options.taint = 30s;
    options.max_taint = 100s;
    options.taint_on = {"segfault"};
    return options;
}

/// A slot by itself.
struct slot_trial {
    slot_trial() : plan(restart, barrier) {}
    slot_trial(const slot_trial&) = delete;
    slot_trial& operator=(const slot_trial&) = delete;

    /// `random` = 0.5 means no jitter.
    void leave(const worker_death& death, bool may_have_crashed = false) {
        plan.left(death, may_have_crashed, 0.5, now);
    }

    restart_options restart = restarts();
    crash_barrier_options barrier = barriers();
    time_point now = start;
    slot_plan plan;
};

worker_death fruitless() {
    return {false, true, 1s, 0, exit_status::exited(1)};
}

worker_death fruitful() {
    return {false, true, 1s, 1, exit_status::exited(1)};
}

worker_death crash(duration uptime = 1s) {
    return {false, true, uptime, 0, exit_status::signalled(SIGSEGV)};
}

} // namespace

BOOST_AUTO_TEST_SUITE(slot_plan_test)

BOOST_AUTO_TEST_CASE(a_new_slot_starts_at_once) {
    const slot_trial of;
    BOOST_TEST((of.plan.earliest_start(0) <= of.now));
    BOOST_TEST((of.plan.earliest_start(3) <= of.now));
    BOOST_TEST(of.plan.failure_streak() == 0);
    BOOST_TEST(!of.plan.awaits_verdict());
    BOOST_TEST(!of.plan.is_in_launch());
}

BOOST_AUTO_TEST_SUITE(backoffs)

BOOST_AUTO_TEST_CASE(it_waits_longer_with_each_fruitless_worker) {
    slot_trial of;
    for (const auto wait : std::vector<duration>{1s, 2s, 4s, 8s, 8s}) {
        of.leave(fruitless());
        BOOST_TEST((of.plan.due() == of.now + wait));
        BOOST_TEST((of.plan.earliest_start(0) == of.now + wait));
        BOOST_TEST((of.plan.earliest_start(5) == of.now + wait));
        of.now += wait;
        of.plan.came_up();
    }
    BOOST_TEST(of.plan.failure_streak() == 5);
}

BOOST_AUTO_TEST_CASE(a_fruitful_worker_ends_the_row) {
    slot_trial of;
    of.leave(fruitless());
    of.leave(fruitful());
    BOOST_TEST(of.plan.failure_streak() == 0);
    BOOST_TEST((of.plan.due() == of.now));
}

BOOST_AUTO_TEST_CASE(waits_vary_by_the_jitter) {
    slot_trial of;
    of.plan.left(fruitless(), false, 0.0, of.now);
    BOOST_TEST((of.plan.due() == of.now + 500ms));
    of.plan.left(fruitless(), false, 0.75, of.now);
    BOOST_TEST((of.plan.due() == of.now + 2500ms));
}

BOOST_AUTO_TEST_CASE(one_that_came_up_leaves_nothing_to_wait_for) {
    slot_trial of;
    of.leave(fruitless());
    of.plan.came_up();
    BOOST_TEST((of.plan.due() == time_point()));
    BOOST_TEST(of.plan.failure_streak() == 1); // until it has done something
}

BOOST_AUTO_TEST_CASE(a_successor_that_does_not_come_up_counts_unless_we_stopped_it) {
    slot_trial of;
    of.plan.successor_failed(false, 0.5, of.now);
    BOOST_TEST(of.plan.failure_streak() == 0);
    BOOST_TEST((of.plan.due() == of.now));
    of.plan.successor_failed(true, 0.5, of.now);
    BOOST_TEST((of.plan.due() == of.now + 1s));
    of.plan.successor_failed(true, 0.5, of.now);
    BOOST_TEST((of.plan.due() == of.now + 2s));
    of.now += 10s;
    of.plan.successor_failed(false, 0.5, of.now);
    BOOST_TEST(of.plan.failure_streak() == 2);
    BOOST_TEST((of.plan.due() == of.now + 2s));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(last_answers)

BOOST_AUTO_TEST_CASE(they_speak_for_an_earlier_start) {
    slot_trial of;
    of.leave(fruitless());
    of.leave(fruitless());
    BOOST_TEST((of.plan.due() == of.now + 2s));
    of.plan.reconsider(fruitful(), 0.5, of.now + 100ms);
    BOOST_TEST(of.plan.failure_streak() == 0);
    BOOST_TEST((of.plan.due() == of.now + 100ms));
}

BOOST_AUTO_TEST_CASE(they_never_speak_for_a_later_one) {
    slot_trial of;
    of.leave(fruitful());
    of.plan.reconsider(fruitless(), 0.5, of.now + 100ms);
    BOOST_TEST(of.plan.failure_streak() == 0);
    BOOST_TEST((of.plan.due() == of.now));
    of.leave(fruitless());
    of.plan.reconsider(fruitful(), 0.5, of.now + 5s);
    BOOST_TEST((of.plan.due() == of.now + 1s));
}

BOOST_AUTO_TEST_CASE(the_same_death_counts_once) {
    slot_trial of;
    of.leave(fruitless());
    of.leave(fruitless());
    of.plan.reconsider(fruitless(), 0.5, of.now);
    BOOST_TEST(of.plan.failure_streak() == 2);
    BOOST_TEST((of.plan.due() == of.now + 2s));
}

BOOST_AUTO_TEST_CASE(that_somebody_killed_it_counts_less) {
    slot_trial of;
    of.leave(fruitless());
    of.leave(fruitless());
    of.leave(fruitless());
    auto killed = fruitless();
    killed.status = exit_status::signalled(SIGKILL);
    of.plan.reconsider(killed, 0.5, of.now);
    BOOST_TEST(of.plan.failure_streak() == 2); // as it was before the last worker left
    BOOST_TEST((of.plan.due() == of.now + 2s));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(verdicts)

BOOST_AUTO_TEST_CASE(until_there_is_one_only_an_empty_pool_starts) {
    slot_trial of;
    of.leave(crash(), true);
    BOOST_TEST(of.plan.awaits_verdict());
    BOOST_TEST((of.plan.earliest_start(1) == time_point::max()));
    BOOST_TEST((of.plan.earliest_start(0) == of.now + 1s));
    of.plan.verdict_is_out();
    BOOST_TEST(!of.plan.awaits_verdict());
    BOOST_TEST((of.plan.earliest_start(1) == of.now + 1s));
}

BOOST_AUTO_TEST_CASE(none_is_awaited_without_a_barrier_or_a_suspicion) {
    for (const bool is_enabled : {false, true}) {
        for (const bool may_have_crashed : {false, true}) {
            slot_trial of;
            of.barrier.enabled = is_enabled;
            of.leave(crash(), may_have_crashed);
            BOOST_TEST(of.plan.awaits_verdict() == (is_enabled && may_have_crashed));
        }
    }
}

BOOST_AUTO_TEST_CASE(the_next_end_decides_anew) {
    slot_trial of;
    of.leave(crash(), true);
    of.leave(fruitless(), false);
    BOOST_TEST(!of.plan.awaits_verdict());
}

BOOST_AUTO_TEST_CASE(a_crash_taints_for_all_but_an_empty_pool) {
    slot_trial of;
    of.leave(crash(), true);
    BOOST_TEST(of.plan.judged(exit_class::segfault, crash(), of.now));
    of.plan.verdict_is_out();
    BOOST_TEST((of.plan.earliest_start(1) == of.now + 30s));
    BOOST_TEST((of.plan.earliest_start(0) == of.now + 1s));
}

BOOST_AUTO_TEST_CASE(the_later_of_backoff_and_taint_counts) {
    slot_trial of;
    of.barrier.taint = 500ms;
    of.leave(crash(), true);
    of.plan.judged(exit_class::segfault, crash(), of.now);
    of.plan.verdict_is_out();
    BOOST_TEST((of.plan.earliest_start(1) == of.now + 1s));
}

BOOST_AUTO_TEST_CASE(crashes_in_a_row_taint_longer) {
    slot_trial of;
    for (const auto taint : std::vector<duration>{30s, 60s, 100s, 100s}) {
        BOOST_TEST(of.plan.judged(exit_class::segfault, crash(), of.now));
        BOOST_TEST((of.plan.earliest_start(1) == of.now + taint));
    }
    BOOST_TEST(of.plan.judged(exit_class::segfault, crash(100s), of.now)); // it did its job for long enough
    BOOST_TEST((of.plan.earliest_start(1) == of.now + 30s));
}

BOOST_AUTO_TEST_CASE(other_ends_do_not_taint) {
    slot_trial of;
    BOOST_TEST(!of.plan.judged(exit_class::error, fruitless(), of.now));
    BOOST_TEST(!of.plan.judged(exit_class::killed_by_us, crash(), of.now));
    of.barrier.enabled = false;
    BOOST_TEST(!of.plan.judged(exit_class::segfault, crash(), of.now));
    BOOST_TEST((of.plan.earliest_start(1) <= of.now));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_CASE(in_a_launch_its_turn_is_to_come) {
    slot_trial of;
    of.plan.set_in_launch(true);
    BOOST_TEST(of.plan.is_in_launch());
    BOOST_TEST((of.plan.earliest_start(0) == time_point::max()));
    BOOST_TEST((of.plan.earliest_start(1) == time_point::max()));
    of.plan.set_in_launch(false);
    BOOST_TEST((of.plan.earliest_start(0) <= of.now));
}

BOOST_AUTO_TEST_CASE(wanted_again_it_forgets_its_backoff_but_not_its_taint) {
    slot_trial of;
    of.leave(crash(), true);
    of.plan.judged(exit_class::segfault, crash(), of.now);
    of.plan.verdict_is_out();
    of.plan.set_in_launch(true);
    of.plan.renew();
    BOOST_TEST(!of.plan.is_in_launch());
    BOOST_TEST(of.plan.failure_streak() == 0);
    BOOST_TEST((of.plan.due() == time_point()));
    BOOST_TEST((of.plan.earliest_start(1) == of.now + 30s));
}

BOOST_AUTO_TEST_CASE(in_a_pool_that_begins_anew_it_forgets_both) {
    slot_trial of;
    of.leave(crash(), true);
    of.plan.judged(exit_class::segfault, crash(), of.now);
    of.plan.reset();
    BOOST_TEST(!of.plan.awaits_verdict());
    BOOST_TEST(of.plan.failure_streak() == 0);
    BOOST_TEST((of.plan.earliest_start(1) <= of.now));
    of.plan.judged(exit_class::segfault, crash(), of.now);
    BOOST_TEST((of.plan.earliest_start(1) == of.now + 30s)); // the first of a row
}

BOOST_AUTO_TEST_SUITE(ranks)

BOOST_AUTO_TEST_CASE(those_due_first_come_first) {
    slot_trial early, late;
    early.leave(fruitless());
    late.leave(fruitless());
    late.leave(fruitless());
    BOOST_TEST((early.plan.rank(start) < late.plan.rank(start)));
    BOOST_TEST((slot_trial().plan.rank(start) < early.plan.rank(start)));
}

BOOST_AUTO_TEST_CASE(one_that_may_have_crashed_comes_later_and_one_that_has_last) {
    slot_trial waiting, suspect, tainted;
    for (int i = 0; i < 5; ++i) {
        waiting.leave(fruitless());
    }
    suspect.leave(crash(), true);
    tainted.plan.judged(exit_class::segfault, crash(), start);
    BOOST_TEST((waiting.plan.rank(start) < suspect.plan.rank(start)));
    BOOST_TEST((suspect.plan.rank(start) < tainted.plan.rank(start)));
}

BOOST_AUTO_TEST_CASE(a_taint_that_is_over_counts_no_more) {
    slot_trial tainted, waiting;
    tainted.plan.judged(exit_class::segfault, crash(), start);
    waiting.leave(fruitless());
    BOOST_TEST((waiting.plan.rank(start + 29s) < tainted.plan.rank(start + 29s)));
    BOOST_TEST((tainted.plan.rank(start + 30s) < waiting.plan.rank(start + 30s)));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_CASE(a_worker_that_is_replaced_in_vain_stays_twice_as_long_each_time) {
    slot_trial of;
    BOOST_TEST((of.plan.due_in_vain() <= of.now));
    for (const duration wait : {1s, 2s, 4s, 8s, 8s}) {
        of.plan.replaced(true, 0.5, of.now);
        BOOST_TEST((of.plan.due_in_vain() == of.now + wait));
        BOOST_TEST((of.plan.earliest_start(0) <= of.now)); // one that is lost is replaced at once
        of.now += 1min;
    }
    of.plan.replaced(false, 0.5, of.now);
    BOOST_TEST((of.plan.due_in_vain() <= of.now));
    of.plan.replaced(true, 0.5, of.now);
    BOOST_TEST((of.plan.due_in_vain() == of.now + 1s));
}

BOOST_AUTO_TEST_SUITE_END()
