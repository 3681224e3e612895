// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "wait_plan.h"

static const int64_t longest_try = 50000;
static const int64_t contended_yield = 15000; // another thread needed the core
static const int64_t longest_gap = 200000;
static const int64_t most_credit = 10000000;
static const int64_t credit_per_time = 10; // a tenth of a core
static const int64_t weight = 8;           // of the average gap against a new gap
static const int fewest_successes = 4;     // of the last eight tries
static const unsigned probe_interval = 16;

wait_plan make_wait_plan(void) {
    const wait_plan plan = {longest_gap, most_credit, 0, 0xff, 0};
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
