// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/duration_text.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <string>
#include <utility>
#include <vector>

using namespace skep;
using namespace std::chrono_literals;
namespace data = boost::unit_test::data;

BOOST_AUTO_TEST_SUITE(duration_text_test)

BOOST_AUTO_TEST_CASE(all_units_and_fractions) {
    const std::vector<std::pair<std::string, duration>> table{
        {"250ms", 250ms}, {"30s", 30s},       {"1.5s", 1500ms},   {"5m", 5min},      {"1h", 1h},
        {"7d", 168h},     {"0s", 0s},         {"1500us", 1500us}, {"17ns", 17ns},    {"0.1s", 100ms},
        {"007s", 7s},     {"-1.5s", -1500ms}, {"0.25h", 15min},   {"0.000001s", 1us}};
    for (const auto& [text, expected] : table) {
        const auto parsed = parse_duration(text);
        BOOST_TEST_REQUIRE(parsed.has_value(), text);
        BOOST_TEST(parsed->count() == expected.count(), text);
    }
}

BOOST_DATA_TEST_CASE(what_is_no_duration,
                     data::make({"",     "s",    "5",    "5 s",    " 5s",   "5s ",  "5S",   "5sec",
                                 "1e3s", "1.s",  ".5s",  "1.5.5s", "1,5s",  "0x5s", "--5s", "-s",
                                 "+5s",  "infs", "nans", "inf",    "1h30m", "s5"}),
                     text) {
    BOOST_TEST(!parse_duration(text).has_value(), text);
}

BOOST_AUTO_TEST_CASE(what_is_beyond_a_duration_is_the_longest) {
    BOOST_TEST((parse_duration("1000000d") == duration::max()));
    BOOST_TEST((parse_duration("-1000000d") == -duration::max()));
}

BOOST_AUTO_TEST_CASE(the_largest_unit_that_leaves_it_whole) {
    const std::vector<std::pair<duration, std::string>> table{
        {0s, "0s"},   {90s, "90s"},       {120s, "2m"},       {2h, "2h"},   {24h, "1d"},
        {25h, "25h"}, {1500ms, "1500ms"}, {1500us, "1500us"}, {1ns, "1ns"}, {-5s, "-5s"}};
    for (const auto& [span, expected] : table) {
        BOOST_TEST(to_text(span) == expected);
    }
}

BOOST_AUTO_TEST_CASE(what_is_written_is_read_back) {
    for (const auto span :
         {duration::max(), -duration::max(), duration(1), 10'000h - 1ns, duration(123'456'789)}) {
        BOOST_TEST((parse_duration(to_text(span)) == span), to_text(span));
    }
}

BOOST_AUTO_TEST_SUITE_END()
