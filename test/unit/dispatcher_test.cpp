// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Calls and workers, without a pool: nobody starts or replaces a worker here.

#include "policy/admission.hpp"
#include "pool/demand/dispatcher.hpp"
#include "support/worker_bench.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <csignal>

namespace skep::test {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(dispatching)

namespace {

class dispatch_bench final : public bench_with_workers {
public:
    explicit dispatch_bench(pool_config what = fake_config())
        : bench_with_workers(std::move(what)), calls(around) {
        loops_.spawn(nullptr, watch_deadlines());
    }
    ~dispatch_bench() {
        calls.open_calls().abort_all(errc::shutting_down);
        end();
        loops_.cancel();
        manual_context::run_until_idle();
    }

    kept_ptr submit(request what, const admission_facts& facts = {}) {
        kept_ptr fresh(new kept_call(std::move(what)));
        calls.receive(*fresh);
        if (const auto refusal = refusal_of(facts)) { // as the pool does
            calls.refuse(*fresh, *refusal, {});
        } else {
            calls.submit(*fresh, false);
        }
        manual_context::run_until_idle();
        return fresh;
    }
    kept_ptr submit(std::string command = "work") { return submit(request(std::move(command))); }

    void answer(std::size_t index = 0) {
        far_side(index).answer_call();
        manual_context::run_until_idle();
    }

    /// Runs it until this is destroyed.
    void run(asio::awaitable<void> loop) {
        loops_.spawn(nullptr, std::move(loop));
        manual_context::run_until_idle();
    }

    /// Runs everything that can run without time passing. Returns how much less of `measure()` one turn of
    /// the strand leaves, at most.
    template <class Measure>
    std::size_t largest_drop(Measure measure) {
        asio::basic_waitable_timer<skep::clock> kick(context, time_point::min()); // see run_until_idle()
        kick.async_wait([](const boost::system::error_code&) {});
        context.restart();
        std::size_t largest = 0;
        auto before = measure();
        while (context.poll_one() > 0) {
            const auto now = measure();
            largest = std::max<std::size_t>(largest, before - std::min(before, now));
            before = now;
        }
        manual_context::run_until_idle();
        return largest;
    }

    dispatcher calls;
    int overdue = 0;

private:
    void on_event(const worker_event& event) override {
        auto& subject = *event.subject;
        if (std::holds_alternative<came_up>(event.fact)) {
            calls.room().enlist(subject);
        } else if (std::holds_alternative<room_changed>(event.fact)) {
            calls.room().serve(subject);
        } else if (const auto* const failed = std::get_if<went_wrong>(&event.fact)) {
            overdue += failed->cause == departure_cause::overdue_call ? 1 : 0;
        } else if (std::holds_alternative<left_service>(event.fact)) {
            calls.remove(subject);
        } else if (std::holds_alternative<calls_lost>(event.fact)) {
            while (const auto notice = subject.calls().take_lost()) {
                calls.answers().on_call_lost(subject, subject.describe(), *notice);
            }
            calls.room().serve_all();
        }
    }
    void on_result(worker& sender, call& answered, result_message& answer, time_point now) override {
        calls.answers().on_result(sender, answered, answer, now);
    }
    void on_remote_error(worker& sender, call& answered, error_message& answer) override {
        calls.answers().on_remote_error(sender, answered, answer);
    }
    void on_recalled(worker& sender, call& recalled_call, time_point now) override {
        calls.answers().on_recalled(sender, recalled_call, now);
    }
    void on_chunk(call& receiver, chunk_message& piece) override {
        calls.answers().on_chunk(receiver, piece);
    }
    void on_log(const worker&, const log_message&) noexcept override {}
    void on_begun_in_vain(call& begun) override { calls.open_calls().grant_grace(begun); }

    asio::awaitable<void> watch_deadlines() {
        auto& deadlines = calls.room().deadlines();
        for (;;) {
            co_await deadlines.wait();
            events.catch_up();
            deadlines.notify_due({}, events);
        }
    }

    task_group loops_{surroundings.executor, [](std::exception_ptr) {}};
};

} // namespace

BOOST_AUTO_TEST_CASE(a_call_goes_to_a_free_worker_at_once) {
    dispatch_bench bench;
    bench.launch();
    const auto call = bench.submit();
    BOOST_TEST(bench.calls.open_calls().in_flight() == 1u);
    BOOST_TEST(bench.calls.open_calls().next_for_any() == nullptr);
    bench.answer();
    BOOST_TEST(call->answer.has_value());
    BOOST_TEST(call->woken == 1);
    BOOST_TEST(bench.calls.open_calls().in_flight() == 0u);
}

BOOST_AUTO_TEST_CASE(calls_wait_in_order_for_whoever_comes_up_or_becomes_free) {
    dispatch_bench bench;
    const auto first = bench.submit("first");
    const auto second = bench.submit("second");
    BOOST_TEST(bench.calls.open_calls().queued() == 2u);
    BOOST_TEST(bench.calls.open_calls().next_for_any() == first.get());
    bench.launch();
    BOOST_TEST(bench.calls.open_calls().queued() == 1u);
    bench.answer();
    BOOST_TEST(first->answer.has_value());
    BOOST_TEST(!second->woken);
    bench.answer();
    BOOST_TEST(second->answer.has_value());
}

BOOST_AUTO_TEST_CASE(what_the_pool_is_in_no_state_for_is_refused) {
    dispatch_bench bench;
    bench.launch();
    admission_facts stopping;
    stopping.phase = pool_phase::stopping;
    BOOST_TEST(bench.submit(request("x"), stopping)->failed == errc::shutting_down);
    admission_facts unavailable;
    unavailable.is_unavailable = true;
    BOOST_TEST(bench.submit(request("x"), unavailable)->failed == errc::unavailable);
    BOOST_TEST(bench.calls.open_calls().counters().failed == 2u);
}

BOOST_AUTO_TEST_CASE(a_full_queue_refuses) {
    auto config = fake_config();
    config.queue.limit = 1;
    dispatch_bench bench(config);
    const auto waiting = bench.submit();
    BOOST_TEST(bench.submit()->failed == errc::pool_saturated);
    BOOST_TEST(!waiting->woken);
    BOOST_TEST(bench.calls.open_calls().counters().rejected == 1u);
}

BOOST_AUTO_TEST_CASE(a_wait_has_its_end) {
    dispatch_bench bench;
    const auto waiting = bench.submit(request("x").queue_timeout(1s));
    bench.advance(990ms);
    BOOST_TEST(!waiting->woken);
    bench.advance(20ms);
    BOOST_TEST(waiting->failed == errc::no_worker);
    BOOST_TEST(bench.calls.open_calls().queued() == 0u);
}

BOOST_AUTO_TEST_CASE(a_running_call_that_times_out_keeps_its_worker_until_that_answers) {
    dispatch_bench bench;
    bench.launch();
    const auto slow = bench.submit(request("slow").timeout(1s));
    const auto next = bench.submit("next");
    bench.advance(1010ms);
    BOOST_TEST(slow->failed == errc::timeout);
    BOOST_TEST(bench.far_side().take_controls("cancel").size() == 1u);
    BOOST_TEST(bench.calls.open_calls().queued() == 1u);
    bench.answer();
    BOOST_TEST(bench.calls.open_calls().counters().late_answers == 1u);
    BOOST_TEST(bench.calls.open_calls().queued() == 0u);
    bench.answer();
    BOOST_TEST(next->answer.has_value());
    BOOST_TEST(bench.overdue == 0);
}

BOOST_AUTO_TEST_CASE(a_worker_that_is_at_it_for_too_long_is_told_of) {
    auto config = fake_config();
    config.cancel_grace = 2s;
    dispatch_bench bench(config);
    bench.launch();
    const auto slow = bench.submit("slow");
    bench.calls.cancel(*slow, asio::cancellation_type::terminal);
    bench.advance(0s);
    BOOST_TEST(slow->failed == errc::cancelled);
    bench.advance(1990ms);
    BOOST_TEST(bench.overdue == 0);
    bench.advance(20ms);
    BOOST_TEST(bench.overdue == 1);
}

BOOST_AUTO_TEST_CASE(what_a_dead_worker_cannot_have_begun_goes_to_another) {
    auto config = fake_config();
    config.pipeline_depth = 1;
    dispatch_bench bench(config);
    bench.launch();
    const auto begun = bench.submit("begun");
    const auto pipelined = bench.submit("pipelined");
    bench.launch();
    bench.far_side(0).exit(exit_status::signalled(SIGKILL));
    bench.advance(600ms);
    BOOST_TEST(begun->failed == errc::worker_lost);
    BOOST_TEST(!pipelined->woken);
    bench.answer(1);
    BOOST_TEST(pipelined->answer.has_value());
    BOOST_TEST(pipelined->answer->attempts == 1);
    BOOST_TEST(bench.calls.open_calls().counters().retried == 1u);
}

BOOST_AUTO_TEST_CASE(a_storm_of_deadlines_leaves_turns_to_others) {
    dispatch_bench bench; // without a worker
    std::vector<kept_ptr> waiting;
    for (int i = 0; i < 600; ++i) {
        waiting.push_back(bench.submit());
    }
    bench.time.advance(bench.config.queue.timeout);
    const auto largest = bench.largest_drop([&] { return bench.calls.open_calls().queued(); });
    BOOST_TEST(largest == 256u);
    BOOST_TEST(bench.calls.open_calls().queued() == 0u);
    for (const auto& each : waiting) {
        BOOST_TEST(each->failed == errc::no_worker);
    }
}

BOOST_AUTO_TEST_CASE(a_crowd_of_sessions_that_expire_leaves_turns_to_others) {
    auto config = fake_config();
    config.affinity.ttl = 1min;
    dispatch_bench bench(config);
    auto& worker = bench.launch();
    auto& sessions = bench.calls.sessions();
    bench.run(sessions.expire());
    for (int i = 0; i < 2500; ++i) {
        BOOST_TEST(sessions.bind("session " + std::to_string(i), worker, affinity_mode::hint));
    }
    bench.manual_context::run_until_idle();
    bench.time.advance(2min);
    const auto largest = bench.largest_drop([&] { return sessions.known().size(); });
    BOOST_TEST(largest == 1000u);
    BOOST_TEST(sessions.known().size() == 0u);
}

BOOST_AUTO_TEST_CASE(calls_of_a_session_stay_in_order_when_another_one_is_forgotten) {
    auto config = fake_config();
    config.pipeline_depth = 1;
    config.affinity.mode = affinity_mode::strict_queue;
    dispatch_bench bench(config);
    bench.launch();
    for (const auto* session : {"mine", "another"}) {
        bench.submit(request("first").session(session));
        bench.answer();
    }
    bench.submit("busy");
    kept_ptr first(new kept_call(request("first").session("mine")));
    first->is_pipelinable = false; // as those that a tool makes
    bench.calls.receive(*first);
    bench.calls.submit(*first, false);
    const auto second = bench.submit(request("second").session("mine"));
    BOOST_TEST(bench.calls.forget_session("another"));
    BOOST_TEST(bench.calls.open_calls().queued() == 2u);
    bench.answer();
    const auto sent = bench.far_side().take_calls(); // the second is pipelined
    BOOST_REQUIRE(sent.size() == 2u);
    BOOST_TEST(sent[0].at("command") == "first");
    BOOST_TEST(sent[1].at("command") == "second");
}

BOOST_AUTO_TEST_CASE(an_idempotent_call_is_retried) {
    dispatch_bench bench;
    bench.launch();
    const auto call = bench.submit(request("x").idempotent(true));
    bench.far_side(0).exit(exit_status::signalled(SIGKILL));
    bench.advance(600ms);
    BOOST_TEST(bench.calls.open_calls().queued() == 1u);
    bench.launch();
    bench.answer(1);
    BOOST_TEST(call->answer->attempts == 2);
}

BOOST_AUTO_TEST_CASE(all_of_them_can_be_ended_at_once) {
    dispatch_bench bench;
    bench.launch();
    const auto running = bench.submit();
    const auto waiting = bench.submit();
    BOOST_TEST(bench.calls.open_calls().abort_all(errc::shutting_down) == 2u);
    BOOST_TEST(running->failed == errc::shutting_down);
    BOOST_TEST(waiting->failed == errc::shutting_down);
    BOOST_TEST(bench.calls.open_calls().in_flight() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
