// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Sessions and the workers that serve them, on virtual time.

#include "policy/affinity_rule.hpp"
#include "support/complete.hpp"
#include "support/fake_runtime.hpp"
#include <skep/session_store.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <csignal>
#include <memory>
#include <string>

namespace skep::test {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(affinity)

namespace {

constexpr auto hint = affinity_mode::hint;
constexpr auto strict_queue = affinity_mode::strict_queue;
constexpr auto strict_fail_fast = affinity_mode::strict_fail_fast;

pool_config affine_config(affinity_mode mode, std::size_t workers = 2) {
    auto config = fake_config(workers);
    config.affinity.mode = mode;
    config.recycle.jitter = 0;
    return config;
}

/// Its workers are all free, and session "s" has been served by the first.
class pool_with_session : public running_pool {
public:
    explicit pool_with_session(pool_config config) : running_pool(std::move(config)) {
        const auto first = call("first");
        home = index_of_busy();
        serve(home);
        BOOST_REQUIRE(first->value.has_value());
    }
    explicit pool_with_session(affinity_mode mode, std::size_t workers = 2)
        : pool_with_session(affine_config(mode, workers)) {}

    std::shared_ptr<outcome<reply>> call(std::string command, std::string session = "s") {
        return execute(request(std::move(command)).session(std::move(session)));
    }

    /// Which worker has a call.
    std::size_t index_of_busy() {
        for (const auto& each : status().workers) {
            if (each.load > 0) {
                return each.id.slot;
            }
        }
        BOOST_FAIL("no worker is at a call");
        return 0;
    }

    /// Keeps the worker of the session busy with a call of it.
    std::uint64_t occupy_home() {
        call("occupy");
        return worker(home).take_call();
    }

    void forget() {
        auto forgetting = [this]() -> asio::awaitable<void> {
            auto running = facade().forget_session("s");
            co_await std::move(running);
        };
        begin(forgetting());
    }

    void kill_home() {
        worker(home).exit(exit_status::signalled(SIGKILL));
        run_until_idle();
    }

    std::size_t other() const noexcept { return 1 - home; }
    std::size_t home = 0;
};

} // namespace

BOOST_AUTO_TEST_CASE(the_rule) {
    using step = affinity_step;
    for (const auto mode : {hint, strict_queue, strict_fail_fast}) {
        BOOST_TEST((step_of(mode, session_home::none) == step::anywhere));
        BOOST_TEST((step_of(mode, session_home::free) == step::go_home));
    }
    static_assert(step_of(hint, session_home::busy) == step::anywhere);
    static_assert(step_of(hint, session_home::lost) == step::anywhere);
    static_assert(step_of(strict_queue, session_home::busy) == step::wait_for_home);
    static_assert(step_of(strict_queue, session_home::lost) == step::refuse_as_lost);
    static_assert(step_of(strict_fail_fast, session_home::busy) == step::refuse_as_busy);
    static_assert(step_of(strict_fail_fast, session_home::lost) == step::refuse_as_lost);
    static_assert(step_of(hint, session_home::elsewhere) == step::anywhere);
    static_assert(step_of(strict_queue, session_home::elsewhere) == step::refuse_as_elsewhere);
    static_assert(step_of(strict_fail_fast, session_home::elsewhere) == step::refuse_as_busy);
}

BOOST_AUTO_TEST_CASE(calls_of_a_session_meet_the_same_worker) {
    for (const auto mode : {hint, strict_queue, strict_fail_fast}) {
        pool_with_session pool(mode);
        for (int i = 0; i < 3; ++i) {
            pool.execute(request("busy"));
            pool.execute(request("busy"));
            pool.serve(pool.home);
            pool.serve(pool.other()); // the last one used, which others would be sent to
            pool.call("mine");
            BOOST_TEST(pool.serve(pool.home) == "mine");
        }
    }
}

BOOST_AUTO_TEST_CASE(two_quick_first_calls_meet_the_same_worker) {
    running_pool pool(affine_config(strict_queue));
    const auto first = pool.execute(request("first").session("s"));
    const auto second = pool.execute(request("second").session("s"));
    BOOST_TEST(pool.status().queued == 1u);
    BOOST_TEST(pool.status().sessions == 1u);
    const auto home = pool.status().workers[0].load > 0 ? 0 : 1;
    BOOST_TEST(pool.serve(home) == "first");
    BOOST_TEST(pool.serve(home) == "second");
    BOOST_TEST((first->value->worker == second->value->worker));
}

BOOST_AUTO_TEST_CASE(first_calls_that_have_waited_meet_the_same_worker_in_order) {
    running_pool pool(affine_config(strict_queue));
    pool.execute(request("busy"));
    pool.execute(request("busy"));
    const auto first = pool.execute(request("first").session("s"));
    const auto second = pool.execute(request("second").session("s"));
    pool.serve(0);
    const auto third = pool.execute(request("third").session("s"));
    pool.serve(1); // free now, but the session is served by the other
    BOOST_TEST(pool.status().queued == 2u);
    BOOST_TEST(pool.serve(0) == "first");
    BOOST_TEST(pool.serve(0) == "second");
    BOOST_TEST(pool.serve(0) == "third");
    BOOST_TEST((first->value->worker == third->value->worker));
}

BOOST_AUTO_TEST_CASE(a_hint_falls_back_to_another_which_serves_the_session_from_then_on) {
    pool_with_session pool(hint);
    const auto id = pool.occupy_home();
    const auto second = pool.call("second");
    BOOST_TEST(pool.serve(pool.other()) == "second");
    pool.worker(pool.home).reply(id);
    pool.run_until_idle();
    pool.call("third");
    BOOST_TEST(pool.serve(pool.other()) == "third");
}

BOOST_AUTO_TEST_CASE(a_hint_waits_for_whoever_is_free_first) {
    pool_with_session pool(hint);
    pool.occupy_home();
    pool.execute(request("busy"));
    const auto waiting = pool.call("waiting");
    pool.serve(pool.other());
    BOOST_TEST(pool.serve(pool.other()) == "waiting");
    BOOST_TEST(waiting->value.has_value());
}

BOOST_AUTO_TEST_CASE(a_hint_goes_elsewhere_if_its_worker_is_gone) {
    pool_with_session pool(hint);
    pool.kill_home();
    pool.call("next");
    BOOST_TEST(pool.serve(pool.other()) == "next");
}

BOOST_AUTO_TEST_CASE(a_strict_call_waits_for_its_worker_and_others_overtake_it) {
    pool_with_session pool(strict_queue);
    const auto id = pool.occupy_home();
    const auto waiting = pool.call("waiting");
    const auto overtaker = pool.execute(request("overtaker"));
    BOOST_TEST(pool.serve(pool.other()) == "overtaker");
    BOOST_TEST(!waiting->done);
    pool.worker(pool.home).reply(id);
    pool.run_until_idle();
    BOOST_TEST(pool.serve(pool.home) == "waiting");
}

BOOST_AUTO_TEST_CASE(a_strict_call_waits_for_its_queue_timeout) {
    pool_with_session pool(strict_queue);
    pool.occupy_home();
    const auto waiting = pool.execute(request("waiting").session("s").queue_timeout(1s));
    pool.advance(1s);
    BOOST_TEST(waiting->code() == errc::queue_timeout);
    BOOST_TEST(waiting->text().find("the worker of its session was busy") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_strict_call_counts_against_the_limit_of_the_queue) {
    auto config = affine_config(strict_queue);
    config.queue.limit = 1;
    pool_with_session pool(config);
    pool.occupy_home();
    pool.call("waiting");
    BOOST_TEST(pool.call("too many")->code() == errc::pool_saturated);
}

BOOST_AUTO_TEST_CASE(fail_fast_tells_that_the_worker_is_busy) {
    pool_with_session pool(strict_fail_fast);
    pool.occupy_home();
    const auto refused = pool.call("refused");
    BOOST_TEST(refused->code() == errc::worker_busy);
    BOOST_TEST((refused->info().worker->slot == pool.home));
    BOOST_TEST(retryable(refused->code()));
    BOOST_TEST(pool.status().queued == 0u);
}

BOOST_AUTO_TEST_CASE(strict_calls_are_refused_once_their_worker_is_gone_until_the_session_is_forgotten) {
    for (const auto mode : {strict_queue, strict_fail_fast}) {
        pool_with_session pool(mode);
        pool.kill_home();
        pool.advance(1s);
        for (int i = 0; i < 2; ++i) {
            const auto refused = pool.call("refused");
            BOOST_TEST(refused->code() == errc::session_worker_unavailable);
        }
        std::optional<bool> was_known;
        auto forget = [&]() -> asio::awaitable<void> {
            auto forgetting = pool.facade().forget_session("s");
            was_known = co_await std::move(forgetting);
        };
        pool.begin(forget());
        BOOST_TEST((was_known == true));
        pool.begin(forget());
        BOOST_TEST((was_known == false));
        const auto anew = pool.call("anew");
        BOOST_TEST(anew->code() == errc());
        BOOST_TEST(pool.status().in_flight == 1u);
    }
}

BOOST_AUTO_TEST_CASE(strict_calls_that_wait_fail_at_once_when_their_worker_goes) {
    pool_with_session pool(strict_queue);
    const auto running = pool.call("running");
    const auto waiting = pool.call("waiting");
    const auto other = pool.call("of another", "t");
    pool.worker(pool.home).take_calls();
    pool.kill_home();
    BOOST_TEST(running->code() == errc::worker_lost);
    BOOST_TEST(waiting->code() == errc::session_worker_unavailable);
    BOOST_TEST(pool.serve(pool.other()) == "of another");
    BOOST_TEST(other->value.has_value());
}

BOOST_AUTO_TEST_CASE(an_idempotent_strict_call_is_not_sent_to_another_worker) {
    pool_with_session pool(strict_queue);
    const auto running = pool.execute(request("running").session("s").idempotent(true));
    pool.worker(pool.home).take_calls();
    const auto tokens = pool.status().retry_tokens;
    pool.kill_home();
    BOOST_TEST(running->code() == errc::worker_lost);
    BOOST_TEST(pool.status().retry_tokens == tokens); // a retry that may not be costs nothing
    const auto elsewhere = pool.execute(request("hint").session("t").idempotent(true).affinity(hint));
    BOOST_TEST(pool.serve(pool.other()) == "hint");
    BOOST_TEST(elsewhere->value.has_value());
}

BOOST_AUTO_TEST_CASE(an_idempotent_call_with_a_hint_is) {
    pool_with_session pool(hint);
    const auto running = pool.execute(request("running").session("s").idempotent(true));
    pool.worker(pool.home).take_calls();
    pool.kill_home();
    BOOST_TEST(pool.serve(pool.other()) == "running");
    BOOST_TEST(running->value.has_value());
}

BOOST_AUTO_TEST_CASE(the_request_decides_before_the_pool) {
    pool_with_session pool(hint);
    const auto id = pool.occupy_home();
    BOOST_TEST(pool.execute(request("r").session("s").affinity(strict_fail_fast))->code() ==
               errc::worker_busy);
    pool.worker(pool.home).reply(id);
    pool.run_until_idle();
}

BOOST_AUTO_TEST_CASE(a_session_that_is_not_used_is_forgotten) {
    auto config = affine_config(strict_queue);
    config.affinity.ttl = 10s;
    pool_with_session pool(config);
    pool.kill_home();
    pool.advance(9s);
    BOOST_TEST(pool.call("lost")->code() == errc::session_worker_unavailable);
    pool.advance(2s); // being refused is no use
    BOOST_TEST(pool.status().sessions == 0u);
    const auto anew = pool.call("anew");
    BOOST_TEST(anew->code() == errc());
}

BOOST_AUTO_TEST_CASE(a_session_that_ends_in_the_store_is_forgotten) {
    const auto store = std::make_shared<session_store>();
    auto config = affine_config(strict_queue);
    config.sessions = store;
    for (const bool expires : {true, false}) {
        pool_with_session pool(config);
        complete(store->create("s", session_data().ttl(10s)));
        pool.kill_home();
        pool.advance(expires ? 11s : 1s);
        BOOST_TEST(pool.call("lost")->code() == errc::session_worker_unavailable);
        const bool is_over =
            expires ? complete(store->cleanup_expired()) == 1u : complete(store->remove("s"));
        BOOST_TEST(is_over);
        pool.run_until_idle();
        BOOST_TEST(pool.status().sessions == 0u);
        BOOST_TEST(pool.call("anew")->code() == errc());
    }
}

BOOST_AUTO_TEST_CASE(a_call_that_finds_its_session_expired_in_the_store_begins_it_anew) {
    const auto store = std::make_shared<session_store>();
    auto config = affine_config(strict_queue);
    config.sessions = store;
    pool_with_session pool(config);
    complete(store->create("s", session_data().ttl(10s)));
    pool.advance(11s);
    pool.call("late"); // which is an access of what is no more
    BOOST_TEST(pool.status().sessions == 1u);
    BOOST_TEST(pool.serve(pool.home) == "late");
    pool.call("next");
    BOOST_TEST(pool.serve(pool.home) == "next");
}

BOOST_AUTO_TEST_CASE(a_session_of_which_a_call_waits_is_in_use) {
    auto config = affine_config(strict_queue);
    config.affinity.ttl = 10s;
    config.queue.timeout = 1min;
    pool_with_session pool(config);
    const auto id = pool.occupy_home();
    pool.call("waiting");
    pool.advance(30s);
    pool.call("next");
    pool.worker(pool.home).reply(id);
    pool.run_until_idle();
    BOOST_TEST(pool.serve(pool.home) == "waiting");
    BOOST_TEST(pool.serve(pool.home) == "next");
}

BOOST_AUTO_TEST_CASE(so_is_one_of_which_a_call_runs_however_long) {
    auto config = affine_config(strict_queue);
    config.affinity.ttl = 1s;
    for (const bool is_stream : {false, true}) {
        pool_with_session pool(config);
        const auto running = request("long").session("s").timeout(1h);
        std::shared_ptr<manual_pool::outcome<reply_stream>> stream;
        if (is_stream) {
            stream = pool.stream(request(running).idle_timeout(0s));
        } else {
            pool.execute(running);
        }
        const auto id = pool.worker(pool.home).take_call();
        pool.advance(5s, 500ms); // many times its ttl
        const auto next = pool.call("next");
        BOOST_TEST(pool.worker(pool.other()).take_calls().empty());
        BOOST_TEST(pool.status().queued == 1u);
        pool.worker(pool.home).reply(id);
        pool.run_until_idle();
        BOOST_TEST(pool.serve(pool.home) == "next");
        pool.advance(900ms, 100ms); // from the end of the last one
        pool.execute(request("busy"));
        pool.execute(request("busy"));
        pool.serve(pool.other());
        pool.serve(pool.home);
        BOOST_TEST(pool.status().sessions == 1u);
        pool.advance(2s, 100ms);
        BOOST_TEST(pool.status().sessions == 0u);
    }
}

BOOST_AUTO_TEST_CASE(so_is_one_of_which_a_call_was_given_up_until_its_worker_is_through) {
    auto config = affine_config(strict_queue);
    config.affinity.ttl = 1s;
    config.cancel_grace = 10s;
    pool_with_session pool(config);
    const auto given_up = pool.execute(request("long").session("s").timeout(1s));
    const auto id = pool.worker(pool.home).take_call();
    pool.advance(5s, 500ms);
    BOOST_TEST(given_up->code() == errc::timeout);
    const auto next = pool.call("next");
    BOOST_TEST(pool.worker(pool.other()).take_calls().empty());
    pool.worker(pool.home).fail(id, "skep.Cancelled", "late");
    pool.run_until_idle();
    BOOST_TEST(pool.serve(pool.home) == "next");
    BOOST_TEST(next->value.has_value());
    pool.advance(2s, 100ms);
    BOOST_TEST(pool.status().sessions == 0u);
}

BOOST_AUTO_TEST_CASE(so_is_one_of_which_a_call_was_given_up_until_its_worker_ends) {
    auto config = affine_config(strict_queue);
    config.affinity.ttl = 10s;
    config.cancel_grace = 1min;
    pool_with_session pool(config);
    pool.execute(request("long").session("s").timeout(1s));
    pool.advance(30s, 1s);
    BOOST_TEST(pool.status().sessions == 1u);
    pool.kill_home();
    BOOST_TEST(pool.call("lost")->code() == errc::session_worker_unavailable);
    pool.advance(11s, 1s);
    BOOST_TEST(pool.status().sessions == 0u);
}

BOOST_AUTO_TEST_CASE(a_session_that_is_forgotten_while_a_call_of_it_runs_begins_anew_and_is_in_use) {
    auto config = affine_config(strict_queue);
    config.affinity.ttl = 1s;
    pool_with_session pool(config);
    const auto id = pool.occupy_home();
    pool.forget();
    pool.call("anew");
    const auto anew = pool.worker(pool.other()).take_call();
    pool.worker(pool.home).reply(id);
    pool.run_until_idle();
    pool.advance(5s, 500ms);
    const auto next = pool.call("next"); // the call at its new worker still runs
    BOOST_TEST(pool.worker(pool.home).take_calls().empty());
    pool.worker(pool.other()).reply(anew);
    pool.run_until_idle();
    BOOST_TEST(pool.serve(pool.other()) == "next");
    pool.advance(5s, 500ms);
    BOOST_TEST(pool.status().sessions == 0u);
}

BOOST_AUTO_TEST_CASE(what_waits_for_long_does_not_go_elsewhere_when_its_worker_is_lost) {
    auto config = affine_config(strict_queue);
    config.affinity.ttl = 10s;
    config.queue.timeout = 1min;
    pool_with_session pool(config);
    pool.occupy_home();
    const auto first = pool.call("first");
    pool.advance(30s);
    const auto second = pool.call("second");
    pool.kill_home();
    BOOST_TEST(first->code() == errc::session_worker_unavailable);
    BOOST_TEST(second->code() == errc::session_worker_unavailable);
}

BOOST_AUTO_TEST_CASE(a_call_that_was_begun_once_is_not_told_that_it_never_came_to_its_worker) {
    auto config = affine_config(strict_queue, 3);
    config.retry.backoff = {5s};
    pool_with_session pool(config);
    const auto retried =
        pool.execute(request("retried").session("s").idempotent(true)); // on the home of its session
    pool.worker(pool.home).take_call();
    pool.forget();
    pool.call("anew");
    const auto status = pool.status();
    const auto busy = [&](const auto& each) { return each.load > 0 && each.id.slot != pool.home; };
    const auto next_home = std::find_if(status.workers.begin(), status.workers.end(), busy);
    BOOST_REQUIRE(next_home != status.workers.end());
    pool.kill_home();
    pool.worker(next_home->id.slot).exit(exit_status::signalled(SIGKILL));
    pool.advance(10s);
    BOOST_TEST(retried->code() == errc::worker_lost);
}

BOOST_AUTO_TEST_CASE(nor_is_one_that_another_worker_had_begun_before_its_own_was_lost) {
    auto config = affine_config(strict_queue);
    config.pipeline_depth = 1;
    pool_with_session pool(config);
    const auto retried = pool.execute(request("retried").session("s").idempotent(true));
    pool.worker(pool.home).take_call();
    pool.execute(request("busy"));
    pool.worker(pool.other()).take_call();
    pool.forget();
    pool.kill_home();
    pool.worker(pool.other())
        .exit(exit_status::signalled(SIGKILL)); // which has it behind the other, not begun
    pool.run_until_idle();
    BOOST_TEST(retried->code() == errc::worker_lost);
}

BOOST_AUTO_TEST_CASE(calls_of_a_session_that_is_forgotten_go_elsewhere_in_order) {
    pool_with_session pool(strict_queue);
    pool.occupy_home();
    pool.execute(request("busy"));
    pool.call("first");
    pool.call("second");
    pool.forget();
    pool.call("third");
    BOOST_TEST(pool.serve(pool.other()) == "busy");
    for (const auto* each : {"first", "second", "third"}) {
        BOOST_TEST(pool.serve(pool.other()) == each);
    }
}

BOOST_AUTO_TEST_CASE(each_call_that_is_assigned_is_a_use) {
    auto config = affine_config(strict_queue);
    config.affinity.ttl = 10s;
    pool_with_session pool(config);
    for (int i = 0; i < 3; ++i) {
        pool.advance(9s);
        BOOST_TEST(pool.status().sessions == 1u);
        pool.call("use");
        BOOST_TEST(pool.serve(pool.home) == "use");
    }
}

BOOST_AUTO_TEST_CASE(a_worker_that_sessions_are_strictly_bound_to_is_not_restarted_before_they_are_over) {
    for (const auto mode : {strict_queue, strict_fail_fast}) {
        auto config = affine_config(mode, 1);
        config.affinity.ttl = 30s;
        pool_with_session pool(config);
        const auto restart = pool.begin(pool.facade().rolling_restart());
        pool.advance(20s);
        BOOST_TEST(pool.launched() == 1u);
        pool.call("still there");
        BOOST_TEST(pool.serve(0) == "still there");
        pool.advance(35s);
        BOOST_TEST(pool.launched() == 2u);
        BOOST_TEST(restart->done);
    }
}

BOOST_AUTO_TEST_CASE(a_session_that_comes_while_the_successor_starts_keeps_its_worker) {
    auto config = affine_config(strict_queue, 1);
    config.affinity.ttl = 30s;
    running_pool pool(config);
    pool.runtime().on_start = [](fake_worker&) {};
    pool.begin(pool.facade().rolling_restart());
    pool.advance(1s);
    BOOST_TEST(pool.launched() == 2u);
    pool.execute(request("bound").session("s"));
    pool.worker(1).shake_hands();
    BOOST_TEST(pool.serve(0) == "bound");
    pool.execute(request("again").session("s"));
    BOOST_TEST(pool.serve(0) == "again");
}

BOOST_AUTO_TEST_CASE(sessions_move_on_when_a_worker_is_restarted_if_that_is_wanted) {
    auto config = affine_config(strict_queue, 1);
    config.affinity.on_recycle = affinity_on_recycle::move;
    pool_with_session pool(config);
    const auto id = pool.occupy_home();
    const auto waiting = pool.call("waiting");
    const auto restart = pool.begin(pool.facade().rolling_restart());
    pool.advance(1s);
    BOOST_TEST(pool.launched() == 2u);
    BOOST_TEST(pool.serve(1) == "waiting");
    pool.worker(0).reply(id);
    pool.advance(1s);
    BOOST_TEST(restart->done);
    pool.call("next");
    BOOST_TEST(pool.serve(1) == "next");
}

BOOST_AUTO_TEST_CASE(sessions_move_on_when_their_worker_is_scaled_away_if_that_is_wanted) {
    auto config = affine_config(strict_queue);
    config.affinity.on_recycle = affinity_on_recycle::move;
    pool_with_session pool(config);
    pool.execute(request("busy")); // at one of them
    pool.call("of t", "t");        // at the other
    pool.serve(0);
    pool.serve(1);
    pool.begin(pool.facade().resize(size_limits(1)));
    pool.advance(20s, 100ms);
    BOOST_TEST(pool.status().live == 1u);
    const auto of_s = pool.call("next of s");
    const auto of_t = pool.call("next of t", "t");
    BOOST_TEST((of_s->code() == errc() && of_t->code() == errc()));
}

BOOST_AUTO_TEST_CASE(calls_that_only_one_worker_can_serve_do_not_call_for_more_workers) {
    auto config = affine_config(strict_queue);
    config.scaling.min = 2;
    config.scaling.max = 4;
    config.queue.timeout = 1min;
    pool_with_session pool(config);
    const auto id = pool.occupy_home();
    for (int i = 0; i < 5; ++i) {
        pool.call("waiting");
    }
    pool.advance(20s, 100ms);
    BOOST_TEST(pool.status().queued == 5u);
    BOOST_TEST(pool.launched() == 2u);
    pool.execute(request("other"));
    for (int i = 0; i < 5; ++i) {
        pool.execute(request("others"));
    }
    pool.advance(20s, 100ms);
    BOOST_TEST(pool.launched() > 2u);
    pool.worker(pool.home).reply(id);
    pool.run_until_idle();
}

BOOST_AUTO_TEST_CASE(a_call_that_may_go_anywhere_does_not_take_a_strict_session_along) {
    pool_with_session pool(strict_queue);
    const auto id = pool.occupy_home();
    const auto elsewhere = pool.execute(request("hint").session("s").affinity(hint));
    BOOST_TEST(pool.serve(pool.other()) == "hint");
    const auto strict = pool.call("strict");
    BOOST_TEST(pool.worker(pool.other()).take_calls().empty());
    pool.worker(pool.home).reply(id);
    pool.run_until_idle();
    BOOST_TEST(pool.serve(pool.home) == "strict");
    BOOST_TEST(strict->value.has_value());
}

BOOST_AUTO_TEST_CASE(nor_a_session_that_a_strict_call_waits_to_bind) {
    pool_with_session pool(hint);
    const auto id = pool.occupy_home();
    const auto first = pool.execute(request("first").session("s").affinity(strict_queue));
    pool.execute(request("hint").session("s"));
    BOOST_TEST(pool.serve(pool.other()) == "hint");
    pool.execute(request("second").session("s").affinity(strict_queue));
    BOOST_TEST(pool.worker(pool.other()).take_calls().empty()); // it would overtake the first
    pool.worker(pool.home).reply(id);
    pool.run_until_idle();
    BOOST_TEST(pool.serve(pool.home) == "first");
    BOOST_TEST(pool.serve(pool.home) == "second");
    BOOST_TEST(first->value.has_value());
}

BOOST_AUTO_TEST_CASE(what_waits_for_a_worker_of_its_choice_binds_no_session_meanwhile) {
    pool_with_session pool(hint);
    const auto id = pool.occupy_home();
    const auto busy = pool.status().workers[pool.home].id;
    pool.checkout(checkout_options().worker(busy).affinity(strict_queue));
    pool.checkout(checkout_options().worker(busy).session("t").affinity(strict_queue));
    BOOST_TEST(pool.status().workers[pool.home].strict_sessions == 0u);
    pool.worker(pool.home).reply(id);
    pool.run_until_idle();
}

BOOST_AUTO_TEST_CASE(a_lease_does_not_bring_a_strict_session_to_a_worker_that_is_not_its_own) {
    pool_with_session pool(strict_queue);
    const auto id = pool.occupy_home();
    const auto held = pool.checkout();
    BOOST_REQUIRE(held->value.has_value());
    BOOST_TEST(held->value->worker().slot == pool.other());
    const auto foreign = pool.execute(*held->value, request("foreign").session("s"));
    BOOST_TEST(foreign->code() == errc::session_worker_unavailable);
    check_mentions(foreign->text(), "another worker than the lease's");
    BOOST_TEST(foreign->text().find("gone") == std::string::npos);
    BOOST_TEST(pool.worker(pool.other()).take_calls().empty());
    const auto own = pool.execute(*held->value, request("own").session("t"));
    BOOST_TEST(pool.serve(pool.other()) == "own");
    BOOST_TEST(pool.execute(*held->value, request("hint").session("s").affinity(hint))->code() == errc());
    BOOST_TEST(pool.serve(pool.other()) == "hint");
    pool.worker(pool.home).reply(id);
    pool.run_until_idle();
    pool.call("mine");
    BOOST_TEST(pool.serve(pool.home) == "mine");
    pool.kill_home();
    BOOST_TEST(pool.execute(*held->value, request("lost").session("s"))->code() ==
               errc::session_worker_unavailable);
}

BOOST_AUTO_TEST_CASE(calls_of_a_lease_that_wait_for_each_other_are_looked_at_once_more) {
    pool_with_session pool(strict_queue);
    const auto held = pool.checkout();
    BOOST_REQUIRE(held->value.has_value());
    const auto leased = held->value->worker().slot;
    pool.execute(*held->value, request("first"));
    const auto second = pool.execute(*held->value, request("second").session("t"));
    const auto third = pool.execute(*held->value, request("third"));
    pool.call("of t elsewhere", "t");
    pool.serve(1 - leased);
    BOOST_TEST(pool.serve(leased) == "first");
    BOOST_TEST(second->code() == errc::session_worker_unavailable);
    BOOST_TEST(pool.serve(leased) == "third");
    BOOST_TEST(third->value.has_value());
    BOOST_TEST(pool.status().queued == 0u);
}

pool_config limited_config(affinity_mode mode) {
    auto config = affine_config(mode);
    config.affinity.limit = 3;
    config.affinity.ttl = 10s;
    return config;
}

/// A call of the session, answered by whichever worker gets it.
void use(pool_with_session& pool, const std::string& session, affinity_mode mode) {
    const auto call = pool.execute(request("use").session(session).affinity(mode));
    for (std::size_t index = 0; index < 2; ++index) {
        for (const auto& received : pool.worker(index).take_calls()) {
            pool.worker(index).reply(id_of(received));
        }
    }
    pool.run_until_idle();
    BOOST_TEST(call->value.has_value());
}

BOOST_AUTO_TEST_CASE(beyond_the_limit_the_hint_goes_that_was_not_used_for_longest) {
    pool_with_session pool(limited_config(hint)); // has "s"
    use(pool, "a", hint);
    use(pool, "b", strict_queue);
    use(pool, "s", hint);
    BOOST_TEST(pool.status().sessions == 3u);
    use(pool, "c", hint); // in the place of a
    BOOST_TEST(pool.status().sessions == 3u);
    use(pool, "d", strict_queue); // in the place of s
    use(pool, "e", strict_queue); // in the place of c
    BOOST_TEST(pool.status().sessions == 3u);
    use(pool, "f", hint); // which is not remembered
    BOOST_TEST(pool.status().sessions == 3u);
    use(pool, "b", strict_queue); // still there
}

BOOST_AUTO_TEST_CASE(a_strict_session_beyond_the_limit_is_refused) {
    pool_with_session pool(limited_config(strict_queue));
    use(pool, "a", strict_queue);
    use(pool, "b", strict_queue);
    const auto refused = pool.call("refused", "c");
    BOOST_TEST(refused->code() == errc::session_quota_exceeded);
    check_mentions(refused->text(), "affinity.limit is 3");
    const auto fails_fast = pool.execute(request("refused").session("c").affinity(strict_fail_fast));
    BOOST_TEST(fails_fast->code() == errc::session_quota_exceeded);
    BOOST_TEST(pool.status().sessions == 3u);
    use(pool, "a", strict_queue);
    pool.forget();
    use(pool, "c", strict_queue);
    pool.advance(11s, 1s);
    use(pool, "d", strict_queue);
    BOOST_TEST(pool.status().sessions == 1u);
}

BOOST_AUTO_TEST_CASE(a_lost_session_is_over_after_its_ttl_though_it_has_not_been_swept) {
    pool_with_session pool(limited_config(strict_queue));
    pool.kill_home();
    pool.advance(10s, 1s);
    BOOST_TEST(pool.call("lost")->code() == errc::session_worker_unavailable);
    pool.advance(1ms);
    BOOST_TEST(pool.call("anew")->code() == errc());
}

BOOST_AUTO_TEST_CASE(a_session_that_has_not_been_swept_after_its_ttl_leaves_its_place) {
    pool_with_session pool(limited_config(strict_queue));
    use(pool, "a", strict_queue);
    use(pool, "b", strict_queue);
    pool.advance(10s, 1s);
    BOOST_TEST(pool.call("refused", "c")->code() == errc::session_quota_exceeded);
    pool.advance(1ms);
    BOOST_TEST(pool.status().sessions == 3u);
    use(pool, "c", strict_queue); // in the place of one of them
    BOOST_TEST(pool.status().sessions == 3u);
}

BOOST_AUTO_TEST_CASE(a_session_that_waits_for_its_first_worker_counts_against_the_limit) {
    auto config = limited_config(strict_queue);
    config.affinity.limit = 1;
    running_pool pool(config);
    pool.execute(request("busy"));
    pool.execute(request("busy"));
    pool.execute(request("waiting").session("s"));
    const auto refused = pool.execute(request("refused").session("t"));
    BOOST_TEST(refused->code() == errc::session_quota_exceeded);
    check_mentions(refused->text(), "the pool remembers 1 sessions that are strictly bound or in use");
}

BOOST_AUTO_TEST_CASE(sessions_in_use_are_not_dropped_for_others) {
    auto config = limited_config(hint);
    config.affinity.limit = 1;
    pool_with_session pool(config);
    const auto id = pool.occupy_home();
    use(pool, "a", hint); // finds no place
    BOOST_TEST(pool.call("refused", "b")->code() == errc());
    pool.serve(pool.other());
    BOOST_TEST(pool.execute(request("strict").session("b").affinity(strict_queue))->code() ==
               errc::session_quota_exceeded);
    pool.worker(pool.home).reply(id);
    pool.run_until_idle();
    BOOST_TEST(pool.status().sessions == 1u);
    use(pool, "b", strict_queue); // in the place of s
    BOOST_TEST(pool.status().sessions == 1u);
}

BOOST_AUTO_TEST_CASE(a_session_that_never_came_to_a_worker_leaves_nothing) {
    pool_with_session pool(limited_config(strict_queue));
    pool.execute(request("busy"));
    pool.execute(request("busy"));
    for (int i = 0; i < 5; ++i) {
        const auto waiting =
            pool.execute(request("waiting").session("w" + std::to_string(i)).queue_timeout(100ms));
        pool.advance(100ms, 50ms);
        BOOST_TEST(waiting->code() == errc::queue_timeout);
        BOOST_TEST(pool.status().sessions == 1u);
    }
}

BOOST_AUTO_TEST_CASE(long_names_are_refused_and_nothing_keeps_them) {
    pool_with_session pool(hint);
    const std::string name(8u << 20, 'n');
    std::vector<events::request_finished> told;
    const auto listening = pool.facade().events().listen<events::request_finished>(
        pool.context.get_executor(), [&](const events::request_finished& each) { told.push_back(each); });
    for (const auto& call : {request("a").session(name), request("a").correlation_id(name), request(name),
                             request("a").metadata(name, 1)}) {
        const auto refused = pool.execute(call);
        BOOST_TEST(refused->code() == errc::invalid_request);
        check_mentions(refused->text(), "has 8388608 bytes: must have at most 256");
        BOOST_TEST(refused->text().size() < 1000u);
    }
    BOOST_TEST(pool.status().sessions == 1u);
    BOOST_TEST(told.size() == 4u);
    for (const auto& each : told) {
        BOOST_TEST(each.command.size() + each.session.size() + each.correlation_id.size() < 1000u);
    }
}

BOOST_AUTO_TEST_CASE(a_crash_loses_sessions_even_if_they_may_move) {
    auto config = affine_config(strict_queue);
    config.affinity.on_recycle = affinity_on_recycle::move;
    pool_with_session pool(config);
    pool.kill_home();
    BOOST_TEST(pool.call("lost")->code() == errc::session_worker_unavailable);
}

BOOST_AUTO_TEST_CASE(streams_of_a_session_meet_its_worker) {
    pool_with_session pool(strict_queue);
    const auto stream = pool.stream(request("stream").session("s"));
    BOOST_TEST(pool.worker(pool.home).take_calls().size() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
