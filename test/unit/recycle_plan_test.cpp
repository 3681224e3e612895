// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/recycle_plan.hpp"
#include "support/start_time.hpp"
#include "support/text.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <limits>
#include <set>

using namespace skep;
using namespace std::chrono_literals;
using urgency = recycle_plan::urgency;

namespace skep {

std::ostream& operator<<(std::ostream& out, urgency how) {
    static constexpr const char* names[]{"none", "drain", "now"};
    return out << names[static_cast<int>(how)];
}

} // namespace skep

BOOST_AUTO_TEST_SUITE(recycle_plan_test)

namespace {

using test::start;

recycle_options exactly() {
    recycle_options options;
    options.jitter = 0;
    return options;
}

recycle_plan plan(const recycle_options& options, double random = 0.5) {
    return recycle_plan(options, start, random, random);
}

} // namespace

BOOST_AUTO_TEST_CASE(without_limits_nothing_is_ever_due) {
    auto it = plan(recycle_options{});
    const auto most = std::numeric_limits<std::uint64_t>::max();
    BOOST_TEST((it.due() == time_point::max()));
    BOOST_TEST(!it.is_used_up(most - 1));
    const auto verdict = it.judge(start + 10'000h, most - 1, most);
    BOOST_TEST(verdict.how == urgency::none);
    BOOST_TEST(verdict.reason.empty());
}

BOOST_AUTO_TEST_CASE(age) {
    auto options = exactly();
    options.age = 1min;
    auto it = plan(options);
    BOOST_TEST((it.due() == start + 1min));
    BOOST_TEST(it.judge(start + 1min - 1ns, 1000, 1u << 30).how == urgency::none);
    BOOST_TEST(it.judge(start + 1min, 0, 0).how == urgency::drain);
    BOOST_TEST(it.judge(start + 61s, 0, 0).reason == "it is 61000 ms old");
}

BOOST_AUTO_TEST_CASE(the_longest_age_does_not_overflow) {
    recycle_options options;
    options.age = 10'000h;
    options.jitter = 0.9;
    BOOST_TEST((plan(options, 0.999).due() > start + 18'000h));
    BOOST_TEST((plan(options, 0).due() >= start + 999h));
}

// What counts a call is the caller's: every answer, an error too. Were failed calls left out, a worker that
// only fails would live for ever.
BOOST_AUTO_TEST_CASE(recycling_counts_failed_calls_too) {
    auto options = exactly();
    options.calls = 20;
    auto it = plan(options);
    std::uint64_t answered = 0;
    for (int succeeded = 0; succeeded < 10; ++succeeded) {
        ++answered;
    }
    for (int failed = 0; failed < 9; ++failed) {
        ++answered;
    }
    BOOST_TEST(!it.is_used_up(answered));
    BOOST_TEST(it.judge(start, answered, 0).how == urgency::none);
    ++answered;
    BOOST_TEST(it.is_used_up(answered));
    BOOST_TEST(it.judge(start, answered, 0).how == urgency::drain);
    BOOST_TEST(it.judge(start, answered, 0).reason == "it has answered 20 calls");
}

BOOST_AUTO_TEST_CASE(recycling_uses_the_workers_own_memory) {
    auto options = exactly();
    options.soft_memory = 1000;
    options.hard_memory = 2000;
    auto it = plan(options);
    BOOST_TEST(it.judge(start, 0, 999).how == urgency::none);
    BOOST_TEST(it.judge(start, 0, 1000).how == urgency::drain);
    BOOST_TEST(it.judge(start, 0, 1000).reason == "it holds 1000 bytes, its soft limit is 1000");
    BOOST_TEST(it.judge(start, 0, 1999).how == urgency::drain);
    BOOST_TEST(it.judge(start, 0, 2000).how == urgency::now);
    BOOST_TEST(it.judge(start, 0, 2001).reason == "it holds 2001 bytes, its hard limit is 2000");
}

BOOST_AUTO_TEST_CASE(one_memory_limit_without_the_other) {
    auto options = exactly();
    options.soft_memory = 1000;
    BOOST_TEST(plan(options).judge(start, 0, 1u << 30).how == urgency::drain);
    options.soft_memory = 0;
    options.hard_memory = 2000;
    BOOST_TEST(plan(options).judge(start, 0, 1999).how == urgency::none);
    BOOST_TEST(plan(options).judge(start, 0, 2000).how == urgency::now);
}

BOOST_AUTO_TEST_CASE(memory_that_is_not_known_is_no_reason) {
    auto options = exactly();
    options.soft_memory = 1;
    options.hard_memory = 1;
    BOOST_TEST(plan(options).judge(start, 0, 0).how == urgency::none);
}

BOOST_AUTO_TEST_CASE(the_most_urgent_reason_wins) {
    auto options = exactly();
    options.age = 1min;
    options.calls = 20;
    options.soft_memory = 1000;
    options.hard_memory = 2000;
    auto it = plan(options);
    BOOST_TEST(it.judge(start + 1h, 100, 5000).how == urgency::now);
    BOOST_TEST(test::contains(it.judge(start + 1h, 100, 1500).reason, "soft limit"));
    BOOST_TEST(test::contains(it.judge(start + 1h, 100, 10).reason, "calls"));
    BOOST_TEST(test::contains(it.judge(start + 1h, 10, 10).reason, "old"));
}

BOOST_AUTO_TEST_CASE(jitter_spreads_both_ways) {
    recycle_options options; // 10 %
    options.age = 1000s;
    options.calls = 1000;
    BOOST_TEST((plan(options, 0).due() == start + 900s));
    BOOST_TEST((plan(options, 0.5).due() == start + 1000s));
    BOOST_TEST((plan(options, 0.75).due() == start + 1050s));
    BOOST_TEST(plan(options, 0).is_used_up(900));
    BOOST_TEST(!plan(options, 0).is_used_up(899));
    BOOST_TEST(plan(options, 0.75).is_used_up(1050));
    BOOST_TEST(!plan(options, 0.75).is_used_up(1049));
}

BOOST_AUTO_TEST_CASE(age_and_calls_are_drawn_apart) {
    recycle_options options;
    options.age = 1000s;
    options.calls = 1000;
    const recycle_plan it(options, start, 0, 0.75);
    BOOST_TEST((it.due() == start + 900s));
    BOOST_TEST(!it.is_used_up(1049));
}

BOOST_AUTO_TEST_CASE(a_worker_may_always_answer_one_call) {
    recycle_options options;
    options.calls = 1;
    options.jitter = 0.9;
    for (const double random : {0.0, 0.1, 0.5, 0.999}) {
        BOOST_TEST(!plan(options, random).is_used_up(0), random);
        BOOST_TEST(plan(options, random).is_used_up(2), random);
    }
}

BOOST_AUTO_TEST_CASE(workers_that_start_together_do_not_leave_together) {
    recycle_options options;
    options.age = 1h;
    std::set<time_point> leaving;
    for (int i = 0; i < 100; ++i) {
        leaving.insert(plan(options, i / 100.0).due());
    }
    BOOST_TEST(leaving.size() == 100u);
    BOOST_TEST((*leaving.rbegin() - *leaving.begin() > 11min));
}

BOOST_AUTO_TEST_SUITE(replacements_in_vain)

namespace {

constexpr std::uint64_t limit = 800;

recycle_plan limited(std::uint64_t fresh_bytes) {
    auto options = exactly();
    options.soft_memory = limit;
    options.memory_interval = 1s;
    return recycle_plan(options, start, 0.5, 0.5, fresh_bytes);
}

} // namespace

BOOST_AUTO_TEST_CASE(a_worker_that_begins_at_its_soft_limit_is_replaced_in_vain_at_any_time) {
    for (const duration uptime : {duration(1s), duration(24h)}) {
        auto it = limited(limit);
        const auto verdict = it.judge(start + uptime, 1000, limit);
        BOOST_TEST(verdict.how == urgency::drain);
        BOOST_TEST(verdict.is_in_vain);
        BOOST_TEST(test::contains(verdict.reason, "it holds 800 bytes, its soft limit is 800"),
                   verdict.reason);
        BOOST_TEST(test::contains(verdict.reason, "it held 800 when it was ready"), verdict.reason);
    }
}

BOOST_AUTO_TEST_CASE(so_is_one_that_is_soon_too_large_without_calls_or_was_nearly_so_from_the_beginning) {
    BOOST_TEST(limited(100).judge(start + 11s, 0, limit, false).is_in_vain);
    BOOST_TEST(limited(700).judge(start + 11s, 5, limit).is_in_vain);
    BOOST_TEST(!limited(100).judge(start + 11s, 0, limit, true).is_in_vain);
    BOOST_TEST(!limited(699).judge(start + 11s, 5, limit).is_in_vain);
}

BOOST_AUTO_TEST_CASE(one_that_leaks_for_a_while_is_not) {
    BOOST_TEST(!limited(100).judge(start + 11s + 1ns, 0, limit, false).is_in_vain);
    BOOST_TEST(!limited(799).judge(start + 11s + 1ns, 5, limit).is_in_vain);
}

BOOST_AUTO_TEST_CASE(likewise_beyond_the_hard_limit) {
    auto options = exactly();
    options.hard_memory = limit;
    recycle_plan large(options, start, 0.5, 0.5, limit);
    BOOST_TEST(large.judge(start + 1s, 0, limit).how == urgency::now);
    BOOST_TEST(large.is_in_vain());
    recycle_plan swollen(options, start, 0.5, 0.5, 100);
    BOOST_TEST(swollen.judge(start + 1s, 0, limit).how == urgency::now);
    BOOST_TEST(!swollen.is_in_vain());
}

BOOST_AUTO_TEST_CASE(waiting_does_not_change_that_but_another_look_below_the_limit_does) {
    auto it = limited(700);
    BOOST_TEST(it.judge(start + 1s, 5, limit).is_in_vain);
    BOOST_TEST(it.judge(start + 1min, 5, 0).how == urgency::none); // no look at the memory
    BOOST_TEST(it.judge(start + 1min, 5, limit).is_in_vain);
    BOOST_TEST(it.judge(start + 2min, 5, limit - 1).how == urgency::none);
    BOOST_TEST(!it.judge(start + 3min, 5, limit).is_in_vain);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE_END()
