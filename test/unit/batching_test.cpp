// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/batching.hpp"

#include <boost/test/unit_test.hpp>

namespace skep {

using namespace std::chrono_literals;

namespace {

constexpr time_point start{1h};

batch_outlook outlook(std::size_t calls, duration wait, std::size_t most = 8) {
    batch_outlook next;
    next.calls = calls;
    next.limits = {most, wait};
    next.oldest = start;
    return next;
}

/// The past of a command whose calls come at this interval, the last one at `start`.
batch_history calls_each(duration gap) {
    batch_history past;
    for (int i = 20; i >= 0; --i) {
        past.arrived(start - i * gap);
    }
    return past;
}

/// A batch was held back, and `more` calls came before it was sent.
void hold(batch_history& past, int more) {
    past.held();
    for (int i = 0; i < more; ++i) {
        past.arrived(start + 1ms);
    }
    past.formed(1 + more);
}

} // namespace

BOOST_AUTO_TEST_SUITE(batching)

BOOST_AUTO_TEST_CASE(the_configuration_overrides_the_script_each_limit_for_itself) {
    pool_config config;
    config.commands["embed"].batch = 16;
    const auto embed = limits_of(config, "embed", {32, 5ms});
    BOOST_TEST(embed.most == 16u);
    BOOST_TEST((embed.wait == 5ms));
    config.commands["embed"].batch_wait = 0ms;
    BOOST_TEST((limits_of(config, "embed", {32, 5ms}).wait == 0ms));
    BOOST_TEST(limits_of(config, "other", {32, 5ms}).most == 32u);
}

BOOST_AUTO_TEST_CASE(a_free_place_takes_any_batch_at_once_by_default) {
    const auto past = calls_each(100us);
    BOOST_TEST((time_to_send(outlook(1, 0ms), past) < start));
    BOOST_TEST((time_to_send(outlook(3, 0ms), past) < start));
}

BOOST_AUTO_TEST_CASE(with_a_wait_it_is_held_back_until_then_unless_it_is_full) {
    const auto past = calls_each(1ms);
    BOOST_TEST((time_to_send(outlook(1, 2ms), past) == start + 2ms));
    BOOST_TEST((time_to_send(outlook(7, 2ms), past) == start + 2ms));
    BOOST_TEST((time_to_send(outlook(8, 2ms), past) < start));
}

BOOST_AUTO_TEST_CASE(the_wait_ends_when_no_call_has_come_for_much_longer_than_usual) {
    const auto until = time_to_send(outlook(1, 1s), calls_each(1ms));
    BOOST_TEST((until > start + 3ms));
    BOOST_TEST((until < start + 15ms));
}

BOOST_AUTO_TEST_CASE(a_pause_between_two_bursts_hardly_counts) {
    batch_history past;
    auto now = start;
    for (int burst = 0; burst < 10; ++burst) {
        for (int i = 0; i < 16; ++i) {
            past.arrived(now += 5us);
        }
        now += 1ms;
    }
    BOOST_TEST((past.next_expected() < now - 1ms + 100us));
}

BOOST_AUTO_TEST_CASE(holds_in_vain_become_rare_and_a_fruitful_one_brings_them_back) {
    auto past = calls_each(1ms);
    std::size_t held = 0;
    for (int i = 0; i < 1000; ++i) {
        if (past.may_more_come()) {
            ++held;
            hold(past, 0);
        } else {
            past.formed(1);
        }
    }
    BOOST_TEST(held > 5u);
    BOOST_TEST(held < 20u);
    while (!past.may_more_come()) {
        past.formed(1);
    }
    hold(past, 1);
    BOOST_TEST(past.may_more_come());
}

BOOST_AUTO_TEST_CASE(calls_that_follow_an_answer_do_not_make_a_hold_fruitful) {
    auto past = calls_each(1ms);
    past.held();
    past.answered();
    past.arrived(start + 1ms);
    past.formed(2);
    BOOST_TEST(!past.may_more_come());
}

BOOST_AUTO_TEST_CASE(a_deadline_leaves_time_for_the_batch_to_run) {
    auto past = calls_each(1ms);
    past.ran(10ms);
    auto next = outlook(1, 5ms);
    next.deadline = start + 22ms;
    BOOST_TEST((time_to_send(next, past) == start + 2ms));
    next.deadline = start + 15ms;
    BOOST_TEST((time_to_send(next, past) < start));
}

BOOST_AUTO_TEST_CASE(only_a_full_batch_of_a_command_known_to_be_short_is_pipelined) {
    batch_history past;
    auto next = outlook(8, 0ms);
    next.has_place = false;
    BOOST_TEST((time_to_send(next, past) == time_point::max()));
    past.ran(1ms);
    BOOST_TEST((time_to_send(next, past) < start));
    next.calls = 7;
    BOOST_TEST((time_to_send(next, past) == time_point::max()));
    next.calls = 8;
    for (int i = 0; i < 40; ++i) {
        past.ran(6ms);
    }
    BOOST_TEST((time_to_send(next, past) == time_point::max()));
}

BOOST_AUTO_TEST_CASE(a_command_is_crowded_once_a_batch_had_several_calls) {
    batch_history past;
    BOOST_TEST(!past.is_crowded());
    past.formed(2);
    BOOST_TEST(past.is_crowded());
    past.formed(1);
    BOOST_TEST(!past.is_crowded());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep
