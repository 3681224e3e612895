// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "support/fake_runtime.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

namespace skep::test {

using namespace std::chrono_literals;

namespace {

constexpr auto every_cancellation = {asio::cancellation_type::terminal, asio::cancellation_type::partial,
                                     asio::cancellation_type::total};

using pending_report = std::shared_ptr<manual_pool::outcome<shutdown_report>>;

/// Lets every worker comply with being asked to stop.
void comply(manual_pool& pool) {
    for (const auto& worker : pool.runtime().workers) {
        worker->exit(exit_status::exited(0));
    }
    pool.run_until_idle();
}

bool is_asked(manual_pool& pool, std::size_t index = 0) {
    return !pool.worker(index).take_controls("shutdown").empty();
}

void check_same(const shutdown_report& a, const shutdown_report& b) {
    BOOST_TEST(a.calls_drained == b.calls_drained);
    BOOST_TEST(a.calls_aborted == b.calls_aborted);
    BOOST_TEST((a.took == b.took));
    BOOST_REQUIRE_EQUAL(a.workers.size(), b.workers.size());
    for (std::size_t i = 0; i < a.workers.size(); ++i) {
        BOOST_TEST((a.workers[i].id == b.workers[i].id));
        BOOST_TEST((a.workers[i].status == b.workers[i].status));
        BOOST_TEST((a.workers[i].stage() == b.workers[i].stage()));
    }
}

} // namespace

BOOST_AUTO_TEST_SUITE(shutting_down)

BOOST_AUTO_TEST_SUITE(drain)

BOOST_AUTO_TEST_CASE(without_calls_there_is_nothing_to_wait_for) {
    running_pool pool(fake_config());
    const auto down = pool.shutdown();
    BOOST_TEST(is_asked(pool));
    comply(pool);
    BOOST_REQUIRE(down->value);
    BOOST_TEST(down->value->calls_drained == 0u);
    BOOST_TEST(down->value->calls_aborted == 0u);
    BOOST_TEST((down->value->took == 0s));
}

BOOST_AUTO_TEST_CASE(running_and_waiting_calls_are_finished) {
    running_pool pool(fake_config());
    const auto running = pool.execute(request("running"));
    const auto queued = pool.execute(request("queued"));
    const auto down = pool.shutdown();
    pool.advance(2s);
    BOOST_TEST(!is_asked(pool));
    pool.serve();
    BOOST_TEST(running->value.has_value());
    BOOST_TEST(!is_asked(pool));
    pool.serve();
    BOOST_TEST(queued->value.has_value());
    BOOST_TEST(is_asked(pool));
    comply(pool);
    BOOST_REQUIRE(down->value);
    BOOST_TEST(down->value->calls_drained == 2u);
    BOOST_TEST(down->value->calls_aborted == 0u);
    BOOST_TEST((down->value->took == 2s));
}

BOOST_AUTO_TEST_CASE(what_is_not_finished_in_time_is_aborted) {
    running_pool pool(fake_config());
    const auto finished = pool.execute(request("finished"));
    const auto running = pool.execute(request("running"));
    const auto queued = pool.execute(request("queued").queue_timeout(0s));
    const auto down = pool.shutdown();
    pool.serve();
    pool.advance(4990ms);
    BOOST_TEST(!running->done);
    BOOST_TEST(!queued->done);
    pool.advance(10ms);
    BOOST_TEST(finished->value.has_value());
    BOOST_TEST(running->code() == errc::shutting_down);
    BOOST_TEST(queued->code() == errc::shutting_down);
    BOOST_TEST(is_asked(pool));
    comply(pool);
    BOOST_REQUIRE(down->value);
    BOOST_TEST(down->value->calls_drained == 1u);
    BOOST_TEST(down->value->calls_aborted == 2u);
}

BOOST_AUTO_TEST_CASE(a_drain_of_zero_aborts_at_once) {
    auto config = fake_config();
    config.stop.drain_timeout = 0s;
    running_pool pool(config);
    const auto call = pool.execute(request("x"));
    pool.shutdown();
    BOOST_TEST(call->code() == errc::shutting_down);
    BOOST_TEST(is_asked(pool));
}

BOOST_AUTO_TEST_CASE(no_call_is_admitted_meanwhile) {
    running_pool pool(fake_config(2));
    pool.execute(request("running"));
    const auto down = pool.shutdown();
    BOOST_TEST(to_string(pool.status().phase) == "stopping");
    BOOST_TEST(pool.execute(request("late"))->code() == errc::shutting_down);
    pool.advance(10s);
    BOOST_TEST(down->done);
    BOOST_TEST(pool.execute(request("later"))->code() == errc::shutting_down);
}

BOOST_AUTO_TEST_CASE(deadlines_hold_meanwhile) {
    running_pool pool(fake_config());
    const auto slow = pool.execute(request("slow").timeout(1s));
    const auto queued = pool.execute(request("queued").queue_timeout(500ms));
    pool.shutdown();
    pool.advance(500ms);
    BOOST_TEST(queued->code() == errc::queue_timeout);
    pool.advance(500ms);
    BOOST_TEST(slow->code() == errc::timeout);
    BOOST_TEST(is_asked(pool)); // nobody waits for anything any more
}

BOOST_AUTO_TEST_CASE(calls_can_be_cancelled_meanwhile) {
    running_pool pool(fake_config());
    const auto call = pool.execute(request("x"));
    pool.shutdown();
    call->cancel.emit(asio::cancellation_type::terminal);
    pool.run_until_idle();
    BOOST_TEST(call->code() == errc::cancelled);
    BOOST_TEST(is_asked(pool));
}

BOOST_AUTO_TEST_CASE(workers_lost_meanwhile_are_not_replaced) {
    running_pool pool(fake_config(2));
    const auto lost = pool.execute(request("lost"));
    const auto retried = pool.execute(request("retried").idempotent(true));
    const auto down = pool.shutdown();
    pool.worker(0).exit(exit_status::exited(1));
    pool.advance(2s);
    BOOST_TEST(lost->code() == errc::worker_lost);
    pool.worker(1).exit(exit_status::exited(1));
    pool.advance(1s);
    BOOST_TEST(pool.launched() == 2u);
    // Before stop.drain_timeout is over: nobody is left to take it.
    BOOST_TEST(retried->code() == errc::shutting_down);
    BOOST_TEST(down->value.has_value());
}

BOOST_AUTO_TEST_CASE(the_time_to_stop_is_not_cut_short_by_aborted_calls) {
    auto config = fake_config();
    config.stop.drain_timeout = 0s;
    config.stop.shutdown_grace = 10s;
    config.cancel_grace = 1s;
    running_pool pool(config);
    pool.execute(request("x"));
    pool.shutdown();
    pool.advance(9990ms);
    BOOST_TEST(pool.worker(0).terminations == 0);
    pool.advance(10ms);
    BOOST_TEST(pool.worker(0).terminations == 1);
}

BOOST_AUTO_TEST_CASE(an_answer_to_an_aborted_call_is_late) {
    auto config = fake_config();
    config.stop.drain_timeout = 0s;
    running_pool pool(config);
    const auto call = pool.execute(request("x"));
    const auto id = pool.worker(0).take_call();
    const auto down = pool.shutdown();
    pool.worker(0).reply(id);
    pool.worker(0).exit(exit_status::exited(0));
    pool.run_until_idle();
    BOOST_TEST(call->code() == errc::shutting_down);
    BOOST_REQUIRE(down->value);
    BOOST_TEST(to_string(down->value->workers.at(0).state) == "stopped");
    BOOST_TEST(pool.counters().late_answers == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(repeated)

BOOST_AUTO_TEST_CASE(afterwards_it_gives_the_same_report) {
    running_pool pool(fake_config(2));
    const auto first = pool.shutdown();
    pool.advance(2s);
    BOOST_REQUIRE(first->value);
    pool.advance(10s);
    const auto second = pool.shutdown();
    BOOST_REQUIRE(second->value);
    check_same(*first->value, *second->value);
    BOOST_TEST(second->value->workers.size() == 2u);
}

BOOST_AUTO_TEST_CASE(at_the_same_time_too) {
    running_pool pool(fake_config());
    pool.execute(request("x"));
    std::vector<pending_report> reports;
    for (int i = 0; i < 5; ++i) {
        reports.push_back(pool.shutdown());
        pool.advance(1s);
    }
    pool.advance(2s);
    for (const auto& report : reports) {
        BOOST_REQUIRE(report->value);
        check_same(*reports[0]->value, *report->value);
    }
    BOOST_TEST(reports[0]->value->calls_aborted == 1u);
    BOOST_TEST(pool.worker(0).take_controls("shutdown").size() == 1u);
}

BOOST_AUTO_TEST_CASE(cancelling_ends_the_wait_and_not_the_shutdown) {
    for (const auto type : every_cancellation) {
        running_pool pool(fake_config());
        const auto given_up = pool.shutdown();
        const auto other = pool.shutdown();
        given_up->cancel.emit(type);
        pool.run_until_idle();
        BOOST_TEST(given_up->code() == errc::cancelled);
        BOOST_TEST(!other->done);
        pool.advance(2s);
        BOOST_TEST(other->value.has_value());
        BOOST_TEST(pool.shutdown()->value.has_value());
    }
}

BOOST_AUTO_TEST_CASE(if_nobody_waits_it_goes_on_all_the_same) {
    running_pool pool(fake_config());
    const auto given_up = pool.shutdown();
    given_up->cancel.emit(asio::cancellation_type::terminal);
    pool.advance(2s);
    BOOST_TEST(to_string(pool.status().phase) == "stopped");
    BOOST_TEST(pool.worker(0).has_exited());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(in_other_phases)

BOOST_AUTO_TEST_CASE(before_start) {
    manual_pool pool(fake_config());
    const auto down = pool.shutdown();
    BOOST_REQUIRE(down->value);
    BOOST_TEST(down->value->workers.empty());
    BOOST_TEST(down->value->clean());
    BOOST_TEST(pool.execute(request("x"))->code() == errc::shutting_down);
}

BOOST_AUTO_TEST_CASE(after_a_failed_start) {
    manual_pool pool(fake_config());
    pool.runtime().on_start = [](fake_worker& fresh) { fresh.exit(exit_status::exited(1)); };
    BOOST_TEST(pool.start()->code() == errc::start_failed);
    const auto down = pool.shutdown();
    BOOST_REQUIRE(down->value);
    BOOST_TEST(down->value->workers.empty());
}

BOOST_AUTO_TEST_CASE(while_starting) {
    auto config = fake_config(25);
    config.min_ready = 2;
    manual_pool pool(config);
    pool.runtime().on_start = [](fake_worker&) {};
    const auto started = pool.start();
    pool.worker(0).shake_hands();
    pool.run_until_idle();
    const auto down = pool.shutdown();
    BOOST_TEST(started->code() == errc::shutting_down);
    pool.advance(2s);
    BOOST_REQUIRE(down->value);
    BOOST_TEST(down->value->workers.size() == 10u);
    BOOST_TEST(down->value->clean());
    pool.advance(60s);
    BOOST_TEST(pool.launched() == 10u);
}

BOOST_AUTO_TEST_CASE(one_that_gets_ready_after_that_is_stopped_all_the_same) {
    manual_pool pool(fake_config());
    pool.runtime().on_start = [](fake_worker& fresh) { fresh.obeys_terminate = false; };
    pool.start();
    const auto down = pool.shutdown();
    pool.worker(0).shake_hands();
    pool.advance(3s);
    BOOST_REQUIRE(down->value);
    BOOST_TEST(down->value->workers.size() == 1u);
    BOOST_TEST(pool.counters().workers_started == 0u);
}

BOOST_AUTO_TEST_CASE(while_a_failed_start_cleans_up) {
    auto config = fake_config(2);
    config.min_ready = 2;
    manual_pool pool(config);
    int begun = 0;
    pool.runtime().on_start = [&begun](fake_worker& fresh) {
        if (++begun == 1) {
            fresh.exit(exit_status::exited(1));
        } else {
            fresh.shake_hands();
        }
    };
    const auto started = pool.start();
    BOOST_TEST(!started->done);
    const auto down = pool.shutdown();
    pool.advance(2s);
    BOOST_TEST(started->done);
    BOOST_REQUIRE(down->value);
    BOOST_TEST(down->value->workers.size() == 1u);
    BOOST_TEST(to_string(pool.status().phase) == "stopped");
}

BOOST_AUTO_TEST_CASE(while_slots_wait_out_their_backoff) {
    running_pool pool(fake_config(3));
    pool.runtime().on_start = [](fake_worker& fresh) { fresh.exit(exit_status::exited(1)); };
    for (std::size_t i = 0; i < 3; ++i) {
        pool.worker(i).exit(exit_status::exited(1));
    }
    pool.advance(300ms);
    const auto down = pool.shutdown();
    BOOST_REQUIRE(down->value);
    BOOST_TEST(down->value->workers.empty());
    const auto launched = pool.launched();
    pool.advance(60s);
    BOOST_TEST(pool.launched() == launched);
}

BOOST_AUTO_TEST_CASE(waiting_calls_of_a_pool_without_workers_are_aborted_at_once) {
    running_pool pool(fake_config());
    pool.runtime().on_start = [](fake_worker&) {};
    pool.worker(0).exit(exit_status::exited(1));
    pool.run_until_idle();
    const auto call = pool.execute(request("x").queue_timeout(0s));
    const auto down = pool.shutdown();
    BOOST_TEST(call->code() == errc::shutting_down);
    BOOST_TEST(down->value.has_value());
}

BOOST_AUTO_TEST_CASE(the_status_of_a_stopped_pool) {
    running_pool pool(fake_config(2));
    pool.shutdown();
    pool.advance(2s);
    const auto status = pool.status();
    BOOST_TEST(to_string(status.phase) == "stopped");
    BOOST_TEST(status.queued == 0u);
    BOOST_TEST(status.in_flight == 0u);
    for (const auto& worker : status.workers) {
        BOOST_TEST(worker.pid == 0);
        BOOST_TEST(!is_running(worker.state));
    }
    BOOST_TEST(status.counters.workers_lost == 0u);
    BOOST_TEST(pool.runtime().closed == 1);
}

BOOST_AUTO_TEST_SUITE_END()

/// A pool object that ends without shutdown().
BOOST_AUTO_TEST_SUITE(abandoned)

BOOST_AUTO_TEST_CASE(its_workers_are_killed_at_once) {
    running_pool pool(fake_config(2));
    const auto workers = pool.runtime().workers;
    pool.destroy_pool();
    for (const auto& worker : workers) {
        BOOST_TEST(worker->kills > 0);
        BOOST_TEST(worker->has_exited());
        BOOST_TEST(worker->terminations == 0);
        BOOST_TEST(worker->take_controls("shutdown").empty());
    }
}

BOOST_AUTO_TEST_CASE(its_workers_are_killed_if_another_pool_is_assigned) {
    running_pool pool(fake_config(2));
    const auto workers = pool.runtime().workers;
    skep::pool other(pool.facade().get_executor(), fake_config());
    pool.facade() = std::move(other);
    pool.destroy_pool();
    for (const auto& worker : workers) {
        BOOST_TEST(worker->has_exited());
    }
}

BOOST_AUTO_TEST_CASE(its_calls_end) {
    running_pool pool(fake_config());
    const auto running = pool.execute(request("running"));
    const auto queued = pool.execute(request("queued"));
    pool.destroy_pool();
    BOOST_TEST(running->code() == errc::shutting_down);
    BOOST_TEST(queued->code() == errc::shutting_down);
}

BOOST_AUTO_TEST_CASE(before_start) {
    manual_pool pool(fake_config());
    pool.destroy_pool();
}

BOOST_AUTO_TEST_CASE(while_starting) {
    auto config = fake_config(25);
    config.min_ready = 2;
    manual_pool pool(config);
    pool.runtime().on_start = [](fake_worker&) {};
    const auto started = pool.start();
    const auto workers = pool.runtime().workers;
    pool.destroy_pool();
    BOOST_TEST(started->code() == errc::shutting_down);
    BOOST_TEST(workers.size() == 10u);
    for (const auto& worker : workers) {
        BOOST_TEST(worker->has_exited());
    }
}

BOOST_AUTO_TEST_CASE(during_the_drain_of_a_shutdown) {
    running_pool pool(fake_config());
    const auto call = pool.execute(request("x"));
    const auto down = pool.shutdown();
    const auto worker = pool.runtime().workers[0];
    BOOST_TEST(!down->done);
    pool.destroy_pool();
    BOOST_TEST(call->code() == errc::shutting_down);
    BOOST_TEST(worker->has_exited());
    BOOST_REQUIRE(down->value);
    BOOST_TEST(down->value->calls_aborted == 1u);
    BOOST_TEST(down->value->calls_drained == 0u);
}

BOOST_AUTO_TEST_CASE(in_the_stop_sequence_of_a_shutdown) {
    running_pool pool(fake_config());
    const auto worker = pool.runtime().workers[0];
    worker->obeys_terminate = false;
    const auto down = pool.shutdown();
    pool.advance(1500ms);
    BOOST_TEST(worker->terminations == 1);
    pool.destroy_pool();
    BOOST_TEST(worker->has_exited());
    BOOST_REQUIRE(down->value);
    BOOST_TEST((down->value->took == 1500ms));
}

BOOST_AUTO_TEST_CASE(while_a_worker_is_being_replaced) {
    running_pool pool(fake_config());
    pool.runtime().on_start = [](fake_worker&) {};
    pool.worker(0).obeys_terminate = false;
    pool.worker(0).send_raw("garbage");
    pool.advance(200ms);
    const auto workers = pool.runtime().workers;
    BOOST_TEST(workers.size() == 2u);
    pool.destroy_pool();
    for (const auto& worker : workers) {
        BOOST_TEST(worker->has_exited());
    }
}

BOOST_AUTO_TEST_CASE(while_a_slot_waits_out_its_backoff) {
    running_pool pool(fake_config());
    pool.worker(0).exit(exit_status::exited(1));
    pool.run_until_idle();
    pool.destroy_pool();
}

BOOST_AUTO_TEST_CASE(after_a_shutdown) {
    running_pool pool(fake_config());
    pool.shutdown();
    pool.advance(2s);
    const auto worker = pool.runtime().workers[0];
    const auto kills = worker->kills;
    pool.destroy_pool();
    BOOST_TEST(worker->kills == kills);
}

BOOST_AUTO_TEST_CASE(a_worker_that_cannot_be_killed_does_not_hold_it_for_ever) {
    running_pool pool(fake_config());
    const auto worker = pool.runtime().workers[0];
    worker->obeys_kill = false;
    pool.destroy_pool();
    pool.advance(2500ms); // and nothing must be left in the context
    BOOST_TEST(worker->kills > 0);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
