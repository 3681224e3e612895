// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "support/fake_runtime.hpp"

#include <boost/asio/post.hpp>
#include <boost/test/unit_test.hpp>

#include <csignal>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace skep::test {

using namespace std::chrono_literals;

namespace {

using on_start = std::function<void(fake_worker&)>;

void shake_hands(fake_worker& fresh) {
    fresh.shake_hands();
}

void exit_with_1(fake_worker& fresh) {
    fresh.exit(exit_status::exited(1));
}

void refuse_to_spawn(fake_worker&) {
    error_info info;
    info.detail = "execve /usr/bin/fake: No such file or directory";
    throw error(errc::spawn_failed, std::move(info));
}

/// A pool that has not been started, of workers that begin like this.
class fresh_pool : public manual_pool {
public:
    fresh_pool(pool_config config, on_start how) : manual_pool(std::move(config)) {
        runtime().on_start = std::move(how);
    }

    void shake_hands(std::size_t first, std::size_t end) {
        for (auto i = first; i < end; ++i) {
            worker(i).shake_hands();
        }
        run_until_idle();
    }
};

pool_config with_min_ready(std::size_t workers, std::size_t min_ready) {
    auto config = fake_config(workers);
    config.min_ready = min_ready;
    return config;
}

/// Does it so many turns of the event loop later, amid what the pool does then.
void after(asio::io_context& context, int turns, std::function<void()> what) {
    asio::post(context, [&context, turns, what = std::move(what)] {
        if (turns == 0) {
            what();
        } else {
            after(context, turns - 1, what);
        }
    });
}

} // namespace

BOOST_AUTO_TEST_SUITE(starting)

BOOST_AUTO_TEST_CASE(all_workers_come_up) {
    fresh_pool pool(fake_config(3), shake_hands);
    BOOST_TEST(to_string(pool.status().phase) == "created");
    const auto started = pool.start();
    BOOST_TEST(started->value.has_value());
    const auto status = pool.status();
    BOOST_TEST(to_string(status.phase) == "running");
    BOOST_REQUIRE_EQUAL(status.workers.size(), 3u);
    for (std::size_t i = 0; i < 3; ++i) {
        BOOST_TEST(to_string(status.workers[i].id) == "default/" + std::to_string(i) + "#1");
        BOOST_TEST(to_string(status.workers[i].state) == "ready");
        BOOST_TEST(to_string(status.workers[i].health) == "healthy");
        BOOST_TEST(status.workers[i].pid == 1000000);
        BOOST_TEST(status.workers[i].capacity == 1u);
    }
    BOOST_TEST(status.counters.workers_started == 3u);
}

BOOST_AUTO_TEST_CASE(nothing_is_started_before) {
    fresh_pool pool(fake_config(3), shake_hands);
    pool.advance(10s);
    BOOST_TEST(pool.launched() == 0u);
}

BOOST_AUTO_TEST_CASE(an_unset_number_of_workers_means_one_per_hardware_thread) {
    auto config = fake_config(1);
    config.workers.reset();
    fresh_pool pool(config, shake_hands);
    pool.start();
    BOOST_TEST(pool.launched() == std::max(1u, std::thread::hardware_concurrency()));
}

BOOST_AUTO_TEST_CASE(it_returns_when_enough_are_ready) {
    fresh_pool pool(with_min_ready(3, 2), never_ready);
    const auto started = pool.start();
    pool.shake_hands(0, 1);
    BOOST_TEST(!started->done);
    BOOST_TEST(to_string(pool.status().phase) == "starting");
    pool.shake_hands(1, 2);
    BOOST_TEST(started->value.has_value());
}

BOOST_AUTO_TEST_CASE(a_hello_alone_does_not_make_a_worker_ready) {
    fresh_pool pool(fake_config(1), [](fake_worker& fresh) { fresh.send_data(fresh.hello()); });
    const auto started = pool.start();
    pool.advance(1s);
    BOOST_TEST(!started->done);
    pool.worker(0).send_data({{"type", "ready"}});
    pool.run_until_idle();
    BOOST_TEST(started->value.has_value());
}

BOOST_AUTO_TEST_SUITE(batches)

BOOST_AUTO_TEST_CASE(as_many_together_as_configured_and_a_delay_between_them) {
    fresh_pool pool(fake_config(25), never_ready);
    pool.start();
    BOOST_TEST(pool.launched() == 10u);
    pool.advance(490ms);
    BOOST_TEST(pool.launched() == 10u);
    pool.advance(10ms);
    BOOST_TEST(pool.launched() == 20u);
    pool.advance(490ms);
    BOOST_TEST(pool.launched() == 20u);
    pool.advance(10ms);
    BOOST_TEST(pool.launched() == 25u);
}

BOOST_AUTO_TEST_CASE(the_next_does_not_wait_when_the_one_before_is_up) {
    fresh_pool pool(fake_config(25), never_ready);
    const auto started = pool.start();
    pool.shake_hands(0, 9);
    BOOST_TEST(pool.launched() == 10u);
    pool.shake_hands(9, 10);
    BOOST_TEST(pool.launched() == 20u);
    pool.shake_hands(10, 20);
    BOOST_TEST(pool.launched() == 25u);
    pool.shake_hands(20, 25);
    BOOST_TEST(started->value.has_value());
}

BOOST_AUTO_TEST_CASE(the_delay_counts_from_the_last_batch) {
    fresh_pool pool(fake_config(30), never_ready);
    pool.start();
    pool.advance(300ms);
    pool.shake_hands(0, 10);
    BOOST_TEST(pool.launched() == 20u);
    pool.advance(490ms);
    BOOST_TEST(pool.launched() == 20u);
    pool.advance(10ms);
    BOOST_TEST(pool.launched() == 30u);
}

BOOST_AUTO_TEST_CASE(no_delay_means_all_at_once) {
    auto config = fake_config(25);
    config.start.batch_delay = 0s;
    fresh_pool pool(config, never_ready);
    pool.start();
    BOOST_TEST(pool.launched() == 25u);
}

BOOST_AUTO_TEST_CASE(a_batch_may_be_one) {
    auto config = fake_config(4);
    config.start.batch_size = 1;
    config.start.batch_delay = 100ms;
    fresh_pool pool(config, never_ready);
    pool.start();
    pool.advance(200ms);
    BOOST_TEST(pool.launched() == 3u);
}

BOOST_AUTO_TEST_CASE(a_batch_that_failed_is_over_too) {
    int begun = 0;
    fresh_pool pool(fake_config(20), [&begun](fake_worker& fresh) {
        if (++begun <= 10) {
            fresh.exit(exit_status::exited(1));
        } else {
            fresh.shake_hands();
        }
    });
    const auto started = pool.start();
    BOOST_TEST(started->value.has_value());
    BOOST_TEST(pool.counters().workers_started == 10u);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(partly)

BOOST_AUTO_TEST_CASE(enough_is_enough) {
    int begun = 0;
    fresh_pool pool(with_min_ready(3, 2), [&begun](fake_worker& fresh) {
        if (++begun == 2) {
            fresh.exit(exit_status::exited(1));
        } else {
            fresh.shake_hands();
        }
    });
    const auto started = pool.start();
    BOOST_TEST(started->value.has_value());
    BOOST_TEST(pool.counters().start_failures == 1u);
    check_mentions(pool.status().workers[1].last_failure, "its process ended before it was ready");
}

BOOST_AUTO_TEST_CASE(the_rest_is_tried_again_in_the_background) {
    int begun = 0;
    fresh_pool pool(with_min_ready(3, 2), [&begun](fake_worker& fresh) {
        if (++begun == 2) {
            fresh.exit(exit_status::exited(1));
        } else {
            fresh.shake_hands();
        }
    });
    pool.start();
    BOOST_TEST(pool.launched() == 3u);
    pool.advance(130ms);
    BOOST_TEST(pool.launched() == 4u);
    BOOST_TEST(to_string(pool.status().workers[1].state) == "ready");
    BOOST_TEST(pool.status().workers[1].id.generation == 2u);
}

BOOST_AUTO_TEST_CASE(one_that_fails_to_spawn_does_not_matter_if_others_come_up) {
    int begun = 0;
    fresh_pool pool(fake_config(30), [&begun](fake_worker& fresh) {
        if (++begun == 1) {
            refuse_to_spawn(fresh);
        } else {
            fresh.shake_hands();
        }
    });
    const auto started = pool.start();
    BOOST_TEST(started->value.has_value());
    BOOST_TEST(pool.counters().workers_started >= 29u);
}

BOOST_AUTO_TEST_CASE(one_that_dies_after_it_was_ready_had_its_attempt) {
    fresh_pool pool(with_min_ready(3, 2), never_ready);
    const auto started = pool.start();
    pool.shake_hands(0, 1);
    pool.worker(0).exit(exit_status::exited(1));
    pool.advance(300ms);
    BOOST_TEST(pool.launched() == 3u);
    pool.shake_hands(1, 2);
    BOOST_TEST(!started->done);
    pool.shake_hands(2, 3);
    BOOST_TEST(started->value.has_value());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(failing)

BOOST_AUTO_TEST_CASE(too_few_end_it_and_stop_those_that_came_up) {
    int begun = 0;
    fresh_pool pool(with_min_ready(3, 3), [&begun](fake_worker& fresh) {
        if (++begun == 2) {
            fresh.exit(exit_status::exited(7));
        } else {
            fresh.shake_hands();
        }
    });
    const auto started = pool.start();
    BOOST_TEST(!started->done); // it waits for those that it stops
    BOOST_TEST(pool.worker(0).take_controls("shutdown").size() == 1u);
    BOOST_TEST(pool.worker(2).take_controls("shutdown").size() == 1u);
    pool.worker(0).exit(exit_status::exited(0));
    pool.worker(2).exit(exit_status::exited(0));
    pool.run_until_idle();
    BOOST_TEST(started->code() == errc::start_failed);
    for (const auto* const part :
         {"2 of 3 workers came up, 3 needed", "its process ended before it was ready", "exit code 7",
          "default/1#1, program /usr/bin/fake, pid ", "the fake's last words"}) {
        check_mentions(started->text(), part);
    }
    BOOST_TEST(pool.runtime().closed == 1);
    BOOST_TEST(to_string(pool.status().phase) == "created");
}

BOOST_AUTO_TEST_CASE(one_that_dies_as_it_becomes_ready_is_named_whenever_that_is_noticed) {
    int failed = 0;
    bool served = false; // the death came so late that start() had succeeded
    for (int steps = 0; !served && steps < 1000; ++steps) {
        fresh_pool pool(fake_config(1), never_ready);
        const auto started = pool.start();
        pool.worker(0).shake_hands();
        const auto die = [&pool] { pool.worker(0).exit(exit_status::signalled(SIGABRT)); };
        if (steps == 0) {
            die();
        } else {
            after(pool.context, steps - 1, die);
        }
        pool.advance(1s);
        BOOST_TEST_CONTEXT("after " << steps << " steps") {
            BOOST_REQUIRE(started->done);
            served = started->value.has_value();
            if (!served) {
                ++failed;
                BOOST_TEST(started->code() == errc::start_failed);
                check_mentions(started->text(), "signal 6");
                check_mentions(started->text(), "default/0#1");
            }
        }
    }
    BOOST_TEST(served);
    BOOST_TEST(failed > 0);
}

BOOST_AUTO_TEST_CASE(those_that_ignore_the_frame_are_forced) {
    int begun = 0;
    fresh_pool pool(with_min_ready(2, 2), [&begun](fake_worker& fresh) {
        if (++begun == 1) {
            fresh.exit(exit_status::exited(7));
        } else {
            fresh.shake_hands();
        }
    });
    const auto started = pool.start();
    pool.worker(1).obeys_terminate = false;
    pool.advance(3s);
    BOOST_TEST(started->code() == errc::start_failed);
    BOOST_TEST(pool.worker(1).has_exited());
}

BOOST_AUTO_TEST_CASE(it_may_be_repeated) {
    fresh_pool pool(fake_config(3), exit_with_1);
    BOOST_TEST(pool.start()->code() == errc::start_failed);
    BOOST_TEST(pool.start()->code() == errc::start_failed);
    pool.runtime().on_start = shake_hands;
    const auto third = pool.start();
    BOOST_TEST(third->value.has_value());
    const auto call = pool.execute(request("x"));
    pool.serve(6);
    BOOST_REQUIRE(call->value);
    BOOST_TEST(to_string(call->value->worker) == "default/0#3");
}

BOOST_AUTO_TEST_CASE(after_a_failure_nothing_goes_on_in_the_background) {
    fresh_pool pool(fake_config(3), exit_with_1);
    pool.start();
    pool.advance(60s);
    BOOST_TEST(pool.launched() == 3u);
}

BOOST_AUTO_TEST_CASE(a_repeated_start_replaces_lost_workers_as_ever) {
    fresh_pool pool(fake_config(1), exit_with_1);
    pool.start();
    pool.runtime().on_start = shake_hands;
    pool.start();
    pool.worker(1).exit(exit_status::exited(1));
    pool.advance(130ms);
    BOOST_TEST(pool.launched() == 3u);
    pool.execute(request("slow").timeout(1s));
    pool.advance(1s);
    BOOST_TEST(pool.counters().timeouts == 1u);
}

BOOST_AUTO_TEST_CASE(a_program_that_cannot_be_spawned_is_not_tried_for_every_worker) {
    fresh_pool pool(fake_config(100), refuse_to_spawn);
    const auto started = pool.start();
    BOOST_TEST(started->code() == errc::start_failed);
    check_mentions(started->text(), "execve /usr/bin/fake: No such file or directory");
    BOOST_TEST(pool.launched() == 10u);
}

BOOST_AUTO_TEST_CASE(whatever_a_runtime_throws_is_a_failed_spawn) {
    fresh_pool pool(fake_config(2), [](fake_worker&) { throw std::runtime_error("out of luck"); });
    const auto started = pool.start();
    BOOST_TEST(started->code() == errc::start_failed);
    check_mentions(started->text(), "out of luck");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(misuse)

BOOST_AUTO_TEST_CASE(start_twice) {
    fresh_pool pool(fake_config(1), never_ready);
    const auto first = pool.start();
    BOOST_TEST(pool.start()->code() == errc::already_started);
    pool.shake_hands(0, 1);
    BOOST_TEST(first->value.has_value());
    BOOST_TEST(pool.start()->code() == errc::already_started);
    BOOST_TEST(pool.launched() == 1u);
}

BOOST_AUTO_TEST_CASE(start_while_a_failed_start_cleans_up) {
    int begun = 0;
    fresh_pool pool(with_min_ready(2, 2), [&begun](fake_worker& fresh) {
        if (++begun == 1) {
            fresh.exit(exit_status::exited(7));
        } else {
            fresh.shake_hands();
        }
    });
    const auto first = pool.start();
    BOOST_TEST(!first->done);
    BOOST_TEST(pool.start()->code() == errc::already_started);
    pool.advance(2s);
    BOOST_TEST(first->code() == errc::start_failed);
    const auto again = pool.start();
    BOOST_TEST(again->value.has_value());
}

BOOST_AUTO_TEST_CASE(start_after_shutdown) {
    fresh_pool pool(fake_config(1), shake_hands);
    pool.shutdown();
    BOOST_TEST(pool.start()->code() == errc::shutting_down);
    BOOST_TEST(pool.launched() == 0u);
}

BOOST_AUTO_TEST_CASE(calls_before_start) {
    fresh_pool pool(fake_config(1), shake_hands);
    const auto call = pool.execute(request("x"));
    BOOST_TEST(call->code() == errc::not_started);
    BOOST_TEST(call->info().pool == "default");
    BOOST_TEST(call->info().command == "x");
}

BOOST_AUTO_TEST_CASE(calls_during_start_wait_for_the_first_worker) {
    fresh_pool pool(with_min_ready(2, 2), never_ready);
    const auto started = pool.start();
    const auto call = pool.execute(request("x"));
    BOOST_TEST(!call->done);
    pool.shake_hands(0, 1);
    BOOST_TEST(pool.serve(0) == "x");
    BOOST_TEST(call->value.has_value());
    BOOST_TEST(!started->done);
    pool.shake_hands(1, 2);
    BOOST_TEST(started->value.has_value());
}

BOOST_AUTO_TEST_CASE(calls_during_start_wait_within_their_limits) {
    auto config = fake_config(1);
    config.queue.limit = 2;
    fresh_pool pool(config, never_ready);
    pool.start();
    const auto patient = pool.execute(request("x").queue_timeout(10s));
    const auto hasty = pool.execute(request("x").timeout(1s));
    BOOST_TEST(pool.execute(request("x"))->code() == errc::pool_saturated);
    pool.advance(1s);
    BOOST_TEST(hasty->code() == errc::no_worker);
    pool.advance(8s);
    BOOST_TEST(!patient->done);
    pool.advance(1s);
    BOOST_TEST(patient->code() == errc::no_worker);
}

BOOST_AUTO_TEST_CASE(calls_fail_with_the_start_and_with_its_cause) {
    fresh_pool pool(with_min_ready(2, 2), never_ready);
    const auto started = pool.start();
    const auto running = pool.execute(request("x"));
    const auto queued = pool.execute(request("x"));
    pool.shake_hands(0, 1);
    pool.worker(1).exit(exit_status::exited(7));
    pool.run_until_idle();
    pool.worker(0).exit(exit_status::exited(0));
    pool.run_until_idle();
    BOOST_TEST(started->code() == errc::start_failed);
    BOOST_TEST(running->code() == errc::start_failed);
    BOOST_TEST(queued->code() == errc::start_failed);
    check_mentions(queued->text(), "exit code 7");
    check_mentions(running->text(), "exit code 7");
    BOOST_TEST(pool.status().queued == 0u);
}

BOOST_AUTO_TEST_CASE(calls_while_a_failed_start_is_undone) {
    fresh_pool pool(with_min_ready(2, 2), never_ready);
    const auto started = pool.start();
    pool.shake_hands(0, 1);
    pool.worker(0).obeys_terminate = false;
    pool.worker(1).exit(exit_status::exited(7));
    pool.run_until_idle();
    BOOST_TEST(!started->done);
    const auto late = pool.execute(request("x"));
    BOOST_TEST(late->code() == errc::start_failed);
    check_mentions(late->text(), "exit code 7");
    pool.advance(5s);
    BOOST_TEST(started->code() == errc::start_failed);
    BOOST_TEST(pool.execute(request("x"))->code() == errc::start_failed);
}

BOOST_AUTO_TEST_CASE(changes_have_to_wait_for_the_start) {
    fresh_pool pool(fake_config(1), never_ready);
    pool.start();
    BOOST_TEST(pool.begin(pool.facade().suspend())->code() == errc::not_started);
    BOOST_TEST(pool.begin(pool.facade().resize(size_limits(1, 2)))->code() == errc::not_started);
}

BOOST_AUTO_TEST_CASE(what_comes_after_a_failed_start_is_told_its_cause) {
    fresh_pool pool(fake_config(1), exit_with_1);
    pool.start();
    const auto call = pool.execute(request("x"));
    BOOST_TEST(call->code() == errc::start_failed);
    check_mentions(call->text(), "0 of 1 workers came up");
    check_mentions(call->text(), "exit code 1");
    BOOST_TEST(call->text().find("start() first") == std::string::npos, call->text());
    for (const auto& other :
         {pool.begin(pool.facade().ready(1)), pool.begin(pool.facade().suspend()),
          pool.begin(pool.facade().resize(size_limits(1, 2))), pool.begin(pool.facade().rolling_restart())}) {
        BOOST_TEST(other->code() == errc::start_failed);
        check_mentions(other->text(), "exit code 1");
    }
    const auto lease = pool.checkout();
    BOOST_TEST(lease->code() == errc::start_failed);
    check_mentions(lease->text(), "exit code 1");
}

BOOST_AUTO_TEST_CASE(refused_calls_are_counted) {
    fresh_pool pool(fake_config(1), shake_hands);
    pool.execute(request("x"));
    const auto counters = pool.counters();
    BOOST_TEST(counters.submitted == 1u);
    BOOST_TEST(counters.failed == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(in_the_background)

BOOST_AUTO_TEST_CASE(the_rest_comes_up_after_start_has_returned) {
    fresh_pool pool(with_min_ready(3, 1), never_ready);
    const auto started = pool.start();
    pool.shake_hands(0, 1);
    BOOST_TEST(started->value.has_value());
    BOOST_TEST(pool.status().live == 1u);
    pool.shake_hands(1, 3);
    BOOST_TEST(pool.status().live == 3u);
    BOOST_TEST(pool.launched() == 3u);
}

BOOST_AUTO_TEST_CASE(batches_go_on_at_their_pace) {
    fresh_pool pool(with_min_ready(25, 1), never_ready);
    const auto started = pool.start();
    pool.shake_hands(0, 1);
    BOOST_TEST(started->value.has_value());
    BOOST_TEST(pool.launched() == 10u);
    pool.advance(490ms);
    BOOST_TEST(pool.launched() == 10u);
    pool.advance(20ms);
    BOOST_TEST(pool.launched() == 20u);
    pool.shake_hands(1, 20); // the batches before are up
    BOOST_TEST(pool.launched() == 25u);
}

BOOST_AUTO_TEST_CASE(one_that_fails_is_tried_again) {
    fresh_pool pool(with_min_ready(2, 1), never_ready);
    const auto started = pool.start();
    pool.shake_hands(0, 1);
    pool.worker(1).exit(exit_status::exited(1));
    pool.advance(130ms);
    BOOST_TEST(pool.launched() == 3u);
    BOOST_TEST(started->value.has_value());
}

BOOST_AUTO_TEST_CASE(those_that_wait_for_their_batch_can_be_dropped) {
    fresh_pool pool(with_min_ready(25, 1), never_ready);
    pool.start();
    pool.shake_hands(0, 10);
    pool.advance(1s);
    pool.shake_hands(10, 20);
    BOOST_TEST(pool.begin(pool.facade().resize(size_limits(20, 20)))->value.has_value());
    pool.advance(10s);
    BOOST_TEST(pool.status().desired == 20u);
    BOOST_TEST(pool.status().live + pool.status().starting == 20u);
}

BOOST_AUTO_TEST_CASE(a_rolling_restart_replaces_those_on_their_way_as_well) {
    fresh_pool pool(with_min_ready(2, 1), never_ready);
    pool.start();
    pool.shake_hands(0, 1);
    pool.runtime().on_start = shake_hands;
    const auto rolled = pool.begin(pool.facade().rolling_restart());
    pool.advance(2s);
    BOOST_TEST(!rolled->done); // one of the old version is still on its way
    pool.shake_hands(1, 2);
    pool.advance(2s);
    BOOST_TEST(rolled->value.has_value());
    for (const auto& each : pool.status().workers) {
        BOOST_TEST(each.id.generation == 2u);
    }
}

BOOST_AUTO_TEST_CASE(shutdown_ends_it) {
    fresh_pool pool(with_min_ready(25, 1), never_ready);
    pool.start();
    pool.shake_hands(0, 1);
    const auto down = pool.shutdown();
    pool.advance(10s);
    BOOST_REQUIRE(down->value);
    BOOST_TEST(down->value->clean());
    BOOST_TEST(pool.launched() == 10u);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(ready)

BOOST_AUTO_TEST_CASE(waits_for_so_many) {
    fresh_pool pool(with_min_ready(3, 1), never_ready);
    pool.start();
    const auto none = pool.begin(pool.facade().ready(0));
    const auto all = pool.begin(pool.facade().ready(3));
    const auto two = pool.begin(pool.facade().ready(2));
    BOOST_TEST(none->value.has_value());
    pool.shake_hands(0, 1);
    BOOST_TEST(!two->done);
    pool.shake_hands(1, 2);
    BOOST_TEST(two->value.has_value());
    BOOST_TEST(!all->done);
    pool.shake_hands(2, 3);
    BOOST_TEST(all->value.has_value());
    BOOST_TEST(pool.begin(pool.facade().ready(3))->value.has_value());
}

BOOST_AUTO_TEST_CASE(may_wait_for_a_resize) {
    fresh_pool pool(fake_config(1), shake_hands);
    pool.start();
    const auto two = pool.begin(pool.facade().ready(2));
    BOOST_TEST(!two->done);
    pool.begin(pool.facade().resize(size_limits(2, 2)));
    pool.advance(1s);
    BOOST_TEST(two->value.has_value());
}

BOOST_AUTO_TEST_CASE(ends_with_what_ends_the_pool) {
    const auto code_of = [](auto spoil) {
        auto config = with_min_ready(2, 1);
        config.restart.limit = 1;
        fresh_pool pool(config, never_ready);
        pool.start();
        const auto both = pool.begin(pool.facade().ready(2));
        spoil(pool);
        pool.advance(10s);
        return both->code();
    };
    BOOST_TEST(code_of([](fresh_pool& pool) { pool.shutdown(); }) == errc::shutting_down);
    BOOST_TEST(code_of([](fresh_pool& pool) {
                   pool.worker(0).exit(exit_status::exited(1));
                   pool.worker(1).exit(exit_status::exited(1));
               }) == errc::start_failed);
    BOOST_TEST(code_of([](fresh_pool& pool) {
                   pool.shake_hands(0, 1);
                   pool.runtime().on_start = exit_with_1;
                   pool.worker(0).exit(exit_status::exited(1));
                   pool.worker(1).exit(exit_status::exited(1));
               }) == errc::unavailable);
}

BOOST_AUTO_TEST_CASE(refuses_at_once_what_cannot_be_waited_for) {
    fresh_pool pool(fake_config(1), shake_hands);
    BOOST_TEST(pool.begin(pool.facade().ready(1))->code() == errc::not_started);
    pool.start();
    const auto absurd = pool.begin(pool.facade().ready(10'001));
    BOOST_TEST(absurd->code() == errc::invalid_config);
    check_mentions(absurd->text(), "ready(count) = 10001: must be 0..10000");
    pool.shutdown();
    pool.advance(1s);
    BOOST_TEST(pool.begin(pool.facade().ready(1))->code() == errc::shutting_down);
}

BOOST_AUTO_TEST_CASE(cancelling_ends_the_wait) {
    fresh_pool pool(fake_config(1), shake_hands);
    pool.start();
    const auto two = pool.begin(pool.facade().ready(2));
    two->cancel.emit(asio::cancellation_type::total);
    pool.run_until_idle();
    BOOST_TEST(two->code() == errc::cancelled);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(given_up)

BOOST_AUTO_TEST_CASE(cancelling_ends_the_wait_and_not_the_start) {
    for (const auto type : {asio::cancellation_type::terminal, asio::cancellation_type::partial,
                            asio::cancellation_type::total}) {
        fresh_pool pool(fake_config(1), never_ready);
        const auto started = pool.start();
        started->cancel.emit(type);
        pool.run_until_idle();
        BOOST_TEST(started->code() == errc::cancelled);
        BOOST_TEST(to_string(pool.status().phase) == "starting");
        pool.shake_hands(0, 1);
        BOOST_TEST(to_string(pool.status().phase) == "running");
        const auto call = pool.execute(request("x"));
        pool.serve();
        BOOST_TEST(call->value.has_value());
    }
}

BOOST_AUTO_TEST_CASE(cancelling_and_then_a_failure_leaves_it_startable) {
    fresh_pool pool(fake_config(1), never_ready);
    const auto started = pool.start();
    started->cancel.emit(asio::cancellation_type::terminal);
    pool.run_until_idle();
    pool.worker(0).exit(exit_status::exited(1));
    pool.run_until_idle();
    BOOST_TEST(to_string(pool.status().phase) == "created");
    pool.runtime().on_start = shake_hands;
    BOOST_TEST(pool.start()->value.has_value());
}

BOOST_AUTO_TEST_CASE(cancelling_and_then_shutdown) {
    fresh_pool pool(fake_config(25), never_ready);
    const auto started = pool.start();
    started->cancel.emit(asio::cancellation_type::terminal);
    pool.run_until_idle();
    const auto down = pool.shutdown();
    pool.run_until_idle();
    BOOST_REQUIRE(down->value);
    BOOST_TEST(down->value->clean());
    BOOST_TEST(pool.launched() == 10u);
}

BOOST_AUTO_TEST_CASE(cancelling_a_start_that_is_over_has_no_effect) {
    fresh_pool pool(fake_config(1), shake_hands);
    const auto started = pool.start();
    started->cancel.emit(asio::cancellation_type::terminal);
    pool.run_until_idle();
    BOOST_TEST(started->value.has_value());
    BOOST_TEST(to_string(pool.status().phase) == "running");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
