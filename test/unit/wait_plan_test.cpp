// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// The rules for waits of the library, and their copy in C for Python workers.

#include "policy/wait_plan.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <tuple>

extern "C" {
#include "python/loop/wait_plan.c"
}

namespace skep {

namespace {

using namespace std::chrono_literals;

constexpr duration full_try = wait_plan::longest_try;

/// The copy in C, with the interface of wait_plan.
class wait_plan_in_c {
public:
    bool has_prospects(time_point now) { return ::has_prospects(&plan_, now.time_since_epoch().count()); }
    static bool continues(duration length, duration last_yield) {
        return ::try_continues(length.count(), last_yield.count());
    }
    void found(duration gap) { ::note_found(&plan_, gap.count()); }
    void tried_in_vain(duration length) { ::note_in_vain(&plan_, length.count()); }
    void slept(duration gap) { ::note_slept(&plan_, gap.count()); }

private:
    ::wait_plan plan_ = ::make_wait_plan();
};

using plans = std::tuple<wait_plan, wait_plan_in_c>;

/// A thread that waits, and whose work comes after given times.
template <class Plan>
struct waiter {
    Plan waiting;
    time_point now = time_point(1h);
    int tries = 0;
    int successes = 0;
    duration in_vain{};

    void wait(duration until_work) {
        const auto begin = now;
        if (waiting.has_prospects(now)) {
            ++tries;
            if (until_work < full_try) {
                ++successes;
                now += until_work;
                waiting.found(until_work);
                return;
            }
            now += full_try;
            in_vain += full_try;
            waiting.tried_in_vain(full_try);
        }
        now = begin + until_work;
        waiting.slept(until_work);
    }

    void wait(int times, duration until_work) {
        for (int i = 0; i < times; ++i) {
            wait(until_work);
        }
    }

    int tries_in(int times, duration until_work) {
        tries = 0;
        wait(times, until_work);
        return tries;
    }
};

} // namespace

BOOST_AUTO_TEST_SUITE(wait_plan_tests)

BOOST_AUTO_TEST_CASE_TEMPLATE(yields_in_each_wait_while_work_comes_soon, plan, plans) {
    waiter<plan> thread;
    BOOST_TEST(thread.tries_in(1000, 8us) == 1000);
    BOOST_TEST(thread.successes == 1000);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(sleeps_at_once_where_work_comes_seldom, plan, plans) {
    waiter<plan> thread;
    thread.wait(50, 1ms);
    BOOST_TEST(thread.tries_in(1000, 1ms) == 0);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(learns_again_that_work_comes_soon, plan, plans) {
    waiter<plan> thread;
    thread.wait(1000, 10ms);
    thread.wait(200, 30us);
    BOOST_TEST(thread.tries_in(100, 30us) == 100);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(tries_seldom_after_tries_in_vain, plan, plans) {
    waiter<plan> thread;
    thread.wait(50, 100us); // soon enough for a try, too late for its success
    BOOST_TEST(thread.tries_in(1600, 100us) == 100);
    thread.wait(16 * 8, 30us);
    BOOST_TEST(thread.tries_in(100, 30us) == 100);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(tries_in_vain_take_a_tenth_of_a_core, plan, plans) {
    waiter<plan> thread;
    const auto begin = thread.now;
    for (int i = 0; i < 20'000; ++i) { // so many successes that each wait begins with a try
        thread.wait(60us);
        thread.wait(1us);
    }
    BOOST_TEST((thread.in_vain > 20ms));
    BOOST_TEST((thread.in_vain <= (thread.now - begin) / 10 + 10ms));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_try_ends_after_its_time_and_when_another_thread_needs_the_core, plan, plans) {
    BOOST_TEST(plan::continues(0us, 1us));
    BOOST_TEST(plan::continues(full_try - 1ns, 1us));
    BOOST_TEST(!plan::continues(full_try, 1us));
    BOOST_TEST(!plan::continues(20us, wait_plan::contended_yield));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep
