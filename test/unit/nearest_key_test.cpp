// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/nearest_key.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <utility>
#include <vector>

using namespace skep;

BOOST_AUTO_TEST_SUITE(nearest_key_test)

BOOST_AUTO_TEST_CASE(few_edits_lead_to_it) {
    const std::set<std::string, std::less<>> known{"limit",   "max",        "min", "name",
                                                   "timeout", "timeout_ms", "up"};
    const std::vector<std::pair<std::string, std::string>> table{
        {"limt", "limit"},      // one less
        {"limmit", "limit"},    // one more
        {"linit", "limit"},     // another
        {"nmae", "name"},       // two swapped
        {"Name", "name"},       //
        {"mx", "max"},          //
        {"tmeoutt", "timeout"}, // two edits of a longer one
        {"timeoutms", "timeout_ms"},
        {"timeout_s", "timeout_ms"},
        {"qp", "up"},
        {"mix", "max"}, // as near as "min": the first one
        {"limits_x", ""},
        {"tout", ""},
        {"", ""},
        {"x", ""},
        {"queue.limit", ""}};
    for (const auto& [misspelt, expected] : table) {
        BOOST_TEST(nearest_key(misspelt, known) == expected, misspelt);
    }
}

BOOST_AUTO_TEST_CASE(nothing_is_near_in_a_desert_and_huge_keys_cost_nothing) {
    BOOST_TEST(nearest_key("limit", {}).empty());
    BOOST_TEST(nearest_key(std::string(100'000'000, 'x'), {"limit"}).empty());
}

BOOST_AUTO_TEST_SUITE_END()
