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

using enum departure_cause;
using enum worker_state;

constexpr std::array all_faults{lost_channel, protocol_error, lost_heartbeat, failed_start, failed_probes,
                                overdue_call, error_streak,   fails_alone,    memory_limit};

constexpr std::array all_states{created,   pending,  starting, ready,    busy,   degraded,
                                suspended, stopping, stopped,  finished, failed, killed};
static_assert(all_states.size() == worker_state_count);

recovery_action act(departure_cause cause, worker_state state, int failures = 1) {
    return recover_worker({cause, "", errc::worker_lost, failures, 3}, state);
}

/// One letter per state, in the order of all_states: n(one), d(egrade), p(robe), (re)c(ycle), r(eplace),
/// t(erminate), a(bandon).
std::string row(departure_cause cause, int failures) {
    std::string letters;
    for (const auto state : all_states) {
        letters += "ndpcrta"[static_cast<int>(act(cause, state, failures))];
    }
    return letters;
}

} // namespace

BOOST_AUTO_TEST_SUITE(recovery_test)

BOOST_AUTO_TEST_CASE(recover_worker_table) {
    struct rows {
        departure_cause cause;
        std::string below; ///< the limit
        std::string at;
    };
    // created, pending, starting, ready, busy, degraded, suspended, stopping, terminal
    const std::vector<rows> table{{lost_channel, "nnaaaaannnnn", "nnaaaaannnnn"},
                                  {protocol_error, "nnaaaaannnnn", "nnaaaaannnnn"},
                                  {lost_heartbeat, "nnaaaaannnnn", "nnaaaaannnnn"},
                                  {failed_start, "nnaaaaannnnn", "nnaaaaannnnn"},
                                  {failed_probes, "nnndddnnnnnn", "nnrrrrrnnnnn"},
                                  {overdue_call, "nnrrrrrnnnnn", "nnrrrrrnnnnn"},
                                  {departure_cause::error_streak, "nnpppppnnnnn", "nnpppppnnnnn"},
                                  {fails_alone, "nncccccnnnnn", "nncccccnnnnn"},
                                  {memory_limit, "nntttttnnnnn", "nntttttnnnnn"}};
    BOOST_TEST(table.size() == all_faults.size());
    for (const auto& [cause, below, at] : table) {
        BOOST_TEST_CONTEXT("cause " << static_cast<int>(cause)) {
            BOOST_TEST(row(cause, 1) == below);
            BOOST_TEST(row(cause, 2) == below);
            BOOST_TEST(row(cause, 3) == at);
            BOOST_TEST(row(cause, 4) == at);
        }
    }
}

// Fewer failures than the limit degrade, the one that reaches it removes.
BOOST_AUTO_TEST_CASE(a_probe_degrades_until_the_limit) {
    BOOST_TEST(act(failed_probes, ready, 1) == recovery_action::degrade);
    BOOST_TEST(act(failed_probes, degraded, 2) == recovery_action::degrade);
    BOOST_TEST(act(failed_probes, degraded, 3) == recovery_action::replace);
    BOOST_TEST(recover_worker({failed_probes, "", errc::worker_lost, 1, 1}, ready) ==
               recovery_action::replace);
}
BOOST_AUTO_TEST_CASE(a_crash_is_recovered_from_wherever_there_is_somebody_to_crash) {
    for (const auto state : {starting, ready, busy, degraded, suspended}) {
        BOOST_TEST(act(lost_channel, state) == recovery_action::abandon, to_string(state));
    }
}

BOOST_AUTO_TEST_CASE(what_is_on_its_way_out_gets_no_successor_for_its_end) {
    for (const auto cause : all_faults) {
        BOOST_TEST(act(cause, stopping) == recovery_action::none);
    }
}

BOOST_AUTO_TEST_CASE(only_what_can_be_degraded_is) {
    for (const auto cause : all_faults) {
        for (const auto state : all_states) {
            if (act(cause, state) == recovery_action::degrade) {
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

// Promise 2: what was not sent always goes elsewhere, what may have begun only if idempotent and so many
// times.
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
