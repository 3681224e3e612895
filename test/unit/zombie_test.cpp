// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Workers that answer pings and fail their calls, or make no progress, on virtual time.

#include "support/probed_pool.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/test/unit_test.hpp>

#include <csignal>
#include <string>
#include <vector>

namespace skep::test {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(zombies)

/// Has worker `index` answer the next call, which must come to it, with an exception.
void fail_call(manual_pool& pool, std::size_t index, const std::string& type = "ValueError") {
    const auto call = pool.execute(request("work"));
    pool.worker(index).fail(pool.worker(index).take_call(), type, "");
    pool.run_until_idle();
    BOOST_TEST(call->code() == errc::remote_error);
}

pool_config streak_config(std::size_t workers, std::size_t streak = 5) {
    auto config = quiet_config(workers);
    config.health_check.error_streak = streak;
    return config;
}

/// One of whose two workers fails every call, and the other answers it.
class half_sick_pool : public manual_pool {
public:
    explicit half_sick_pool(const pool_config& config, bool only_answer = false) : manual_pool(config) {
        runtime().on_start = [only_answer](fake_worker& fresh) {
            fresh.has_health_check = fresh.only_answers = only_answer;
            fresh.shake_hands();
        };
        BOOST_REQUIRE(start()->value);
    }

    /// Two calls at a time, so that each worker gets one.
    void call_both(fake_worker& sick, fake_worker& well, const std::string& type = "ValueError") {
        const auto one = execute(request("work"));
        const auto two = execute(request("work"));
        sick.fail(sick.take_call(), type, "");
        run_until_idle(); // the sick one is picked first for the next, being the one used last
        well.reply(well.take_call());
        run_until_idle();
        for (const auto& probe : sick.take_calls()) {
            sick.reply(id_of(probe));
            run_until_idle();
        }
        BOOST_TEST((one->code() == errc::remote_error) != (two->code() == errc::remote_error));
    }
};

BOOST_AUTO_TEST_CASE(a_streak_has_the_worker_probed_before_its_next_call) {
    probed_pool pool(streak_config(1));
    for (int i = 0; i < 4; ++i) {
        fail_call(pool, 0);
    }
    const auto last = pool.execute(request("work"));
    const auto next = pool.execute(request("next")); // waits already
    pool.worker(0).fail(pool.worker(0).take_call(), "ValueError", "");
    pool.run_until_idle();
    BOOST_TEST(last->code() == errc::remote_error);
    pool.pass(pool.take_probe());
    BOOST_TEST(pool.serve() == "next");
    BOOST_TEST(next->value.has_value());
    BOOST_TEST(pool.launched() == 1u);
    BOOST_TEST(pool.counters().workers_replaced == 0u);
}

BOOST_AUTO_TEST_CASE(and_what_the_probe_finds_has_consequences) {
    probed_pool pool(streak_config(1));
    for (int i = 0; i < 5; ++i) {
        fail_call(pool, 0);
    }
    pool.fail(pool.take_probe());
    BOOST_TEST((pool.worker_status_of(0).state == worker_state::degraded));
    for (int i = 0; i < 2; ++i) {
        pool.advance(5s);
        pool.fail(pool.take_probe());
    }
    pool.advance(1s);
    BOOST_TEST(pool.launched() == 2u);
    BOOST_TEST(pool.counters().unhealthy_workers_terminated == 1u);
}

BOOST_AUTO_TEST_CASE(bad_input_alone_costs_no_worker_that_passes_its_probe) {
    probed_pool pool(streak_config(1));
    for (int i = 0; i < 500; ++i) {
        fail_call(pool, 0);
        if (i % 5 == 4) {
            pool.pass(pool.take_probe());
        }
    }
    pool.advance(29s, 1s);
    BOOST_TEST(pool.launched() == 1u);
}

BOOST_AUTO_TEST_CASE(a_probe_by_function_takes_no_place_and_comes_at_once_too) {
    auto config = streak_config(1);
    int probes = 0;
    config.health_check.probe = [&probes](worker_id, pid_t) -> asio::awaitable<void> {
        ++probes;
        co_return;
    };
    running_pool pool(config);
    for (int i = 0; i < 5; ++i) {
        fail_call(pool, 0);
    }
    BOOST_TEST(probes == 1);
    pool.warm_up();
    BOOST_TEST(pool.launched() == 1u);
}

BOOST_AUTO_TEST_CASE(one_with_several_calls_is_probed_beside_them) {
    auto config = streak_config(1, 3);
    config.capacity = 2;
    probed_pool pool(config);
    const auto slow = pool.execute(request("slow"));
    const auto id = pool.worker(0).take_call();
    for (int i = 0; i < 3; ++i) {
        fail_call(pool, 0);
    }
    pool.pass(pool.take_probe());
    pool.worker(0).reply(id);
    pool.run_until_idle();
    BOOST_TEST(slow->value.has_value());
    pool.warm_up();
}

BOOST_AUTO_TEST_CASE(pipelined_calls_do_not_put_the_probe_off) {
    auto config = streak_config(1, 3);
    config.pipeline_depth = 2;
    probed_pool pool(config);
    std::vector<std::shared_ptr<manual_pool::outcome<reply>>> calls;
    for (int i = 0; i < 6; ++i) {
        calls.push_back(pool.execute(request("work")));
    }
    std::vector<std::uint64_t> ids;
    for (int i = 0; i < 5; ++i) { // two more than the streak: they had been pipelined
        for (const auto& each : pool.worker(0).take_calls()) {
            ids.push_back(id_of(each));
        }
        pool.worker(0).fail(ids.front(), "ValueError", "");
        ids.erase(ids.begin());
        pool.run_until_idle();
    }
    pool.pass(pool.take_probe());
    BOOST_TEST(pool.serve() == "work");
    BOOST_TEST(calls.back()->value.has_value());
}

BOOST_AUTO_TEST_CASE(a_suspension_in_between_does_not_lose_the_probe) {
    auto config = streak_config(1, 3);
    config.pipeline_depth = 1;
    probed_pool pool(config);
    for (int i = 0; i < 2; ++i) {
        fail_call(pool, 0);
    }
    pool.execute(request("work"));
    const auto last = pool.worker(0).take_call();
    const auto good = pool.execute(request("work"));
    const auto pipelined = pool.worker(0).take_call();
    pool.begin(pool.facade().suspend());
    pool.worker(0).fail(last, "ValueError", "");
    pool.worker(0).reply(pipelined);
    pool.run_until_idle();
    BOOST_TEST(good->value.has_value());
    pool.begin(pool.facade().resume());
    pool.pass(pool.take_probe());
    const auto next = pool.execute(request("next"));
    BOOST_TEST(pool.serve() == "next");
}

BOOST_AUTO_TEST_CASE(a_probe_by_function_keeps_calls_waiting_too) {
    auto config = streak_config(1, 3);
    config.health_check.probe = [](worker_id, pid_t) -> asio::awaitable<void> {
        asio::steady_timer never(co_await asio::this_coro::executor, std::chrono::hours(1));
        co_await never.async_wait(asio::use_awaitable);
    };
    running_pool pool(config);
    for (int i = 0; i < 3; ++i) {
        fail_call(pool, 0);
    }
    const auto waiting = pool.execute(request("work").queue_timeout(1s));
    BOOST_TEST(pool.worker(0).take_calls().empty());
    pool.advance(1s);
    BOOST_TEST(waiting->code() == errc::queue_timeout);
    check_mentions(waiting->text(), "1 of 1 workers take no calls");
    pool.advance(10s);
}

BOOST_AUTO_TEST_CASE(without_a_health_check_a_lone_worker_is_never_blamed) {
    running_pool pool(streak_config(1));
    pool.warm_up();
    for (int i = 0; i < 100; ++i) {
        fail_call(pool, 0);
    }
    pool.advance(1min, 1s);
    BOOST_TEST(pool.launched() == 1u);
}

BOOST_AUTO_TEST_CASE(one_that_fails_what_its_sibling_answers_is_recycled_the_new_one_first) {
    half_sick_pool pool(streak_config(2));
    pool.runtime().on_start = [](fake_worker&) {}; // the new one takes its time
    for (int i = 0; i < 20; ++i) {
        pool.call_both(pool.worker(0), pool.worker(1));
    }
    BOOST_TEST(pool.launched() == 3u);
    BOOST_TEST(pool.status().live == 2u); // it serves until then
    pool.worker(2).shake_hands();
    pool.advance(1s);
    BOOST_TEST(pool.counters().workers_recycled == 1u);
    BOOST_TEST(pool.status().live == 2u);
    for (int i = 0; i < 60; ++i) { // the new one does no better: it is the callers
        pool.call_both(pool.worker(2), pool.worker(1));
    }
    pool.advance(1min, 1s);
    BOOST_TEST(pool.launched() == 3u);
}

BOOST_AUTO_TEST_CASE(a_check_that_only_answers_is_none) {
    half_sick_pool pool(streak_config(2), true);
    for (int i = 0; i < 20; ++i) {
        pool.call_both(pool.worker(0), pool.worker(1));
    }
    pool.advance(1s);
    BOOST_TEST(pool.counters().workers_recycled == 1u);
}

/// Four workers, of which that of slot 1 is a zombie, serve calls on virtual time.
class haunted_pool : public manual_pool {
public:
    explicit haunted_pool(pool_config config, bool has_own_check) : manual_pool(std::move(config)) {
        runtime().on_start = [has_own_check](fake_worker& fresh) {
            fresh.has_health_check = true;
            fresh.only_answers = !has_own_check;
            fresh.shake_hands();
        };
        BOOST_REQUIRE(start()->value);
    }

    /// It fails one of so many calls, with another exception each time. 0 = none, but its check fails all the
    /// same.
    std::size_t zombie_fails_one_in = 1;
    std::size_t callers_fail_one_in = 0; ///< wherever
    int failed = 0;

    /// Four calls every `period`, for so long.
    void serve_for(duration time, duration period) {
        for (auto passed = duration::zero(); passed < time; passed += period) {
            advance(period, 10ms);
            answer();
            for (int i = 0; i < 4; ++i) {
                execute(request("work"));
            }
            answer();
        }
    }

    /// Replaced is the zombie, and nobody else.
    void check_cleaned() {
        BOOST_TEST(launched() == 5u);
        for (std::uint32_t slot = 0; slot < 4; ++slot) {
            BOOST_TEST(worker_status_of(slot).id.generation == (slot == 1 ? 2u : 1u), "slot " << slot);
        }
    }

private:
    void answer() {
        for (bool more = true; more;) {
            more = false;
            for (std::size_t index = 0; index < launched(); ++index) {
                for (const auto& each : worker(index).take_calls()) {
                    answer(index, each);
                    more = true;
                }
            }
            run_until_idle();
        }
    }

    void answer(std::size_t index, const boost::json::object& what) {
        const bool is_zombie = index == 1;
        const bool is_probe = what.at("command").as_string() == "skep.health_check";
        const bool fails_probe = is_zombie && !worker(index).only_answers;
        calls_ += is_probe ? 0 : 1;
        zombies_calls_ += is_probe || !is_zombie ? 0 : 1;
        const bool is_bad_input =
            callers_fail_one_in != 0 && calls_ * 2654435761u / 65536u % callers_fail_one_in == 0;
        const bool is_bad =
            is_zombie && zombie_fails_one_in != 0 && zombies_calls_ % zombie_fails_one_in == 0;
        if (is_probe ? fails_probe : is_bad || is_bad_input) {
            failed += is_probe ? 0 : 1;
            worker(index).fail(id_of(what), "Error" + std::to_string(calls_ % 7), "");
        } else {
            worker(index).reply(id_of(what));
        }
    }

    std::uint32_t calls_ = 0;
    std::size_t zombies_calls_ = 0;
};

pool_config haunted_config() {
    auto config = quiet_config(4);
    config.health_check.interval = 2s;
    config.health_check.retry_interval = 200ms;
    return config;
}

BOOST_AUTO_TEST_CASE(one_whose_check_fails_and_whose_errors_change_is_replaced_within_two_intervals) {
    haunted_pool pool(haunted_config(), true);
    pool.serve_for(4s, 40ms);
    pool.check_cleaned();
    BOOST_TEST(pool.counters().unhealthy_workers_terminated == 1u);
}

BOOST_AUTO_TEST_CASE(so_is_one_that_is_idle_most_of_the_time) {
    haunted_pool pool(haunted_config(), true);
    pool.serve_for(4s, 400ms);
    pool.check_cleaned();
}

BOOST_AUTO_TEST_CASE(so_is_one_that_fails_every_other_call_with_a_check_of_its_own_and_without) {
    for (const bool has_own_check : {true, false}) {
        haunted_pool pool(haunted_config(), has_own_check);
        pool.zombie_fails_one_in = 2;
        pool.serve_for(4s, 40ms);
        pool.check_cleaned();
    }
}

BOOST_AUTO_TEST_CASE(so_is_one_without_a_check_of_its_own_that_fails_what_its_siblings_answer) {
    haunted_pool pool(haunted_config(), false);
    pool.serve_for(4s, 40ms);
    pool.check_cleaned();
    BOOST_TEST(pool.counters().workers_recycled == 1u);
}

BOOST_AUTO_TEST_CASE(one_that_answers_well_is_replaced_as_well_if_its_check_fails) {
    haunted_pool pool(haunted_config(), true);
    pool.zombie_fails_one_in = 0;
    pool.serve_for(4s, 40ms);
    pool.check_cleaned();
    BOOST_TEST(pool.failed == 0);
}

BOOST_AUTO_TEST_CASE(bad_input_that_is_half_of_the_load_costs_no_worker) {
    haunted_pool pool(haunted_config(), false);
    pool.zombie_fails_one_in = 0;
    pool.callers_fail_one_in = 2;
    pool.serve_for(100s, 40ms);
    BOOST_TEST(pool.failed > 4000);
    BOOST_TEST(pool.failed < 6000);
    BOOST_TEST(pool.launched() == 4u);
}

BOOST_AUTO_TEST_CASE(callers_mistakes_do_not_count) {
    half_sick_pool pool(streak_config(2, 3));
    for (const auto* const type : {"skep.InvalidArguments", "skep.ResultTooLarge"}) {
        for (int i = 0; i < 10; ++i) {
            const auto one = pool.execute(request("work"));
            const auto two = pool.execute(request("work"));
            pool.worker(0).fail(pool.worker(0).take_call(), type, "");
            pool.worker(1).reply(pool.worker(1).take_call());
            pool.run_until_idle();
        }
    }
    for (int i = 0; i < 10; ++i) {
        const auto one = pool.execute(request("work"));
        const auto two = pool.execute(request("work"));
        pool.worker(0).refuse(pool.worker(0).take_call(), "bad_image");
        pool.worker(1).reply(pool.worker(1).take_call());
        pool.run_until_idle();
        const auto& refused = one->problem ? *one : *two;
        BOOST_TEST(refused.code() == errc::remote_error);
        BOOST_TEST(refused.info().remote_code == "bad_image");
        BOOST_TEST(refused.info().remote_data == boost::json::value({{"size", 3}}));
    }
    pool.advance(1s);
    BOOST_TEST(pool.launched() == 2u);
}

BOOST_AUTO_TEST_CASE(timeouts_in_a_row_are_a_streak_as_well) {
    auto config = streak_config(1, 3);
    config.cancel_grace = 1min;
    probed_pool pool(config);
    for (int i = 0; i < 3; ++i) {
        const auto call = pool.execute(request("work").timeout(1s));
        const auto id = pool.worker(0).take_call();
        pool.advance(1s);
        BOOST_TEST(call->code() == errc::timeout);
        pool.worker(0).fail(id, "skep.Cancelled", "");
        pool.run_until_idle();
    }
    pool.pass(pool.take_probe());
}

BOOST_AUTO_TEST_CASE(one_that_makes_no_progress_past_the_deadline_is_replaced_with_its_stacks_kept) {
    auto config = quiet_config();
    config.cancel_grace = 1s;
    probed_pool pool(config);
    pool.worker(0).last_words = "working...\n";
    const auto call = pool.execute(request("work").timeout(2s));
    pool.worker(0).take_call();
    pool.advance(2s);
    BOOST_TEST(call->code() == errc::timeout);
    BOOST_TEST(pool.worker(0).signals.empty());
    pool.advance(1s);
    BOOST_TEST(pool.worker(0).signals == std::vector<int>{SIGUSR2}, boost::test_tools::per_element());
    BOOST_TEST(pool.worker(0).terminations == 0); // it is given the time to write
    pool.worker(0).last_words += "Thread 0x1 (most recent call first):\n  File \"model.py\", line 7 in spin";
    pool.advance(300ms);
    BOOST_TEST(pool.worker(0).terminations == 1);
    pool.advance(1s);
    const auto status = pool.status();
    BOOST_TEST(pool.launched() == 2u);
    BOOST_REQUIRE(status.last_failure);
    check_mentions(status.last_failure->stacks, "line 7 in spin");
    BOOST_TEST(status.last_failure->stacks.find("working") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(calls_that_die_with_a_frozen_worker_carry_its_stacks) {
    auto config = fake_config();
    config.heartbeat.interval = config.heartbeat.timeout = 1s;
    config.heartbeat.misses = 1;
    probed_pool pool(config);
    pool.worker(0).answers_pings = false;
    pool.worker(0).last_words =
        "Current thread 0x2 (most recent call first):\n  File \"m.py\", line 9 in wait";
    const auto call = pool.execute(request("work"));
    pool.worker(0).take_call();
    pool.advance(5s);
    BOOST_TEST(call->code() == errc::worker_lost);
    check_mentions(call->text(), "line 9 in wait");
}

BOOST_AUTO_TEST_CASE(one_that_cannot_print_its_stacks_is_not_waited_for) {
    auto config = quiet_config();
    config.cancel_grace = 1s;
    running_pool pool(config);
    const auto call = pool.execute(request("work").timeout(2s));
    pool.worker(0).take_call();
    pool.advance(3s);
    BOOST_TEST(pool.worker(0).signals.empty());
    BOOST_TEST(pool.worker(0).terminations == 1);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
