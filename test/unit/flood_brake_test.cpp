// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/flood_brake.hpp"

#include <boost/test/unit_test.hpp>

namespace skep::test {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(flood_brake_test)

namespace {

constexpr std::size_t kib = 1024;
const time_point start = time_point() + 1h;

} // namespace

BOOST_AUTO_TEST_CASE(a_burst_passes) {
    flood_brake brake(256 * kib, 1024 * kib);
    for (int i = 0; i < 3; ++i) {
        BOOST_TEST((brake.charge(64 * kib, start) == start));
    }
    BOOST_TEST((brake.charge(64 * kib, start) == start + 250ms)); // what all four are worth
}

BOOST_AUTO_TEST_CASE(in_the_long_run_the_rate_is_kept_however_the_pieces_come) {
    for (const std::size_t piece : {1 * kib, 64 * kib, 300 * kib}) {
        flood_brake brake(256 * kib, 1024 * kib);
        auto now = start;
        std::size_t taken = 0;
        while (now < start + 100s) {
            taken += piece;
            now = brake.charge(piece, now);
        }
        const double per_second = static_cast<double>(taken) / 100 / kib;
        BOOST_TEST(per_second > 1000);
        BOOST_TEST(per_second < 1034);
    }
}

BOOST_AUTO_TEST_CASE(two_readers_of_one_brake_share_its_rate) {
    flood_brake brake(256 * kib, 1024 * kib);
    std::array<time_point, 2> due{start, start};
    std::size_t taken = 0;
    while (due[0] < start + 100s || due[1] < start + 100s) {
        auto& next = due[0] <= due[1] ? due[0] : due[1];
        taken += 64 * kib;
        next = brake.charge(64 * kib, next);
    }
    BOOST_TEST(taken / kib / 100 < 1040u);
}

BOOST_AUTO_TEST_CASE(who_takes_little_never_waits) {
    flood_brake brake(256 * kib, 1024 * kib);
    for (auto now = start; now < start + 100s; now += 10ms) {
        BOOST_TEST((brake.charge(10 * kib, now) == now));
    }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
