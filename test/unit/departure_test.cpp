// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/departure.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

using namespace skep;

namespace {

using enum departure_cause;

constexpr std::array<std::string_view, departure_cause_count> cause_names{
    "surplus",      "recycling",    "shutdown",     "failed_probes",  "overdue_call",
    "failed_reset", "memory_limit", "failed_start", "protocol_error", "lost_heartbeat",
    "lost_channel", "process_exit", "host_memory",  "error_streak",   "fails_alone"};
constexpr std::array urgencies{stop_stage::none, stop_stage::ask, stop_stage::terminate, stop_stage::kill};

departure_cause cause_at(std::size_t index) {
    return static_cast<departure_cause>(index);
}

departure departure_at(std::size_t index, std::string text) {
    return departure(cause_at(index), std::move(text));
}

/// For each cause, in their order, whether it takes the place of `known`: x or -.
std::string outranked_by(const departure& known) {
    std::string text;
    for (std::size_t later = 0; later < departure_cause_count; ++later) {
        auto now = std::optional(known);
        text += raise(now, departure_at(later, "later")) ? 'x' : '-';
    }
    return text;
}

} // namespace

BOOST_AUTO_TEST_SUITE(departure_test)

BOOST_AUTO_TEST_CASE(what_takes_the_place_of_what) {
    // Later: surplus, recycling, shutdown, failed_probes, overdue_call, failed_reset, memory_limit,
    // failed_start, protocol_error, lost_heartbeat, lost_channel, process_exit, host_memory, error_streak,
    // fails_alone
    const std::string drains = "------xxxxxxx--";
    const std::string is_stopped = "------------x--";
    const std::string is_lost = "---------------";
    const std::string has_no_channel = "-----------x---";
    for (std::size_t i = 0; i < departure_cause_count; ++i) {
        auto known = departure_at(i, "known");
        for (const auto urgency : urgencies) {
            known.urgency = urgency;
            const bool ends_at_once =
                kind_of(known.cause) == departure_kind::loss || known.cause == memory_limit;
            if (ends_at_once && urgency == stop_stage::none) {
                continue; // there is no such departure
            }
            BOOST_TEST(outranked_by(known) == (known.cause == lost_channel   ? has_no_channel
                                               : ends_at_once                ? is_lost
                                               : urgency == stop_stage::none ? drains
                                                                             : is_stopped),
                       cause_names.at(i) << " from " << to_string(urgency));
        }
    }
}

BOOST_AUTO_TEST_CASE(the_first_departure_is_the_departure) {
    for (std::size_t i = 0; i < departure_cause_count; ++i) {
        std::optional<departure> known;
        BOOST_TEST(raise(known, departure(cause_at(i), "first", errc::startup_timeout)));
        BOOST_TEST((known->cause == cause_at(i)));
        BOOST_TEST(known->detail == "first");
        BOOST_TEST((known->code == errc::startup_timeout));
        BOOST_TEST(known->planned == (kind_of(cause_at(i)) == departure_kind::plan), cause_names.at(i));
    }
}

BOOST_AUTO_TEST_CASE(text_and_code_go_with_the_cause) {
    for (std::size_t first = 0; first < departure_cause_count; ++first) {
        for (std::size_t later = 0; later < departure_cause_count; ++later) {
            std::optional<departure> known = departure(cause_at(first), "first", errc::spawn_failed);
            const bool is_news = raise(known, departure(cause_at(later), "later", errc::heartbeat_lost));
            BOOST_TEST((known->cause == cause_at(is_news ? later : first)));
            BOOST_TEST(known->detail == (is_news ? "later" : "first"));
            BOOST_TEST((known->code == (is_news ? errc::heartbeat_lost : errc::spawn_failed)));
            BOOST_TEST(known->planned ==
                       (kind_of(cause_at(first)) == departure_kind::plan)); // as it left service
        }
    }
}

BOOST_AUTO_TEST_CASE(the_urgency_never_falls) {
    for (std::size_t first = 0; first < departure_cause_count; ++first) {
        for (std::size_t later = 0; later < departure_cause_count; ++later) {
            for (const auto before : urgencies) {
                for (const auto wanted : urgencies) {
                    std::optional<departure> known = departure_at(first, "first");
                    known->urgency = before;
                    auto raised = departure_at(later, "later");
                    raised.urgency = wanted;
                    raise(known, std::move(raised));
                    BOOST_TEST((known->urgency == std::max(before, wanted)),
                               cause_names.at(first) << " and then " << cause_names.at(later));
                }
            }
        }
    }
}

/// No order of three departures comes back to the first.
BOOST_AUTO_TEST_CASE(no_cause_that_was_replaced_returns) {
    for (std::size_t first = 0; first < departure_cause_count; ++first) {
        for (std::size_t second = 0; second < departure_cause_count; ++second) {
            std::optional<departure> known = departure_at(first, "first");
            if (raise(known, departure_at(second, "second"))) {
                BOOST_TEST(!raise(known, departure_at(first, "again")),
                           cause_names.at(first) << ", " << cause_names.at(second));
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(kinds_first_urgencies_and_codes) {
    struct expected {
        departure_cause cause;
        departure_kind kind;
        stop_stage urgency;
        std::string_view code;
    };
    using enum departure_kind;
    using enum stop_stage;
    const std::vector<expected> rows{{surplus, plan, none, "scale_down"},
                                     {recycling, plan, none, "recycle"},
                                     {departure_cause::shutdown, plan, ask, "shutdown"},
                                     {failed_probes, fault, none, "health_check_failed"},
                                     {overdue_call, fault, none, "timeout"},
                                     {failed_reset, fault, none, "error"},
                                     {memory_limit, fault, terminate, "memory_limit"},
                                     {failed_start, loss, terminate, "error"},
                                     {protocol_error, loss, terminate, "error"},
                                     {lost_heartbeat, loss, terminate, "timeout"},
                                     {lost_channel, loss, terminate, "error"},
                                     {process_exit, loss, terminate, "exit"},
                                     {host_memory, loss, terminate, "error"},
                                     {error_streak, fault, none, "error"},
                                     {fails_alone, plan, none, "recycle"}};
    BOOST_REQUIRE(rows.size() == departure_cause_count);
    for (const auto& each : rows) {
        const departure subject(each.cause, "");
        BOOST_TEST_CONTEXT(cause_names.at(static_cast<std::size_t>(each.cause))) {
            BOOST_TEST((kind_of(each.cause) == each.kind));
            BOOST_TEST((subject.urgency == each.urgency));
            BOOST_TEST(to_string(code_of(subject)) == each.code);
        }
    }
    BOOST_TEST(to_string(code_of(departure(failed_start, "", errc::startup_timeout))) == "timeout");
}

BOOST_AUTO_TEST_SUITE_END()
