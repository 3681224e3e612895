// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "support/config_ranges.hpp"
#include "support/text.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <limits>
#include <string>

using namespace skep;
using namespace skep::test;
using namespace std::chrono_literals;
namespace json = boost::json;

BOOST_AUTO_TEST_SUITE(config_range_test)

BOOST_AUTO_TEST_CASE(every_range_is_inclusive_and_its_violation_tells_field_value_and_rule) {
    for (const auto& field : ranges()) {
        BOOST_TEST_CONTEXT(field.path) {
            for (const auto good : {field.low, field.high}) {
                auto config = roomy();
                field.set(config, good);
                if (field.path == "limits.frame_bytes") {
                    config.limits.json_bytes = 1024;
                }
                BOOST_TEST(complaint(config).empty(), complaint(config));
            }
            for (const auto bad : {field.low - 1, field.high + 1}) {
                auto config = roomy();
                field.set(config, bad);
                const auto problem = complaint(config);
                BOOST_TEST(contains(problem, field.path + " = "), problem);
                const auto wrapped = std::to_string(static_cast<std::size_t>(bad)); // of a field without sign
                BOOST_TEST((contains(problem, shown(field, bad) + ":") || contains(problem, wrapped + ":")),
                           problem);
                BOOST_TEST(contains(problem, shown(field, field.low) + ".." + shown(field, field.high)),
                           problem);
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(extreme_values_are_refused) {
    for (const auto& field : ranges()) {
        if (field.in == unit::count) {
            auto config = roomy();
            field.set(config, std::numeric_limits<int>::min()); // huge if the field has no sign
            BOOST_TEST(contains(complaint(config), field.path), field.path);
        }
    }
    auto config = roomy();
    config.queue.limit = std::numeric_limits<std::size_t>::max();
    BOOST_TEST(contains(complaint(config), "queue.limit = 18446744073709551615"));
    config = roomy();
    config.request_timeout = duration::max();
    BOOST_TEST(contains(complaint(config), "request_timeout"));
    config.request_timeout = duration::min();
    BOOST_TEST(contains(complaint(config), "request_timeout"));
}

BOOST_AUTO_TEST_CASE(jitter_is_a_share) {
    for (const double good : {0.0, 0.25, 1.0}) {
        auto config = runnable();
        config.restart.jitter = good;
        BOOST_TEST(complaint(config).empty());
    }
    for (const double bad : {-0.01, 1.01, std::numeric_limits<double>::infinity(), -1e300,
                             std::numeric_limits<double>::quiet_NaN()}) {
        auto config = runnable();
        config.restart.jitter = bad;
        BOOST_TEST(contains(complaint(config), "restart.jitter = "), bad);
    }
}

BOOST_AUTO_TEST_CASE(json_has_the_same_ranges) {
    for (const auto& field : ranges()) {
        BOOST_TEST_CONTEXT(field.path) {
            for (const auto good : {field.low, field.high}) {
                const auto document = with(json_path(field), good);
                BOOST_TEST(complaint_of_json(document).empty(), complaint_of_json(document));
                BOOST_TEST(field.get(pool_config::from_json(document)) == good);
            }
            for (const auto bad : {field.low - 1, field.high + 1, -1LL, std::numeric_limits<long long>::min(),
                                   std::numeric_limits<long long>::max()}) {
                if (bad < field.low || bad > field.high) {
                    const auto problem = complaint_of_json(with(json_path(field), bad));
                    BOOST_TEST(contains(problem, field.path), bad << ": " << problem);
                    BOOST_TEST(contains(problem, std::to_string(bad)), bad << ": " << problem);
                }
            }
        }
    }
}

// -18446744073709 ms are, modulo 2^64 ns, half a millisecond.
BOOST_AUTO_TEST_CASE(times_in_json_do_not_wrap_around) {
    for (const long long value : {-18446744073709LL, -18446744073000LL, 18446744073710LL, 9223372036855LL,
                                  -9223372036855LL, -9223372036854775807LL}) {
        for (const auto& field : ranges()) {
            if (field.in == unit::milliseconds) {
                const auto problem = complaint_of_json(with(json_path(field), value));
                BOOST_TEST(contains(problem, json_path(field) + " = " + std::to_string(value)),
                           field.path << ", " << value << ": " << problem);
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(numbers_in_json_must_be_integers) {
    for (const auto& field : ranges()) {
        for (const auto& bad : {json::value(1.5), json::value("1"), json::value(true), json::value(nullptr),
                                json::value(json::array{1}), json::value(json::object()), json::value(1e300),
                                json::value(std::numeric_limits<std::uint64_t>::max())}) {
            const auto problem = complaint_of_json(with(json_path(field), bad));
            if (bad.is_null() && field.get(pool_config()) < field.low) { // a number that the pool can choose
                BOOST_TEST(problem.empty(), problem);
            } else {
                BOOST_TEST(contains(problem, json_path(field)), json::serialize(bad) << ": " << problem);
            }
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()
