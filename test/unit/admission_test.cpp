// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/admission.hpp"

#include <boost/test/unit_test.hpp>

#include <array>
#include <string>

using namespace skep;

BOOST_AUTO_TEST_SUITE(admission_test)

namespace {

using enum pool_phase;

constexpr std::array all_phases{created, starting, running, stopping, stopped, failed};

/// One letter per phase, in the order of all_phases: not (s)tarted, (u)navailable, start (f)ailed, shutting
/// (d)own, (t)imeout, (p)oisonous, out of (m)emory, - for none.
std::string row(bool has_start_failed, bool is_unavailable, bool is_expired, bool is_poisonous) {
    std::string letters;
    for (const auto phase : all_phases) {
        const auto refusal = refusal_of(
            {phase, errc::out_of_memory, has_start_failed, is_unavailable, is_expired, is_poisonous});
        char letter = '?';
        if (!refusal) {
            letter = '-';
        } else if (refusal == errc::not_started) {
            letter = 's';
        } else if (refusal == errc::unavailable) {
            letter = 'u';
        } else if (refusal == errc::start_failed) {
            letter = 'f';
        } else if (refusal == errc::shutting_down) {
            letter = 'd';
        } else if (refusal == errc::out_of_memory) {
            letter = 'm';
        } else if (refusal == errc::timeout) {
            letter = 't';
        } else if (refusal == errc::poisonous_request) {
            letter = 'p';
        }
        letters += letter;
    }
    return letters;
}

} // namespace

BOOST_AUTO_TEST_CASE(what_belongs_to_a_call_is_drained_with_it) {
    admission_facts facts;
    facts.is_part_of_another = true;
    facts.phase = stopping;
    BOOST_TEST(!refusal_of(facts));
    facts.phase = stopped;
    BOOST_TEST((refusal_of(facts) == errc::shutting_down));
}

BOOST_AUTO_TEST_CASE(refusal_table) {
    struct rows {
        bool has_start_failed, is_unavailable, is_expired, is_poisonous;
        const char* expected; ///< created, starting, running, stopping, stopped, failed
    };
    constexpr std::array<rows, 16> table{{
        {false, false, false, false, "s--ddm"},
        {false, false, false, true, "sppddm"},
        {false, false, true, false, "sttddm"},
        {false, false, true, true, "sttddm"},
        {false, true, false, false, "s-uddm"},
        {false, true, false, true, "spuddm"},
        {false, true, true, false, "studdm"},
        {false, true, true, true, "studdm"},
        {true, false, false, false, "ff-ddm"},
        {true, false, false, true, "ffpddm"},
        {true, false, true, false, "fftddm"},
        {true, false, true, true, "fftddm"},
        {true, true, false, false, "ffuddm"},
        {true, true, false, true, "ffuddm"},
        {true, true, true, false, "ffuddm"},
        {true, true, true, true, "ffuddm"},
    }};
    for (const auto& each : table) {
        BOOST_TEST(row(each.has_start_failed, each.is_unavailable, each.is_expired, each.is_poisonous) ==
                       each.expected,
                   each.has_start_failed << each.is_unavailable << each.is_expired << each.is_poisonous);
    }
}

BOOST_AUTO_TEST_CASE(by_default_nothing_is_refused) {
    BOOST_TEST(!refusal_of({}).has_value());
}

BOOST_AUTO_TEST_CASE(it_is_decided_at_compile_time_where_the_facts_are_known) {
    static_assert(refusal_of({created}) == errc::not_started);
    static_assert(!refusal_of({starting}));
    static_assert(admit(true, 0, 0) == admission::dispatch);
}

BOOST_AUTO_TEST_CASE(admission_table) {
    struct rows {
        std::size_t queued, limit;
        admission without_place;
    };
    constexpr std::array<rows, 8> table{{
        {0, 0, admission::saturated},
        {1, 0, admission::saturated},
        {0, 1, admission::queue},
        {1, 1, admission::saturated},
        {2, 1, admission::saturated}, // what was lost with its worker waits beyond the limit
        {9, 10, admission::queue},
        {10, 10, admission::saturated},
        {11, 10, admission::saturated},
    }};
    for (const auto& [queued, limit, without_place] : table) {
        BOOST_TEST((admit(false, queued, limit) == without_place), queued << " of " << limit);
        BOOST_TEST((admit(true, queued, limit) == admission::dispatch), queued << " of " << limit);
    }
}

BOOST_AUTO_TEST_SUITE_END()
