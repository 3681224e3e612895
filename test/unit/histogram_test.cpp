// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include <skep/histogram.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

using namespace std::chrono_literals;

namespace skep::test {

BOOST_AUTO_TEST_SUITE(histograms)

/// The time that ceil(share * n) of them do not exceed.
duration exact_quantile(std::vector<duration> times, double share) {
    std::sort(times.begin(), times.end());
    const auto rank = std::max(1.0, std::ceil(share * static_cast<double>(times.size())));
    return times[static_cast<std::size_t>(rank) - 1];
}

BOOST_AUTO_TEST_CASE(of_nothing_says_so) {
    const histogram none;
    BOOST_TEST(none.count() == 0u);
    BOOST_TEST((none.sum() == 0s));
    BOOST_TEST((none.quantile(0.99) == 0s));
    BOOST_TEST(none.count_below(1s) == 0u);
}

BOOST_AUTO_TEST_CASE(quantiles_are_right_within_5_percent) {
    std::mt19937 random(1);
    for (const double scale : {1e3, 1e5, 1e7, 1e10}) {
        histogram recorded;
        std::vector<duration> times;
        std::lognormal_distribution<double> spread(std::log(scale), 1.5);
        for (int i = 0; i < 10'000; ++i) {
            times.push_back(std::chrono::nanoseconds(static_cast<std::int64_t>(spread(random))));
            recorded.record(times.back());
        }
        for (const double share : {0.0, 0.01, 0.5, 0.9, 0.99, 0.999, 1.0}) {
            const auto exact = std::chrono::duration<double, std::micro>(exact_quantile(times, share));
            const auto found = std::chrono::duration<double, std::micro>(recorded.quantile(share));
            BOOST_TEST(
                std::abs((found - exact).count()) <= 0.05 * exact.count() + 1, // 1 µs is the resolution
                "scale " << scale << " share " << share << ": " << found.count() << " for " << exact.count());
        }
    }
}

BOOST_AUTO_TEST_CASE(each_time_is_its_own_median_within_5_percent) {
    for (duration time = 20us; time < 18h; time += time / 37) {
        histogram one;
        one.record(time);
        one.record(time * 2);
        const auto off = std::chrono::abs(one.quantile(0.5) - time);
        BOOST_TEST((off <= time / 20), time.count() << " ns is taken for " << one.quantile(0.5).count());
    }
}

BOOST_AUTO_TEST_CASE(counts_below_a_power_of_two_are_exact) {
    histogram recorded;
    std::vector<duration> times;
    std::mt19937 random(2);
    std::uniform_int_distribution<int> digits(0, 30);
    for (int i = 0; i < 2'000; ++i) {
        times.push_back(std::chrono::nanoseconds(random() >> digits(random)) * 1'000 + 999ns);
        recorded.record(times.back());
    }
    for (int power = 0; power < 36; ++power) {
        const auto limit = std::chrono::microseconds(std::int64_t(1) << power);
        const auto below =
            std::count_if(times.begin(), times.end(), [&](duration time) { return time < limit; });
        BOOST_TEST(recorded.count_below(limit) == static_cast<std::uint64_t>(below), "2^" << power << " us");
    }
}

BOOST_AUTO_TEST_CASE(within_a_bucket_counts_are_spread) {
    histogram recorded;
    for (int i = 0; i < 100; ++i) {
        recorded.record(1'024us);
    }
    recorded.record(1s);
    BOOST_TEST(recorded.count_below(1'024us) == 0u);
    BOOST_TEST(recorded.count_below(1'056us) == 50u); // its bucket ends at 1'088 µs
    BOOST_TEST(recorded.count_below(1'088us) == 100u);
}

BOOST_AUTO_TEST_CASE(two_may_be_added) {
    histogram first;
    histogram second;
    histogram both;
    for (int i = 1; i < 500; ++i) {
        const auto time = std::chrono::microseconds(i * i);
        (i % 3 == 0 ? first : second).record(time);
        both.record(time);
    }
    first.add(second);
    BOOST_TEST(first.count() == both.count());
    BOOST_TEST((first.sum() == both.sum()));
    BOOST_TEST((first.largest() == both.largest()));
    for (const double share : {0.1, 0.5, 0.9, 1.0}) {
        BOOST_TEST((first.quantile(share) == both.quantile(share)));
    }
}

BOOST_AUTO_TEST_CASE(what_came_later_is_known) {
    histogram recorded;
    recorded.record(10s);
    const auto earlier = recorded;
    BOOST_TEST(recorded.since(earlier).count() == 0u);
    BOOST_TEST((recorded.since(earlier).largest() == 0s));
    for (int i = 1; i <= 100; ++i) {
        recorded.record(std::chrono::milliseconds(i));
    }
    const auto later = recorded.since(earlier);
    BOOST_TEST(later.count() == 100u);
    BOOST_TEST((later.sum() == 5'050ms));
    BOOST_TEST((std::chrono::abs(later.quantile(0.5) - 50ms) <= 3ms));
    BOOST_TEST((std::chrono::abs(later.largest() - 100ms) <= 5ms));
    BOOST_TEST((recorded.since(histogram()).largest() == 10s));
}

BOOST_AUTO_TEST_CASE(a_sum_does_not_overflow) {
    histogram recorded;
    recorded.record(duration::max() - 1s);
    recorded.record(1h);
    auto twice = recorded;
    twice.add(recorded);
    BOOST_TEST((recorded.sum() == duration::max()));
    BOOST_TEST((twice.sum() == duration::max()));
}

BOOST_AUTO_TEST_CASE(the_absurd_is_counted_too) {
    histogram recorded;
    recorded.record(-5s);
    recorded.record(24h * 365);
    BOOST_TEST(recorded.count() == 2u);
    BOOST_TEST((recorded.quantile(0.5) < 1us));
    BOOST_TEST((recorded.quantile(1) == 24h * 365));
    BOOST_TEST(recorded.count_below(24h) == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
