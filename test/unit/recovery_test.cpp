// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/recovery.hpp"

#include <boost/test/unit_test.hpp>

#include <array>
#include <string>
#include <vector>

using namespace skep;

namespace skep {

std::ostream& operator<<(std::ostream& out, recovery_action action) {
    static constexpr const char* names[]{"none",    "degrade",   "probe",  "recycle",
                                         "replace", "terminate", "abandon"};
    return out << names[static_cast<int>(action)];
}

std::ostream& operator<<(std::ostream& out, call_fate fate) {
    static constexpr const char* names[]{"resend", "retry", "fail", "refuse"};
    return out << names[static_cast<int>(fate)];
}

} // namespace skep

namespace {

using enum failure_kind;
using enum worker_state;

constexpr std::array all_kinds{process_exit, protocol_error, heartbeat_lost, start_failed,   probe_failed,
                               call_overdue, error_streak,   fails_alone,    too_much_memory};

constexpr std::array all_states{created,   pending,  starting, ready,    busy,   degraded,
                                suspended, stopping, stopped,  finished, failed, killed};
static_assert(all_states.size() == worker_state_count);

recovery_action act(failure_kind kind, worker_state state, int failures = 1) {
    return recover_worker({kind, "", errc::worker_lost, failures, 3}, state);
}

/// One letter per state, in the order of all_states: n(one), d(egrade), p(robe), (re)c(ycle), r(eplace), t(erminate),
/// a(bandon).
std::string row(failure_kind kind, int failures) {
    std::string letters;
    for (const auto state : all_states) {
        letters += "ndpcrta"[static_cast<int>(act(kind, state, failures))];
    }
    return letters;
}

} // namespace

BOOST_AUTO_TEST_SUITE(recovery_test)

BOOST_AUTO_TEST_CASE(recover_worker_table) {
    struct rows {
        failure_kind kind;
        std::string below; ///< the limit
        std::string at;
    };
    //                             created, pending, starting, ready, busy, degraded, suspended, stopping, terminal
    const std::vector<rows> table{{process_exit, "nnaaaaannnnn", "nnaaaaannnnn"},
                                  {protocol_error, "nnaaaaannnnn", "nnaaaaannnnn"},
                                  {heartbeat_lost, "nnaaaaannnnn", "nnaaaaannnnn"},
                                  {start_failed, "nnaaaaannnnn", "nnaaaaannnnn"},
                                  {probe_failed, "nnndddnnnnnn", "nnrrrrrnnnnn"},
                                  {call_overdue, "nnrrrrrnnnnn", "nnrrrrrnnnnn"},
                                  {failure_kind::error_streak, "nnpppppnnnnn", "nnpppppnnnnn"},
                                  {fails_alone, "nncccccnnnnn", "nncccccnnnnn"},
                                  {too_much_memory, "nntttttnnnnn", "nntttttnnnnn"}};
    BOOST_TEST(table.size() == all_kinds.size());
    for (const auto& [kind, below, at] : table) {
        BOOST_TEST_CONTEXT("kind " << static_cast<int>(kind)) {
            BOOST_TEST(row(kind, 1) == below);
            BOOST_TEST(row(kind, 2) == below);
            BOOST_TEST(row(kind, 3) == at);
            BOOST_TEST(row(kind, 4) == at);
        }
    }
}

// Fewer failures than the limit degrade, the one that reaches it removes.
BOOST_AUTO_TEST_CASE(a_probe_degrades_until_the_limit) {
    BOOST_TEST(act(probe_failed, ready, 1) == recovery_action::degrade);
    BOOST_TEST(act(probe_failed, degraded, 2) == recovery_action::degrade);
    BOOST_TEST(act(probe_failed, degraded, 3) == recovery_action::replace);
    BOOST_TEST(recover_worker({probe_failed, "", errc::worker_lost, 1, 1}, ready) ==
               recovery_action::replace);
}
BOOST_AUTO_TEST_CASE(a_crash_is_recovered_from_wherever_there_is_somebody_to_crash) {
    for (const auto state : {starting, ready, busy, degraded, suspended}) {
        BOOST_TEST(act(process_exit, state) == recovery_action::abandon, to_string(state));
    }
}

BOOST_AUTO_TEST_CASE(what_is_on_its_way_out_gets_no_successor_for_its_end) {
    for (const auto kind : all_kinds) {
        BOOST_TEST(act(kind, stopping) == recovery_action::none);
    }
}

BOOST_AUTO_TEST_CASE(only_what_can_be_degraded_is) {
    for (const auto kind : all_kinds) {
        for (const auto state : all_states) {
            if (act(kind, state) == recovery_action::degrade) {
                BOOST_TEST((state == degraded || is_legal(state, degraded)), to_string(state));
            }
        }
    }
}

BOOST_AUTO_TEST_SUITE(calls)

BOOST_AUTO_TEST_CASE(recover_call_table) {
    for (unsigned bits = 0; bits < 32; ++bits) {
        const lost_call call{(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0, (bits & 8) != 0,
                             (bits & 16) != 0};
        const auto expected = call.poisonous         ? call_fate::refuse
                              : !call.may_have_begun ? call_fate::resend
                              : (bits & 26) == 26    ? call_fate::retry
                                                     : call_fate::fail;
        BOOST_TEST(recover_call(call) == expected, "case " << bits);
    }
}

BOOST_AUTO_TEST_CASE(by_default_a_lost_call_fails) {
    BOOST_TEST(recover_call(lost_call{}) == call_fate::fail);
}

// Promise 2: what was not sent always goes elsewhere, what may have begun only if idempotent and so many times.
BOOST_AUTO_TEST_CASE(promise_2) {
    struct row {
        bool sent, idempotent;
        int attempts, max_attempts;
        call_fate expected;
    };
    using enum call_fate;
    constexpr std::array<row, 14> table{{
        {false, false, 0, 3, resend},
        {false, true, 0, 3, resend},
        {false, false, 3, 3, resend},
        {false, true, 99, 1, resend},
        {true, false, 1, 3, fail},
        {true, false, 0, 3, fail},
        {true, false, 3, 3, fail},
        {true, true, 1, 3, retry},
        {true, true, 2, 3, retry},
        {true, true, 3, 3, fail},
        {true, true, 4, 3, fail},
        {true, true, 1, 1, fail},
        {true, true, 1, 2, retry},
        {true, true, 99, 100, retry},
    }};
    for (const auto& row : table) {
        lost_call call;
        call.may_have_begun = row.sent;
        call.idempotent = row.idempotent;
        call.within_attempts = row.attempts < row.max_attempts;
        BOOST_TEST(recover_call(call) == row.expected, "sent " << row.sent << ", idempotent "
                                                               << row.idempotent << ", " << row.attempts
                                                               << " of " << row.max_attempts);
    }
}

BOOST_AUTO_TEST_CASE(poison_is_refused_even_if_it_was_never_begun) {
    for (const bool begun : {false, true}) {
        lost_call call;
        call.may_have_begun = begun;
        call.idempotent = true;
        call.poisonous = true;
        BOOST_TEST(recover_call(call) == call_fate::refuse);
    }
}

BOOST_AUTO_TEST_CASE(without_budget_nothing_is_retried_but_what_was_never_begun_goes_on) {
    lost_call call;
    call.idempotent = true;
    call.within_budget = false;
    BOOST_TEST(recover_call(call) == call_fate::fail);
    call.may_have_begun = false;
    BOOST_TEST(recover_call(call) == call_fate::resend);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE_END()
