// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "support/fake_runtime.hpp"
#include "support/log_capture.hpp"
#include <skep/lease.hpp>

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <csignal>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace skep::test {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(leases)

namespace {

pool_config roomy_config(std::size_t capacity, std::size_t workers = 1) {
    auto config = fake_config(workers);
    config.capacity = capacity;
    config.schedule = scheduling::least_loaded;
    return config;
}

/// A pool, and a lease of one of its workers.
class pool_with_lease : public running_pool {
public:
    explicit pool_with_lease(pool_config config, checkout_options what = {})
        : running_pool(std::move(config)) {
        const auto checked_out = checkout(std::move(what));
        BOOST_REQUIRE(checked_out->value.has_value());
        held = std::move(*checked_out->value);
    }

    std::shared_ptr<outcome<reply>> call(std::string command) {
        return execute(held, request(std::move(command)));
    }

    void give_back() {
        held = lease();
        run_until_idle();
    }

    fake_worker& leased() { return worker(held.worker().slot); }

    lease held;
};

} // namespace

BOOST_AUTO_TEST_CASE(its_calls_meet_its_worker_and_others_go_elsewhere) {
    pool_with_lease pool(fake_config(2));
    const auto home = pool.held.worker().slot;
    for (int i = 0; i < 3; ++i) {
        const auto mine = pool.call("mine");
        const auto other = pool.execute(request("other"));
        BOOST_TEST(pool.serve(home) == "mine");
        BOOST_TEST(pool.serve(1 - home) == "other");
        BOOST_TEST(mine->value->worker.slot == home);
        BOOST_TEST(other->value->worker.slot == 1 - home);
    }
}

BOOST_AUTO_TEST_CASE(others_wait_until_it_is_given_back) {
    pool_with_lease pool(fake_config());
    const auto other = pool.execute(request("other"));
    BOOST_TEST(pool.status().queued == 1u);
    BOOST_TEST(pool.status().leases == 1u);
    BOOST_TEST(pool.worker_status_of(0).leased == 1u);
    pool.give_back();
    BOOST_TEST(pool.serve() == "other");
    BOOST_TEST(pool.status().leases == 0u);
    BOOST_TEST(pool.worker_status_of(0).leased == 0u);
}

BOOST_AUTO_TEST_CASE(checkouts_and_calls_have_one_order) {
    running_pool pool(fake_config());
    pool.execute(request("busy"));
    const auto before = pool.execute(request("before"));
    auto checked_out = pool.checkout();
    const auto after = pool.execute(request("after"));
    BOOST_TEST(pool.serve() == "busy");
    BOOST_TEST(!checked_out->done);
    BOOST_TEST(pool.serve() == "before");
    BOOST_REQUIRE(checked_out->value.has_value());
    BOOST_TEST(pool.worker(0).take_calls().empty());
    *checked_out->value = lease();
    pool.run_until_idle();
    BOOST_TEST(pool.serve() == "after");
}

BOOST_AUTO_TEST_CASE(a_whole_worker_is_handed_over_once_it_has_done_what_it_had) {
    running_pool pool(roomy_config(3));
    pool.execute(request("first"));
    const auto first = pool.worker(0).take_call();
    pool.execute(request("second"));
    const auto second = pool.worker(0).take_call();
    const auto checked_out = pool.checkout();
    const auto later = pool.execute(request("later"));
    BOOST_TEST(pool.worker(0).take_calls().empty());
    pool.worker(0).reply(first);
    pool.run_until_idle();
    BOOST_TEST(!checked_out->done);
    pool.worker(0).reply(second);
    pool.run_until_idle();
    BOOST_REQUIRE(checked_out->value.has_value());
    BOOST_TEST(pool.worker(0).take_calls().empty());
    *checked_out->value = lease();
    pool.run_until_idle();
    BOOST_TEST(pool.serve() == "later");
}

BOOST_AUTO_TEST_CASE(of_several_workers_the_one_with_the_least_to_do_is_leased) {
    running_pool pool(roomy_config(3, 2));
    for (int i = 0; i < 3; ++i) {
        pool.execute(request("busy"));
    }
    const auto loads = pool.status().workers;
    const auto idler = loads[0].load < loads[1].load ? 0u : 1u;
    const auto checked_out = pool.checkout();
    BOOST_TEST(pool.worker_status_of(idler).leased == 3u);
    pool.serve(idler);
    BOOST_REQUIRE(checked_out->value.has_value());
    BOOST_TEST(checked_out->value->worker().slot == idler);
}

BOOST_AUTO_TEST_CASE(one_place_leaves_the_others_to_all) {
    pool_with_lease pool(roomy_config(2), checkout_options().one_place());
    BOOST_TEST(pool.worker_status_of(0).leased == 1u);
    const auto other = pool.execute(request("other"));
    const auto waiting = pool.execute(request("waiting"));
    const auto id = pool.worker(0).take_call();
    BOOST_TEST(pool.status().queued == 1u); // the second place is the lease's
    const auto mine = pool.call("mine");
    const auto next = pool.call("next");
    const auto mine_id = pool.worker(0).take_call();
    BOOST_TEST(pool.status().queued == 2u);
    pool.worker(0).reply(mine_id);
    pool.run_until_idle();
    BOOST_TEST(mine->value.has_value());
    BOOST_TEST(pool.serve() == "next");
    pool.worker(0).reply(id);
    pool.run_until_idle();
    BOOST_TEST(pool.serve() == "waiting");
    pool.give_back();
    pool.execute(request("a"));
    pool.execute(request("b"));
    BOOST_TEST(pool.worker(0).take_calls().size() == 2u);
}

BOOST_AUTO_TEST_CASE(one_place_runs_one_call_at_a_time) {
    pool_with_lease pool(roomy_config(2), checkout_options().one_place());
    pool.call("first");
    pool.call("second");
    const auto first = pool.worker(0).take_call();
    const auto other = pool.execute(request("other"));
    BOOST_TEST(pool.serve() == "other");
    BOOST_TEST(pool.worker(0).take_calls().empty());
    pool.worker(0).reply(first);
    pool.run_until_idle();
    BOOST_TEST(pool.serve() == "second");
}

BOOST_AUTO_TEST_CASE(a_whole_worker_runs_as_many_of_its_calls_as_it_has_places) {
    pool_with_lease pool(roomy_config(2));
    const auto first = pool.call("first");
    const auto second = pool.call("second");
    const auto third = pool.call("third");
    const auto calls = pool.worker(0).take_calls();
    BOOST_REQUIRE(calls.size() == 2u);
    pool.worker(0).reply(id_of(calls[1]));
    pool.run_until_idle();
    BOOST_TEST(second->value.has_value());
    BOOST_TEST(pool.serve() == "third");
}

BOOST_AUTO_TEST_CASE(as_many_of_its_calls_wait_as_the_queue_has_room_for) {
    auto config = fake_config();
    config.queue.limit = 2;
    pool_with_lease pool(config);
    pool.call("running");
    const auto first = pool.call("first");
    const auto second = pool.call("second");
    const auto beyond = pool.call("beyond");
    BOOST_TEST((beyond->code() == errc::pool_saturated));
    BOOST_TEST(!first->done);
    BOOST_TEST(!second->done);
    BOOST_TEST(pool.serve() == "running");
    const auto next = pool.call("next");
    BOOST_TEST(pool.serve() == "first");
    BOOST_TEST(pool.serve() == "second");
    BOOST_TEST(pool.serve() == "next");
}

BOOST_AUTO_TEST_CASE(nothing_is_pipelined_to_a_leased_worker) {
    auto config = fake_config();
    config.pipeline_depth = 4;
    pool_with_lease pool(config);
    pool.call("mine");
    pool.execute(request("other"));
    BOOST_TEST(pool.worker(0).take_calls().size() == 1u);
    BOOST_TEST(pool.status().queued == 1u);
}

BOOST_AUTO_TEST_CASE(a_checkout_that_waits_ends_by_its_time_by_its_caller_or_with_the_pool) {
    pool_with_lease pool(fake_config());
    const auto hasty = pool.checkout(checkout_options().queue_timeout(100ms));
    const auto given_up = pool.checkout();
    const auto patient = pool.checkout();
    const auto call = pool.execute(request("other"));
    BOOST_TEST(pool.status().queued == 4u);
    pool.advance(100ms);
    BOOST_TEST((hasty->code() == errc::queue_timeout));
    check_mentions(hasty->text(), "no worker could be spared");
    BOOST_TEST((hasty->info().command == "checkout" && hasty->info().wait_time == 100ms));
    BOOST_TEST(hasty->info().queue_depth == 4u);
    given_up->cancel.emit(asio::cancellation_type::total);
    pool.run_until_idle();
    BOOST_TEST((given_up->code() == errc::cancelled));
    BOOST_TEST(pool.status().queued == 2u);
    const auto down = pool.shutdown();
    BOOST_TEST((patient->code() == errc::shutting_down));
}

BOOST_AUTO_TEST_CASE(a_checkout_that_drains_its_worker_can_be_given_up) {
    running_pool pool(roomy_config(2));
    pool.execute(request("busy"));
    const auto given_up = pool.checkout();
    const auto late = pool.checkout(checkout_options().queue_timeout(50ms));
    const auto other = pool.execute(request("other"));
    pool.advance(50ms);
    BOOST_TEST((late->code() == errc::queue_timeout));
    BOOST_TEST(pool.worker(0).take_calls().size() == 1u);
    given_up->cancel.emit(asio::cancellation_type::terminal);
    pool.run_until_idle();
    BOOST_TEST((given_up->code() == errc::cancelled));
    BOOST_TEST(pool.serve() == "other");
}

BOOST_AUTO_TEST_CASE(a_checkout_that_drains_its_worker_has_a_timeout_even_if_it_never_waited_in_the_queue) {
    running_pool pool(roomy_config(2));
    pool.execute(request("busy"));
    const auto late = pool.checkout(checkout_options().queue_timeout(50ms));
    BOOST_TEST(pool.worker_status_of(0).leased == 2u);
    pool.advance(50ms);
    BOOST_TEST((late->code() == errc::queue_timeout));
    BOOST_TEST(pool.worker_status_of(0).leased == 0u);
}

BOOST_AUTO_TEST_CASE(a_checkout_whose_worker_is_replaced_in_the_moment_of_its_timeout_ends) {
    auto config = roomy_config(2);
    config.cancel_grace = 50ms;
    running_pool pool(config);
    const auto overdue = pool.execute(request("overdue"));
    pool.worker(0).take_call();
    overdue->cancel.emit(asio::cancellation_type::terminal);
    const auto late = pool.checkout(checkout_options().queue_timeout(50ms));
    pool.advance(50ms);
    BOOST_TEST((late->code() == errc::no_worker));
}

BOOST_AUTO_TEST_CASE(who_waits_for_a_whole_worker_is_not_overtaken_by_calls_that_need_one_place) {
    pool_with_lease pool(roomy_config(2), checkout_options().one_place());
    const auto whole = pool.checkout();
    const auto other = pool.execute(request("other"));
    BOOST_TEST(pool.worker(0).take_calls().empty());
    BOOST_TEST(pool.status().queued == 2u);
    pool.give_back();
    BOOST_REQUIRE(whole->value.has_value());
    *whole->value = lease();
    pool.run_until_idle();
    BOOST_TEST(pool.serve() == "other");
}

BOOST_AUTO_TEST_CASE(a_call_behind_a_checkout_goes_to_another_worker_once_that_is_served) {
    running_pool pool(roomy_config(2, 2));
    const auto first = pool.checkout();
    const auto place = pool.checkout(checkout_options().one_place());
    BOOST_REQUIRE((first->value && place->value));
    const auto other = place->value->worker().slot;
    BOOST_TEST(first->value->worker().slot != other);
    const auto whole = pool.checkout();
    pool.execute(request("behind"));
    BOOST_TEST(pool.status().queued == 2u);
    *first->value = lease();
    pool.run_until_idle();
    BOOST_TEST(whole->value.has_value());
    BOOST_TEST(pool.serve(other) == "behind");
}

BOOST_AUTO_TEST_CASE(a_checkout_that_drains_its_worker_fails_with_the_start_of_the_pool) {
    auto config = roomy_config(2, 2);
    config.min_ready = 2;
    manual_pool pool(config);
    pool.runtime().on_start = [is_first = true](fake_worker& fresh) mutable {
        if (std::exchange(is_first, false)) {
            fresh.shake_hands();
        }
    };
    const auto start = pool.start();
    pool.execute(request("busy"));
    const auto checked_out = pool.checkout(checkout_options().queue_timeout(1h));
    BOOST_TEST(pool.worker_status_of(0).leased == 2u);
    pool.advance(config.start.timeout, 100ms);
    BOOST_TEST((checked_out->code() == errc::start_failed));
    pool.advance(30s, 100ms);
    BOOST_TEST((start->code() == errc::start_failed));
}

BOOST_AUTO_TEST_CASE(a_checkout_is_refused_like_a_call) {
    manual_pool fresh(fake_config());
    BOOST_TEST((fresh.checkout()->code() == errc::not_started));
    auto config = fake_config();
    config.queue.limit = 0;
    pool_with_lease full(config);
    BOOST_TEST((full.checkout()->code() == errc::pool_saturated));
    const auto wrong = full.checkout(checkout_options().leak_threshold(-1s).queue_timeout(400 * 24h));
    BOOST_TEST((wrong->code() == errc::invalid_config));
    check_mentions(wrong->text(), "leak_threshold");
    check_mentions(wrong->text(), "queue_timeout");
}

BOOST_AUTO_TEST_CASE(if_its_worker_dies_its_calls_fail_and_go_nowhere_else) {
    pool_with_lease pool(fake_config(2));
    const auto at_worker = pool.execute(pool.held, request("mine").idempotent(true));
    const auto waiting = pool.call("next");
    pool.leased().exit(exit_status::signalled(SIGSEGV));
    pool.run_until_idle();
    BOOST_TEST((at_worker->code() == errc::worker_lost));
    check_mentions(at_worker->text(), "it is bound to that worker");
    BOOST_TEST((waiting->code() == errc::worker_lost));
    BOOST_TEST((pool.call("later")->code() == errc::worker_lost));
    pool.advance(1s);
    BOOST_TEST(pool.launched() == 3u);
    pool.give_back();
    BOOST_TEST(pool.status().leases == 0u);
    pool.execute(request("a"));
    pool.execute(request("b"));
    BOOST_TEST(pool.status().in_flight == 2u);
}

BOOST_AUTO_TEST_CASE(a_worker_that_dies_as_it_drains_is_not_the_leases_loss) {
    running_pool pool(roomy_config(2, 2));
    for (int i = 0; i < 2; ++i) {
        pool.execute(request("busy"));
    }
    const auto checked_out = pool.checkout();
    const auto drained = pool.worker_status_of(0).leased > 0 ? 0u : 1u;
    pool.worker(drained).exit(exit_status::signalled(SIGKILL));
    pool.run_until_idle();
    BOOST_TEST(!checked_out->done);
    pool.serve(1 - drained);
    BOOST_REQUIRE(checked_out->value.has_value());
    BOOST_TEST(checked_out->value->worker().slot == 1 - drained);
}

BOOST_AUTO_TEST_CASE(a_checkout_whose_worker_dies_as_it_drains_keeps_its_place_in_the_queue) {
    running_pool pool(roomy_config(2, 2));
    pool.execute(request("busy"));
    pool.execute(request("busy"));
    const auto first = pool.checkout();
    const auto drained = pool.worker_status_of(0).leased > 0 ? 0u : 1u;
    const auto second = pool.checkout();
    const auto third = pool.checkout();
    pool.runtime().on_start = never_ready;
    pool.worker(drained).exit(exit_status::signalled(SIGKILL));
    pool.run_until_idle();
    pool.serve(1 - drained);
    BOOST_REQUIRE(second->value.has_value());
    *second->value = lease();
    pool.run_until_idle();
    BOOST_TEST(first->value.has_value());
    BOOST_TEST(!third->done);
}

BOOST_AUTO_TEST_CASE(given_back_with_calls_open_it_cancels_them_and_waits_for_their_end) {
    pool_with_lease pool(fake_config());
    const auto running = pool.call("mine");
    const auto waiting = pool.call("next");
    const auto other = pool.execute(request("other"));
    const auto id = pool.worker(0).take_call();
    pool.give_back();
    BOOST_TEST((running->code() == errc::cancelled));
    BOOST_TEST((waiting->code() == errc::cancelled));
    BOOST_TEST(pool.worker(0).take_controls("cancel").size() == 1u);
    BOOST_TEST(pool.worker(0).take_calls().empty());
    pool.worker(0).reply(id);
    pool.run_until_idle();
    BOOST_TEST(pool.serve() == "other");
}

BOOST_AUTO_TEST_CASE(given_back_it_cancels_calls_of_a_worker_that_was_on_its_way_out) {
    auto config = roomy_config(2);
    config.cancel_grace = 1s;
    pool_with_lease pool(config);
    const auto running = pool.call("mine");
    const auto overdue = pool.call("overdue");
    overdue->cancel.emit(asio::cancellation_type::terminal);
    pool.advance(2s);
    BOOST_TEST((pool.call("later")->code() == errc::worker_lost));
    BOOST_TEST(!running->done);
    pool.give_back();
    BOOST_TEST((running->code() == errc::cancelled));
}

BOOST_AUTO_TEST_CASE(its_calls_and_its_reset_wait_for_a_probe_in_their_place) {
    auto config = fake_config();
    config.health_check.command = "probe";
    pool_with_lease pool(config, checkout_options().reset(request("reset")));
    pool.advance(30s, 1s);
    pool.call("mine");
    BOOST_TEST(pool.serve() == "probe");
    BOOST_TEST(pool.serve() == "mine");
    pool.advance(30s, 1s);
    pool.give_back();
    BOOST_TEST(pool.serve() == "probe");
    BOOST_TEST(pool.serve() == "reset");
}

BOOST_AUTO_TEST_CASE(a_call_after_its_end_is_refused) {
    pool_with_lease pool(fake_config());
    auto moved = std::move(pool.held);
    BOOST_TEST(!pool.held);
    BOOST_TEST((pool.call("mine")->code() == errc::invalid_request));
    BOOST_TEST((pool.stream(pool.held, request("mine"))->code() == errc::invalid_request));
    BOOST_CHECK_THROW(pool.held.worker(), std::logic_error);
    BOOST_TEST(pool.begin(pool.held.close())->value.has_value());
    pool.held = std::move(moved);
    const auto mine = pool.call("mine");
    BOOST_TEST(pool.serve() == "mine");
}

BOOST_AUTO_TEST_CASE(close_returns_when_others_can_have_the_worker) {
    pool_with_lease pool(fake_config());
    pool.call("mine");
    const auto id = pool.worker(0).take_call();
    const auto closed = pool.begin(pool.held.close());
    BOOST_TEST(!closed->done);
    BOOST_TEST(!pool.held);
    pool.worker(0).reply(id);
    pool.run_until_idle();
    BOOST_TEST(closed->value.has_value());
    BOOST_TEST(pool.status().leases == 0u);
}

BOOST_AUTO_TEST_CASE(close_returns_when_its_worker_ends) {
    for (const bool is_at_call : {false, true}) {
        pool_with_lease pool(fake_config(), checkout_options().reset(request("reset")));
        if (is_at_call) {
            pool.call("mine");
        }
        const auto closed = pool.begin(pool.held.close());
        BOOST_TEST(pool.worker(0).take_calls().size() == 1u); // mine, or reset
        BOOST_TEST(!closed->done);
        pool.worker(0).exit(exit_status::signalled(SIGKILL));
        pool.run_until_idle();
        BOOST_TEST(closed->value.has_value());
        BOOST_TEST(pool.status().leases == 0u);
    }
}

BOOST_AUTO_TEST_CASE(a_wait_for_close_can_be_given_up_and_the_return_goes_on) {
    pool_with_lease pool(fake_config());
    pool.call("mine");
    const auto id = pool.worker(0).take_call();
    const auto closed = pool.begin(pool.held.close());
    closed->cancel.emit(asio::cancellation_type::total);
    pool.run_until_idle();
    BOOST_TEST((closed->code() == errc::cancelled));
    pool.worker(0).reply(id);
    pool.run_until_idle();
    BOOST_TEST(pool.status().leases == 0u);
}

BOOST_AUTO_TEST_CASE(streams_run_in_its_worker_too) {
    pool_with_lease pool(fake_config(2));
    const auto opened = pool.stream(pool.held, request("count"));
    const auto id = pool.leased().take_call();
    pool.leased().chunk(id, 1);
    pool.leased().reply(id);
    pool.run_until_idle();
    auto& stream = *opened->value;
    BOOST_TEST((pool.next(stream)->value->value().value == 1));
    BOOST_TEST(!pool.next(stream)->value->has_value());
    BOOST_TEST((stream.result().worker == pool.held.worker()));
}

BOOST_AUTO_TEST_CASE(the_reset_command_runs_before_the_next_use) {
    pool_with_lease pool(fake_config(), checkout_options().reset(request("reset")));
    const auto other = pool.execute(request("other"));
    pool.call("mine");
    BOOST_TEST(pool.serve() == "mine");
    const auto closed = pool.begin(pool.held.close());
    BOOST_TEST(!closed->done);
    BOOST_TEST(pool.serve() == "reset");
    BOOST_TEST(closed->value.has_value());
    BOOST_TEST(pool.serve() == "other");
}

BOOST_AUTO_TEST_CASE(a_worker_whose_reset_fails_is_replaced) {
    pool_with_lease pool(fake_config(), checkout_options().reset(request("reset")));
    const auto other = pool.execute(request("other"));
    pool.give_back();
    pool.worker(0).fail(pool.worker(0).take_call(), "ValueError", "no");
    pool.run_until_idle();
    BOOST_TEST(pool.worker(0).take_calls().empty());
    pool.worker(0).exit(exit_status::signalled(SIGTERM));
    pool.advance(5s);
    BOOST_TEST(pool.launched() == 2u);
    BOOST_TEST(pool.serve(1) == "other");
    BOOST_TEST(pool.counters().workers_replaced == 1u);
    BOOST_TEST(pool.status().leases == 0u);
}

BOOST_AUTO_TEST_CASE(a_worker_whose_reset_takes_too_long_is_replaced) {
    pool_with_lease pool(fake_config(), checkout_options().reset(request("reset").timeout(1s)));
    pool.give_back();
    pool.worker(0).take_call();
    pool.advance(1s);
    BOOST_TEST(pool.counters().timeouts == 1u);
    pool.advance(10s);
    BOOST_TEST(pool.counters().workers_replaced == 1u);
    BOOST_TEST(pool.status().leases == 0u);
    pool.execute(request("other"));
    BOOST_TEST(pool.serve(pool.launched() - 1) == "other");
}

BOOST_AUTO_TEST_CASE(a_reset_command_that_cannot_be_sent_is_refused_at_the_checkout) {
    auto config = fake_config();
    config.limits.frame_bytes = 64u << 10;
    running_pool pool(config);
    auto large = request("reset").arg("text", std::string(100u << 10, 'x'));
    BOOST_TEST((pool.checkout(checkout_options().reset(std::move(large)))->code() == errc::frame_too_large));
    pool.execute(request("other"));
    BOOST_TEST(pool.serve() == "other");
}

BOOST_AUTO_TEST_CASE(a_lease_held_for_too_long_is_logged_with_the_place_of_its_checkout) {
    const log_capture log;
    auto config = fake_config();
    config.lease.leak_threshold = 10s;
    config.log_level = log_level::warning;
    config.log_handler = capturing_handler();
    pool_with_lease pool(config);
    pool.advance(9s);
    BOOST_TEST(log.count("may have leaked") == 0);
    pool.advance(10s);
    pool.advance(5min);
    BOOST_TEST(log.count("may have leaked") == 1);
    check_mentions(log.text(), "a lease of default/0#1 has been held for 10000 ms");
    check_mentions(log.text(), "fake_runtime.cpp:");
    const auto mine = pool.call("mine");
    BOOST_TEST(pool.serve() == "mine");
}

BOOST_AUTO_TEST_CASE(a_threshold_of_its_own_counts_from_when_the_lease_was_handed_over) {
    const log_capture log;
    auto config = fake_config();
    config.lease.leak_threshold = 1h;
    config.log_level = log_level::warning;
    config.log_handler = capturing_handler();
    running_pool pool(config);
    std::vector<duration> told;
    const auto listening = pool.facade().events().listen<events::lease_leaked>(
        pool.context.get_executor(),
        [&](const events::lease_leaked& each) { told.push_back(each.held_for); });
    pool.execute(request("busy"));
    const auto held = pool.checkout(checkout_options().leak_threshold(10s));
    pool.advance(2s, 1s);
    pool.serve();
    pool.advance(9s, 1s);
    BOOST_TEST((held->value.has_value() && told.empty()));
    pool.advance(1min, 1s);
    BOOST_TEST((told == std::vector<duration>{10s}));
    check_mentions(log.text(), "has been held for 10000 ms");
}

BOOST_AUTO_TEST_CASE(a_leased_worker_is_neither_recycled_nor_scaled_down) {
    auto config = fake_config();
    config.recycle.calls = 2;
    config.recycle.jitter = 0;
    pool_with_lease pool(config);
    for (int i = 0; i < 5; ++i) {
        pool.call("mine");
        BOOST_TEST(pool.serve() == "mine");
        pool.advance(1s);
    }
    BOOST_TEST(pool.launched() == 1u);
    pool.give_back();
    pool.advance(30s);
    BOOST_TEST(pool.launched() == 2u);
}

BOOST_AUTO_TEST_CASE(its_calls_wait_while_its_worker_is_suspended) {
    pool_with_lease pool(fake_config());
    pool.begin(pool.facade().suspend());
    const auto mine = pool.call("mine");
    BOOST_TEST(pool.worker(0).take_calls().empty());
    pool.begin(pool.facade().resume());
    BOOST_TEST(pool.serve() == "mine");
}

BOOST_AUTO_TEST_CASE(a_pool_shuts_down_and_ends_under_its_leases) {
    pool_with_lease pool(fake_config());
    const auto down = pool.shutdown();
    BOOST_TEST((pool.call("mine")->code() == errc::shutting_down));
    pool.worker(0).exit(exit_status::exited(0));
    pool.advance(5s);
    BOOST_REQUIRE(down->value.has_value());
    BOOST_TEST((pool.call("mine")->code() == errc::shutting_down));
    pool.destroy_pool();
    pool.run_until_idle();
    BOOST_TEST((pool.call("mine")->code() == errc::shutting_down));
    BOOST_TEST(pool.begin(pool.held.close())->value.has_value());
}

BOOST_AUTO_TEST_CASE(calls_that_wait_for_a_place_end_with_the_pool_and_are_counted_once) {
    auto config = fake_config();
    config.stop.drain_timeout = 1s;
    pool_with_lease pool(config);
    const auto running = pool.call("mine");
    const auto waiting = pool.call("next");
    const auto down = pool.shutdown();
    pool.advance(60s, 1s);
    BOOST_TEST((running->code() == errc::shutting_down));
    BOOST_TEST((waiting->code() == errc::shutting_down));
    BOOST_REQUIRE(down->value.has_value());
    BOOST_TEST(down->value->calls_aborted == 2u);
    pool.give_back();
}

BOOST_AUTO_TEST_CASE(a_lease_may_outlive_a_pool_that_was_never_shut_down) {
    pool_with_lease pool(fake_config());
    const auto running = pool.call("mine");
    pool.destroy_pool();
    pool.run_until_idle();
    BOOST_TEST((running->code() == errc::shutting_down));
    pool.give_back();
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
