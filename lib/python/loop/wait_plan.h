// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#ifndef SKEP_PYTHON_LOOP_WAIT_PLAN_H
#define SKEP_PYTHON_LOOP_WAIT_PLAN_H

#include <stdbool.h>
#include <stdint.h>

// Decides how the loop waits for the next call, with the rules of lib/policy/wait_plan.hpp: yield the core
// and look again for a short try, or sleep at once. All times are in nanoseconds.

typedef struct {
    int64_t gap;       ///< average time from the end of work to new work
    int64_t credit;    ///< time for tries in vain
    int64_t last;      ///< of the last refill of the credit
    uint8_t outcomes;  ///< of the last tries, 1 for success
    unsigned declined; ///< waits without a try, for lack of success
} wait_plan;

wait_plan make_wait_plan(void);

/// Returns true if a wait that begins at `now` is to begin with a try.
bool has_prospects(wait_plan* plan, int64_t now);

/// Returns true if a try continues: `length` so far, and the length of its last yield.
bool try_continues(int64_t length, int64_t last_yield);

/// Work came during a try, after a gap.
void note_found(wait_plan* plan, int64_t gap);

/// A try of this length was in vain.
void note_in_vain(wait_plan* plan, int64_t length);

/// Work came during sleep, after a gap that began with the wait.
void note_slept(wait_plan* plan, int64_t gap);

#endif
