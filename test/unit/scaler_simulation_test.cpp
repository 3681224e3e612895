// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/scaler.hpp"
#include "support/start_time.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <deque>
#include <functional>
#include <random>

using namespace skep;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(scaler_simulation_test)

namespace {

using test::start;

/// A pool in virtual time: calls of one length arrive as told, and the scaler is asked once per interval and
/// whenever a call waits.
class simulation {
public:
    using arrivals = std::function<int(duration since_start)>;

    simulation(const scaling_options& options, size_limits limits, std::size_t size, duration call_length,
               duration start_time, duration phase)
        : tick_(call_length < 1s ? 1ms : 10ms),
          limits_(limits),
          it_(options, limits, start),
          interval_(options.interval),
          call_length_(call_length),
          start_time_(start_time),
          next_look_(start + phase),
          in_service_(size),
          desired_(size) {}

    void run(duration span, const arrivals& arriving) {
        for (const auto end = now_ + span; now_ < end;) {
            step(arriving(now_ - start));
        }
    }

    std::size_t desired() const { return desired_; }
    std::size_t most_desired() const { return most_; }
    int changes() const { return changes_; }

private:
    void step(int arriving) {
        busy_ +=
            static_cast<double>(running_.size()) / static_cast<double>(std::max<std::size_t>(1, in_service_));
        ++steps_;
        now_ += tick_;
        while (!running_.empty() && running_.front() <= now_) {
            running_.pop_front();
        }
        while (!starting_.empty() && starting_.front() <= now_) {
            starting_.pop_front();
            ++in_service_;
        }
        queue_.insert(queue_.end(), static_cast<std::size_t>(arriving), now_);
        dispatch();
        if (!queue_.empty() || now_ >= next_look_) {
            evaluate();
        }
        retire();
    }
    void dispatch() {
        while (!queue_.empty() && running_.size() < in_service_) {
            queue_.pop_front();
            running_.push_back(now_ + call_length_);
        }
    }
    void evaluate() {
        load_picture load;
        load.desired = desired_;
        load.in_service = in_service_;
        load.running = running_.size();
        load.queued = queue_.size();
        load.oldest_wait = queue_.empty() ? duration::zero() : now_ - queue_.front();
        load.utilisation = steps_ == 0 ? 0 : busy_ / steps_;
        busy_ = steps_ = 0;
        const auto decision = it_.decide(load, now_);
        BOOST_REQUIRE((decision.desired >= limits_.min && decision.desired <= limits_.max));
        for (auto i = desired_; i < decision.desired; ++i) {
            starting_.push_back(now_ + start_time_);
        }
        if (decision.desired != desired_) {
            ++changes_;
        }
        desired_ = decision.desired;
        most_ = std::max(most_, desired_);
        next_look_ = now_ >= next_look_ ? now_ + interval_ : next_look_;
    }
    void retire() { // only those that are idle
        if (in_service_ + starting_.size() > desired_) {
            in_service_ = std::max(desired_ - std::min(desired_, starting_.size()), running_.size());
        }
    }

    duration tick_; ///< short beside the calls
    size_limits limits_;
    scaler it_;
    duration interval_;
    duration call_length_;
    duration start_time_;
    time_point next_look_;
    time_point now_ = start;
    std::size_t in_service_;
    std::size_t desired_;
    std::size_t most_ = 0;
    std::deque<time_point> queue_;
    std::deque<time_point> running_;
    std::deque<time_point> starting_;
    double busy_ = 0;
    double steps_ = 0;
    int changes_ = 0;
};

/// So many calls per tick on average, at random.
simulation::arrivals at_random(double per_tick, unsigned seed) {
    return [random = std::minstd_rand(seed), distribution = std::poisson_distribution<int>(per_tick)](
               duration) mutable { return distribution(random); };
}

/// One call every `period`, from `first` on.
simulation::arrivals every(duration period, duration first) {
    return [=](duration since_start) { return (since_start - first) % period == 0s ? 1 : 0; };
}

} // namespace

BOOST_AUTO_TEST_CASE(a_steady_load_never_changes_anything) {
    for (const std::size_t size : {1, 2, 3, 10, 40}) {
        for (const unsigned seed : {1, 2, 3}) {
            simulation pool(scaling_options{}, {1, 100}, size, 5ms, 1s, seed * 19s - 13s);
            pool.run(5min, at_random(0.5 * static_cast<double>(size) / 5, seed));
            BOOST_TEST(pool.changes() == 0, size << " workers, seed " << seed);
        }
    }
}

BOOST_AUTO_TEST_CASE(nor_does_one_of_long_calls) {
    for (const std::size_t size : {1, 2, 5, 20}) {
        for (const auto phase : {0s, 1s, 7s, 31s, 59s}) {
            simulation pool(scaling_options{}, {1, 100}, size, 10s, 1s, phase);
            pool.run(60s, every(20'000ms / static_cast<int>(size), 0s)); // it begins empty
            const int before = pool.changes();
            pool.run(5min, every(20'000ms / static_cast<int>(size), 0s));
            BOOST_TEST(before == 0, size << " workers, first look after " << phase / 1s << " s");
            BOOST_TEST(pool.changes() == 0, size << " workers, first look after " << phase / 1s << " s");
        }
    }
}

BOOST_AUTO_TEST_CASE(a_burst_while_workers_start_slowly_does_not_overshoot) {
    for (const duration start_time : {duration(0s), duration(1s), duration(2min)}) {
        simulation pool(scaling_options{}, {2, 100}, 2, 40s, start_time, 0s);
        pool.run(5min, [](duration since_start) { return since_start == 5s ? 50 : 0; });
        BOOST_TEST(pool.most_desired() == 50u, "start takes " << start_time / 1s << " s");
    }
}

// 2 workers usually, 50 evaluations at a time for half an hour, then 2 again.
BOOST_AUTO_TEST_CASE(a_busy_half_hour_and_back) {
    scaling_options options;
    options.interval = 10s;
    simulation pool(options, {2, 50}, 2, 10s, 1s, 3s);
    pool.run(1min, every(20s, 0s));
    BOOST_TEST(pool.desired() == 2u);
    pool.run(30min, [](duration since_start) { return since_start % 10s == 0s ? 50 : 0; });
    BOOST_TEST(pool.desired() == 50u);
    BOOST_TEST(pool.changes() == 1);
    pool.run(20min, every(20s, 0s));
    BOOST_TEST(pool.desired() == 2u);
    BOOST_TEST(pool.changes() <= 10);
}

// A burst of the same size every 3 minutes: the pool learns to keep what it needs.
BOOST_AUTO_TEST_CASE(regular_bursts_make_it_flap_less_and_less) {
    scaling_options options;
    options.interval = 5s;
    options.cool_down = 20s;
    simulation pool(options, {2, 20}, 2, 2s, 500ms, 1s);
    const auto bursts = [](duration since_start) { return since_start % 1min == 1s ? 20 : 0; };
    pool.run(10min, bursts);
    const int at_first = pool.changes();
    pool.run(10min, bursts);
    const int later = pool.changes() - at_first;
    BOOST_TEST(later < at_first / 2, later << " changes after " << at_first);
}

BOOST_AUTO_TEST_SUITE_END()
