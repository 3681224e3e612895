// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "wait_plan.h"

enum {
    microsecond = 1000,
    longest_try = 50 * microsecond,
    contended_yield = 15 * microsecond, // another thread needed the core
    longest_gap = 200 * microsecond,
    most_credit = 10000 * microsecond,
    credit_per_time = 10, // a tenth of a core
    fewest_successes = 4, // of the last eight tries
    probe_interval = 16,
    weight = 8, // of the average gap against a new gap
};

wait_plan make_wait_plan(void) {
    const wait_plan plan = {.gap = longest_gap, .credit = most_credit, .outcomes = 0xff};
    return plan;
}

static void refill(wait_plan* plan, int64_t now) {
    const int64_t credit = plan->credit + (now - plan->last) / credit_per_time;
    plan->credit = credit < most_credit ? credit : most_credit;
    plan->last = now;
}

static void learn(wait_plan* plan, int64_t gap) {
    const int64_t bounded = gap < 4 * longest_gap ? gap : 4 * longest_gap;
    plan->gap += (bounded - plan->gap) / weight;
}

static void record(wait_plan* plan, bool success) {
    plan->outcomes = (uint8_t)(plan->outcomes << 1 | success);
}

bool has_prospects(wait_plan* plan, int64_t now) {
    refill(plan, now);
    if (plan->gap > longest_gap || plan->credit < longest_try) {
        return false;
    }
    return __builtin_popcount(plan->outcomes) >= fewest_successes || ++plan->declined % probe_interval == 0;
}

bool try_continues(int64_t length, int64_t last_yield) {
    return length < longest_try && last_yield < contended_yield;
}

void note_found(wait_plan* plan, int64_t gap) {
    record(plan, true);
    learn(plan, gap);
}

void note_in_vain(wait_plan* plan, int64_t length) {
    record(plan, false);
    plan->credit -= length;
}

void note_slept(wait_plan* plan, int64_t gap) {
    learn(plan, gap);
}
