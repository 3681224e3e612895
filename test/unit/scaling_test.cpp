// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// A pool that grows and shrinks with its load, on virtual time.

#include "support/fake_runtime.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <deque>
#include <iterator>
#include <memory>
#include <set>
#include <utility>
#include <vector>

namespace skep::test {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(scaling)

namespace {

pool_config elastic_config(std::size_t fewest, std::size_t most) {
    auto config = fake_config(fewest);
    config.scaling.min = fewest;
    config.scaling.max = most;
    config.queue.timeout = 1h;
    config.health_check.enabled = false;
    config.heartbeat.enabled = false;
    return config;
}

/// A load on a pool: each call takes `service` of virtual time; workers take `start_up` to come up.
class loaded_pool : public manual_pool {
public:
    loaded_pool(pool_config config, duration service, duration start_up, worker_share share = {})
        : manual_pool(std::move(config), {std::move(share), false}), service_(service) {
        runtime().on_start = [this, start_up](fake_worker& fresh) {
            arrivals_.push_back({clock::now() + (booted_ ? start_up : duration::zero()), &fresh});
        };
        const auto started = start();
        step(duration::zero());
        BOOST_REQUIRE_MESSAGE(started->value, "start: " << started->text());
        booted_ = true;
    }

    void submit() { calls_.push_back(execute(request("work"))); }

    /// Lets time pass, serves what is due, and notes how many workers there are.
    void step(duration span) {
        advance(span, span);
        const auto now = clock::now();
        while (!arrivals_.empty() && arrivals_.front().first <= now) {
            if (!arrivals_.front().second->has_exited()) {
                arrivals_.front().second->shake_hands();
            }
            arrivals_.pop_front();
        }
        run_until_idle();
        for (std::size_t i = 0; i < launched(); ++i) {
            if (!worker(i).has_exited()) {
                serve_worker(i, now);
            }
        }
        run_until_idle();
        const auto seen = status();
        most_seen = std::max(most_seen, seen.desired);
        fewest_seen = std::min(fewest_seen, seen.desired);
        most_processes = std::max(most_processes, seen.live + seen.starting);
    }

    bool all_done() const {
        return std::all_of(calls_.begin(), calls_.end(),
                           [](const auto& each) { return each->value.has_value(); });
    }

    std::size_t most_seen = 0;
    std::size_t fewest_seen = 1000;
    std::size_t most_processes = 0;

private:
    struct job {
        time_point due;
        std::uint64_t id;
    };

    void serve_worker(std::size_t index, time_point now) {
        jobs_.resize(std::max(jobs_.size(), index + 1));
        for (const auto& each : worker(index).take_calls()) {
            jobs_[index].push_back({now + service_, id_of(each)});
        }
        while (!jobs_[index].empty() && jobs_[index].front().due <= now) {
            worker(index).reply(jobs_[index].front().id);
            jobs_[index].pop_front();
        }
        if (!worker(index).take_controls("shutdown").empty()) {
            worker(index).exit(exit_status::exited(0));
        }
    }

    duration service_;
    bool booted_ = false;
    std::deque<std::pair<time_point, fake_worker*>> arrivals_;
    std::vector<std::deque<job>> jobs_;
    std::vector<std::shared_ptr<outcome<reply>>> calls_;
};

} // namespace

BOOST_AUTO_TEST_CASE(a_burst_of_fifty_takes_it_from_2_to_20_and_quiet_back_to_2) {
    auto config = elastic_config(2, 20);
    config.scaling.cool_down = 10s;
    config.scaling.interval = 5s;
    loaded_pool pool(config, 1s, 500ms);
    BOOST_TEST(pool.status().live == 2u);
    for (int i = 0; i < 50; ++i) {
        pool.submit();
    }
    for (int i = 0; i < 20; ++i) { // two batches of starts
        pool.step(100ms);
    }
    BOOST_TEST(pool.status().live == 20u);
    BOOST_TEST(pool.counters().scale_ups == 1u); // one burst, one decision
    for (int i = 0; i < 40; ++i) {
        pool.step(100ms);
    }
    BOOST_TEST(pool.all_done());
    for (int i = 0; i < 240; ++i) {
        pool.step(500ms);
    }
    BOOST_TEST(pool.status().live == 2u);
    BOOST_TEST(pool.status().workers.size() == 2u);
    BOOST_TEST(pool.most_seen == 20u);
    BOOST_TEST(pool.fewest_seen == 2u);
    BOOST_TEST(pool.most_processes == 20u);
    const auto c = pool.counters();
    BOOST_TEST(c.workers_started == 20u);
    BOOST_TEST(c.workers_removed == 18u);
    BOOST_TEST(c.workers_lost == 0u);
}

BOOST_AUTO_TEST_CASE(five_minutes_at_half_load_change_nothing) {
    auto config = elastic_config(2, 20);
    config.scaling.initial = 8;
    loaded_pool pool(config, 400ms, 500ms);
    for (int i = 0; i < 3000; ++i) { // 10 calls a second of 0.4 s each: 4 of 8 workers are busy
        pool.submit();
        pool.step(100ms);
    }
    BOOST_TEST(pool.counters().scale_ups == 0u);
    BOOST_TEST(pool.counters().scale_downs == 0u);
    BOOST_TEST(pool.most_seen == 8u);
    BOOST_TEST(pool.fewest_seen == 8u);
}

BOOST_AUTO_TEST_CASE(it_grows_by_utilisation_even_if_nobody_waits) {
    auto config = elastic_config(2, 20);
    config.scaling.initial = 4;
    config.scaling.up = 0.7;
    loaded_pool pool(config, 300ms, 100ms); // three of four are busy
    for (int i = 0; i < 650; ++i) {
        pool.submit();
        pool.step(100ms);
    }
    BOOST_TEST(pool.status().live > 4u);
    BOOST_TEST(pool.status().live < 10u);
}

BOOST_AUTO_TEST_CASE(without_a_cool_down_it_sleeps_until_the_interval_is_over) {
    const auto handlers_in_9_s = [](std::size_t most) {
        auto config = elastic_config(1, most);
        config.scaling.cool_down = 0s;
        config.scaling.interval = 10s;
        running_pool pool(config);
        std::size_t handlers = 0;
        for (int second = 0; second < 9; ++second) {
            pool.time.advance(1s);
            asio::basic_waitable_timer<clock> kick(pool.context,
                                                   time_point::min()); // the reactor looks at the clock
            kick.async_wait([](const boost::system::error_code&) {});
            pool.context.restart();
            handlers += pool.context.poll();
        }
        return handlers;
    };
    BOOST_TEST(handlers_in_9_s(2) == handlers_in_9_s(1)); // as a pool that does not scale
}

BOOST_AUTO_TEST_CASE(a_short_wait_is_no_reason) {
    auto config = elastic_config(2, 20);
    loaded_pool pool(config, 20ms, 100ms);
    for (int i = 0; i < 100; ++i) {
        for (int k = 0; k < 4; ++k) {
            pool.submit();
        }
        for (int k = 0; k < 10; ++k) {
            pool.step(10ms);
        }
    }
    BOOST_TEST(pool.counters().scale_ups == 0u);
}

BOOST_AUTO_TEST_CASE(pools_that_share_a_number_of_workers_grow_as_far_as_it_goes) {
    const auto budget = std::make_shared<worker_budget>(8);
    worker_share other(budget);
    worker_share own(budget);
    BOOST_TEST(other.reserve(1));
    BOOST_TEST(own.reserve(2));
    BOOST_TEST(other.grow_to(4) == 4u);
    loaded_pool pool(elastic_config(2, 20), 1s, 100ms, std::move(own));
    for (int i = 0; i < 50; ++i) {
        pool.submit();
    }
    for (int i = 0; i < 10; ++i) {
        pool.step(100ms);
    }
    BOOST_TEST(pool.status().live == 4u);
    BOOST_TEST(pool.counters().scale_ups == 1u);
    BOOST_TEST(other.grow_to(5) == 4u);
    other.shrink_to(0);           // but its least number
    for (int i = 0; i < 6; ++i) { // it looks again while callers wait
        pool.step(100ms);
    }
    BOOST_TEST(pool.status().live == 7u);
    BOOST_TEST(pool.counters().scale_ups == 2u);
    BOOST_TEST(other.grow_to(2) == 1u);
    for (int i = 0; i < 400 && pool.status().desired > 2; ++i) {
        pool.step(1s);
    }
    BOOST_TEST(pool.all_done());
    BOOST_TEST(budget->left() == 5u); // given back when it had shrunk
    BOOST_TEST(other.grow_to(6) == 6u);
}

BOOST_AUTO_TEST_CASE(a_pool_starts_with_fewer_workers_where_others_have_them) {
    const auto budget = std::make_shared<worker_budget>(5);
    worker_share other(budget);
    worker_share own(budget);
    BOOST_TEST(own.reserve(1));
    BOOST_TEST(other.grow_to(3) == 3u);
    auto config = elastic_config(1, 4);
    config.scaling.initial = 4;
    manual_pool pool(config, {std::move(own), false});
    BOOST_TEST(pool.start()->value.has_value());
    BOOST_TEST(pool.status().desired == 2u);
    const auto refused = pool.begin(pool.facade().resize({3, 4}));
    BOOST_TEST(refused->code() == errc::invalid_config);
    check_mentions(refused->text(), "limits.min = 3: must not exceed 2");
    BOOST_TEST(pool.status().desired == 2u);
    BOOST_TEST(pool.begin(pool.facade().resize({2, 4}))->value.has_value());
    BOOST_TEST(pool.begin(pool.facade().resize({1, 1}))->value.has_value());
    BOOST_TEST(budget->left() == 0u); // as long as the other one is on its way out
    pool.advance(10s, 100ms);
    BOOST_TEST(pool.status().retiring == 0u);
    BOOST_TEST(budget->left() == 1u);
    pool.shutdown();
    pool.advance(10s, 100ms);
    BOOST_TEST(budget->left() == 2u); // its last one too
}

BOOST_AUTO_TEST_CASE(a_pool_that_grows_again_counts_the_workers_that_are_still_on_their_way_out) {
    const auto budget = std::make_shared<worker_budget>(4);
    worker_share other(budget);
    worker_share own(budget);
    BOOST_TEST(own.reserve(1));
    BOOST_TEST(other.reserve(1));
    auto config = elastic_config(1, 3);
    config.scaling.initial = 3;
    manual_pool pool(config, {std::move(own), false});
    BOOST_TEST(pool.start()->value.has_value());
    BOOST_TEST(pool.begin(pool.facade().resize({1, 3}))->value.has_value());
    for (std::size_t index = 0; index < 3; ++index) { // so that none is idle
        pool.execute(request("x"));
    }
    BOOST_TEST(pool.begin(pool.facade().resize({1, 1}))->value.has_value());
    BOOST_TEST(pool.status().desired == 1u);
    BOOST_TEST(other.grow_to(4) == 1u);
    BOOST_TEST(pool.begin(pool.facade().resize({3, 3}))->value.has_value()); // its own places
    BOOST_TEST(pool.status().desired == 3u);
    BOOST_TEST(other.grow_to(4) == 1u);
    for (std::size_t index = 0; index < 3; ++index) {
        if (!pool.worker(index).has_exited() && !pool.worker(index).take_calls().empty()) {
            pool.worker(index).exit(exit_status::exited(0));
        }
    }
    pool.advance(30s, 100ms);
    BOOST_TEST(pool.status().live == 3u);
    BOOST_TEST(budget->left() == 0u);
    BOOST_TEST(pool.begin(pool.facade().resize({1, 1}))->value.has_value());
    pool.advance(30s, 100ms);
    BOOST_TEST(other.grow_to(4) == 3u);
}

BOOST_AUTO_TEST_CASE(the_worker_that_worked_last_stays) {
    auto config = elastic_config(1, 3);
    config.scaling.initial = 3;
    config.scaling.cool_down = 10s;
    config.scaling.interval = 10s;
    config.schedule = scheduling::round_robin;
    running_pool pool(config);
    for (const std::size_t index : {0, 1, 2, 0, 1}) { // then 2 has been idle longest
        pool.warm_up(index);
        pool.advance(1s, 100ms);
    }
    std::vector<std::uint32_t> order;
    std::set<std::uint32_t> left{0, 1, 2};
    for (int i = 0; i < 1200 && left.size() > 1; ++i) {
        pool.advance(100ms, 100ms);
        std::set<std::uint32_t> now;
        for (const auto& each : pool.status().workers) {
            if (!each.retiring) {
                now.insert(each.id.slot);
            }
        }
        std::set_difference(left.begin(), left.end(), now.begin(), now.end(), std::back_inserter(order));
        left = now;
    }
    BOOST_TEST(order == (std::vector<std::uint32_t>{2, 0}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(only_idle_workers_go) {
    auto config = elastic_config(1, 4);
    config.scaling.initial = 4;
    config.scaling.cool_down = 1s;
    config.scaling.interval = 1s;
    running_pool pool(config);
    const auto long_call = pool.execute(request("long").timeout(1h));
    pool.advance(1min, 100ms);
    BOOST_TEST(!long_call->done);
    std::size_t busy = 0;
    for (const auto& each : pool.status().workers) {
        busy += each.state == worker_state::busy ? 1 : 0;
    }
    BOOST_TEST(busy == 1u);
    BOOST_TEST(pool.status().live < 4u);
}

BOOST_AUTO_TEST_CASE(resize_while_it_scales_keeps_the_limits) {
    auto config = elastic_config(1, 8);
    loaded_pool pool(config, 200ms, 100ms);
    for (int i = 0; i < 40; ++i) {
        pool.submit();
    }
    pool.step(200ms);
    pool.step(200ms);
    BOOST_TEST(pool.status().desired == 8u);
    pool.begin(pool.facade().resize(size_limits(2, 3)));
    pool.step(200ms);
    BOOST_TEST(pool.status().desired == 3u);
    for (int i = 0; i < 100; ++i) {
        pool.step(100ms);
    }
    BOOST_TEST(pool.all_done());
    BOOST_TEST(pool.status().workers.size() <= 3u);
}

BOOST_AUTO_TEST_CASE(start_concurrency_is_capped) {
    auto config = elastic_config(1, 20);
    config.start.batch_size = 3;
    running_pool pool(config);
    pool.runtime().on_start = [](fake_worker&) {};
    std::vector<std::shared_ptr<manual_pool::outcome<reply>>> calls;
    for (int i = 0; i < 30; ++i) {
        calls.push_back(pool.execute(request("work")));
    }
    pool.advance(500ms);
    BOOST_TEST(pool.status().desired == 20u);
    BOOST_TEST(pool.status().starting == 3u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
