// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// What healing says and counts where its parts meet. That the parts get on with each other is up to the
// simulation.

#include "support/fake_runtime.hpp"

#include <boost/asio/this_coro.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <csignal>
#include <memory>

namespace skep::test {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(healing)

namespace {

pool_config plain_config(std::size_t workers = 1) {
    auto config = fake_config(workers);
    config.heartbeat.enabled = false;
    config.recycle.jitter = 0;
    return config;
}

class probed_pool : public manual_pool {
public:
    explicit probed_pool(pool_config config) : manual_pool(std::move(config)) {
        runtime().on_start = [](fake_worker& fresh) {
            fresh.has_health_check = true;
            fresh.shake_hands();
        };
        const auto started = start();
        BOOST_REQUIRE(started->value);
    }
};

pool_config elastic_config(std::size_t fewest, std::size_t most) {
    auto config = plain_config();
    config.scaling.min = fewest;
    config.scaling.max = most;
    config.health_check.enabled = false;
    config.queue.timeout = 1h;
    return config;
}

/// A probe that does not care that it is cancelled, and takes `length`.
asio::awaitable<void> stubborn_probe(duration length) {
    co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
    const asio::any_io_executor executor = co_await asio::this_coro::executor;
    latch over(*executor.target<strand>());
    co_await over.wait_until(clock::now() + length);
}

void come_up_never(fake_worker&) {}

} // namespace

BOOST_AUTO_TEST_CASE(a_hung_probe_is_found_although_a_call_was_pipelined_behind_it) {
    auto config = plain_config();
    config.pipeline_depth = 1;
    probed_pool pool(config);
    pool.advance(30s, 1s);
    const auto call = pool.execute(request("work").timeout(1h).idempotent(true));
    pool.advance(1min, 500ms);
    BOOST_TEST(pool.launched() >= 2u);
    BOOST_TEST(pool.serve(1) == "work");
    BOOST_TEST(call->value.has_value());
}

BOOST_AUTO_TEST_CASE(a_probe_that_passes_does_not_wake_a_suspended_worker) {
    probed_pool pool(plain_config());
    pool.advance(30s, 1s);
    pool.worker(0).fail(pool.worker(0).take_call(), "RuntimeError", "");
    pool.run_until_idle();
    pool.advance(5s);
    const auto probe = pool.worker(0).take_call();
    BOOST_TEST(pool.begin(pool.facade().suspend())->value.has_value());
    pool.worker(0).reply(probe);
    pool.run_until_idle();
    BOOST_TEST((pool.worker_status_of(0).state == worker_state::suspended));
    BOOST_TEST(pool.begin(pool.facade().suspend())->value.has_value());
    pool.begin(pool.facade().resume());
    BOOST_TEST((pool.worker_status_of(0).state == worker_state::ready));
    BOOST_TEST((pool.worker_status_of(0).health == worker_health::healthy));
}

BOOST_AUTO_TEST_CASE(a_probe_that_outlives_the_pool_keeps_what_it_refers_to) {
    std::weak_ptr<int> captured;
    bool ended = false;
    auto config = plain_config();
    {
        const auto token = std::make_shared<int>(7);
        captured = token;
        config.health_check.probe = [token, &captured, &ended](worker_id, pid_t) -> asio::awaitable<void> {
            co_await stubborn_probe(100s);
            ended = !captured.expired();
        };
    }
    manual_pool pool(std::move(config));
    pool.start();
    pool.advance(31s, 1s);
    pool.shutdown();
    pool.advance(20s, 1s);
    pool.destroy_pool();
    pool.advance(100s, 1s);
    BOOST_TEST(ended);
    BOOST_TEST(captured.expired());
}

BOOST_AUTO_TEST_CASE(a_probe_that_was_given_up_says_nothing_about_the_next) {
    int probes = 0;
    auto config = plain_config();
    config.health_check.failures = 2;
    config.health_check.probe = [&](worker_id, pid_t) -> asio::awaitable<void> {
        const duration length = ++probes == 1 ? 11s : 3s;
        co_await stubborn_probe(length);
    };
    running_pool pool(config);
    pool.advance(44s, 500ms);
    BOOST_TEST(probes == 2);
    BOOST_TEST(pool.counters().unhealthy_workers_terminated == 0u);
    BOOST_TEST((pool.worker_status_of(0).state == worker_state::ready));
}

BOOST_AUTO_TEST_CASE(one_client_with_bad_input_is_no_reason_to_replace_workers) {
    auto config = plain_config(2);
    config.health_check.enabled = false;
    running_pool pool(config);
    for (int i = 0; i < 1000; ++i) {
        pool.execute(request("work"));
        for (std::size_t w = 0; w < 2; ++w) {
            for (const auto& call : pool.worker(w).take_calls()) {
                i % 11 < 10 ? pool.worker(w).fail(id_of(call), "ValueError", "")
                            : pool.worker(w).reply(id_of(call));
            }
        }
        pool.run_until_idle();
    }
    BOOST_TEST(pool.launched() == 2u);
}

BOOST_AUTO_TEST_CASE(calls_that_wait_behind_a_long_one_do_not_speak_against_their_worker) {
    auto config = plain_config();
    config.health_check.enabled = false;
    config.pipeline_depth = 32;
    running_pool pool(config);
    pool.warm_up();
    const auto long_call = pool.execute(request("long").timeout(1h));
    for (int i = 0; i < 30; ++i) {
        pool.execute(request("short").timeout(5s));
    }
    pool.advance(6s);
    BOOST_TEST(!pool.worker_status_of(0).retiring);
    BOOST_TEST(!long_call->done);
}

BOOST_AUTO_TEST_CASE(a_call_that_timed_out_counts_once) {
    auto config = plain_config();
    config.health_check.error_streak = 4;
    config.cancel_grace = 10s;
    running_pool pool(config);
    pool.warm_up();
    for (int i = 0; i < 3; ++i) {
        const auto call = pool.execute(request("slow").timeout(1s));
        pool.advance(1s);
        BOOST_TEST(call->code() == errc::timeout);
        pool.worker(0).fail(pool.worker(0).take_call(), "skep.DeadlineExceeded", "");
        pool.run_until_idle();
    }
    BOOST_TEST(!pool.worker_status_of(0).retiring);
}

BOOST_AUTO_TEST_CASE(after_a_failed_call_the_probe_comes_at_once) {
    probed_pool pool(plain_config());
    const auto big = pool.execute(request("big"));
    pool.worker(0).fail(pool.worker(0).take_call(), "MemoryError", "");
    pool.run_until_idle();
    const auto next = pool.execute(request("small"));
    pool.worker(0).reply(pool.worker(0).take_call()); // the probe
    pool.run_until_idle();
    BOOST_TEST(pool.serve() == "small");
    BOOST_TEST(next->value.has_value());
}

BOOST_AUTO_TEST_CASE(a_wait_in_vain_names_the_workers_that_take_no_calls) {
    running_pool pool(plain_config());
    pool.begin(pool.facade().suspend(pool.worker_status_of(0).id));
    const auto call = pool.execute(request("work"));
    pool.advance(5s);
    BOOST_TEST(call->code() == errc::queue_timeout);
    check_mentions(call->text(), "1 of 1 workers take no calls: they are degraded, suspended or not up");
    pool.begin(pool.facade().suspend());
    const auto other = pool.execute(request("work"));
    pool.advance(5s);
    check_mentions(other->text(), "the pool is suspended");
}

BOOST_AUTO_TEST_CASE(a_wait_for_the_first_worker_names_no_failure) {
    manual_pool pool(plain_config());
    pool.runtime().on_start = [](fake_worker&) {}; // it takes its time
    const auto started = pool.start();
    const auto call = pool.execute(request("work"));
    pool.advance(5s);
    BOOST_TEST(!started->done);
    BOOST_TEST(call->problem.has_value());
    check_mentions(call->text(), "1 of 1 workers take no calls: they are degraded, suspended or not up");
}

BOOST_AUTO_TEST_CASE(workers_are_not_all_at_their_probes_together) {
    probed_pool pool(plain_config(4));
    std::size_t most = 0;
    std::size_t all = 0;
    for (int i = 0; i < 40; ++i) {
        pool.advance(1s);
        std::size_t at_once = 0;
        for (std::size_t w = 0; w < 4; ++w) {
            for (const auto& probe : pool.worker(w).take_calls()) {
                ++at_once;
                pool.worker(w).reply(id_of(probe));
            }
        }
        pool.run_until_idle();
        most = std::max(most, at_once);
        all += at_once;
    }
    BOOST_TEST(most == 1u);
    BOOST_TEST(all >= 4u);
}

BOOST_AUTO_TEST_CASE(a_used_up_worker_is_not_forgotten_after_a_failed_restart) {
    auto config = plain_config();
    config.recycle.calls = 1;
    running_pool pool(config);
    pool.runtime().on_start = come_up_never;
    const auto restarted = pool.begin(pool.facade().restart(pool.worker_status_of(0).id));
    pool.warm_up();
    pool.worker(1).exit(exit_status::exited(1));
    pool.advance(1s);
    BOOST_TEST(restarted->code() == errc::restart_failed);
    pool.advance(10s, 100ms);
    BOOST_TEST(pool.launched() == 3u);
}

BOOST_AUTO_TEST_CASE(a_slow_start_is_no_quiet_time) {
    auto config = elastic_config(2, 10);
    config.scaling.initial = 10;
    config.start.timeout = 200s;
    manual_pool pool(config);
    pool.runtime().on_start = come_up_never;
    pool.start();
    pool.advance(90s, 1s);
    for (std::size_t i = 0; i < pool.launched(); ++i) {
        pool.worker(i).shake_hands();
    }
    pool.run_until_idle();
    BOOST_TEST(pool.status().desired == 10u);
}

BOOST_AUTO_TEST_CASE(scaling_goes_on_after_a_suspension) {
    auto config = elastic_config(2, 10);
    config.scaling.initial = 10;
    running_pool pool(config);
    pool.begin(pool.facade().suspend());
    pool.advance(61s, 1s);
    BOOST_TEST(pool.status().desired == 10u);
    pool.begin(pool.facade().resume());
    pool.advance(1h, 1s);
    BOOST_TEST(pool.status().desired == 2u);
}

BOOST_AUTO_TEST_CASE(it_grows_for_those_who_wait_though_a_worker_is_suspended) {
    running_pool pool(elastic_config(2, 10));
    pool.begin(pool.facade().suspend(pool.worker_status_of(0).id));
    for (int i = 0; i < 2; ++i) {
        pool.execute(request("work").timeout(1h));
    }
    pool.advance(5s);
    BOOST_TEST(pool.status().queued == 0u);
    BOOST_TEST(pool.status().desired == 3u);
}

BOOST_AUTO_TEST_CASE(it_counts_the_capacity_that_workers_offer) {
    auto config = elastic_config(2, 10);
    config.capacity = 4;
    config.scaling.initial = 2;
    manual_pool pool(config);
    pool.runtime().on_start = [](fake_worker& fresh) { fresh.shake_hands(1); };
    pool.start();
    for (int i = 0; i < 8; ++i) {
        pool.execute(request("work").timeout(1h));
    }
    pool.advance(5s);
    BOOST_TEST(pool.status().desired == 8u);
    BOOST_TEST(pool.status().queued == 0u);
}

BOOST_AUTO_TEST_CASE(an_untainted_slot_is_filled_first) {
    auto config = plain_config(2);
    config.crash_barrier.enabled = true;
    running_pool pool(config);
    const auto a = pool.execute(request("a"));
    const auto b = pool.execute(request("b"));
    pool.serve(0);
    pool.serve(1);
    pool.runtime().on_start = come_up_never;
    pool.worker(0).exit(exit_status::signalled(SIGSEGV));
    pool.advance(1s);
    pool.worker(1).exit(exit_status::signalled(SIGTERM));
    pool.advance(1s);
    BOOST_TEST((pool.worker_status_of(1).state == worker_state::starting));
    BOOST_TEST((pool.worker_status_of(0).state == worker_state::pending));
}

BOOST_AUTO_TEST_CASE(a_crash_while_it_starts_taints_too) {
    auto config = plain_config(2);
    config.crash_barrier.enabled = true;
    running_pool pool(config);
    pool.warm_up();
    pool.runtime().on_start = [](fake_worker& fresh) { fresh.exit(exit_status::signalled(SIGSEGV)); };
    pool.worker(0).exit(exit_status::exited(1));
    pool.advance(30s, 500ms);
    BOOST_TEST(pool.launched() == 3u); // once, and then held back
}

BOOST_AUTO_TEST_CASE(a_pool_of_one_is_not_idled_by_the_barrier) {
    auto config = plain_config();
    config.crash_barrier.enabled = true;
    running_pool pool(config);
    pool.warm_up();
    pool.worker(0).exit(exit_status::signalled(SIGSEGV));
    pool.run_until_idle();
    BOOST_TEST(pool.launched() == 2u);
}

BOOST_AUTO_TEST_CASE(a_worker_that_closes_its_channel_before_it_is_ready_is_tried_again) {
    auto config = plain_config(2);
    config.crash_barrier.enabled = true;
    running_pool pool(config);
    pool.warm_up();
    pool.runtime().on_start = [](fake_worker& fresh) { fresh.close_data(); };
    pool.worker(0).exit(exit_status::exited(1));
    pool.advance(5s);
    BOOST_TEST(pool.launched() > 3u);
    pool.runtime().on_start = [](fake_worker& fresh) { fresh.shake_hands(); };
    pool.advance(30s, 100ms);
    BOOST_TEST(pool.status().live == 2u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
