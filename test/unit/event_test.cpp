// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Every event is told of by what it is named after, on virtual time.

#include "support/complete.hpp"
#include "support/fake_runtime.hpp"
#include <skep/session_store.hpp>

#include <boost/describe/members.hpp>
#include <boost/json/serialize.hpp>
#include <boost/mp11/algorithm.hpp>
#include <boost/test/unit_test.hpp>

#include <csignal>
#include <fstream>
#include <iterator>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace skep::test {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(what_happens)

namespace {

/// A pool of which everything is known that it tells.
class told_pool : public manual_pool {
public:
    explicit told_pool(pool_config config, bool starts = true) : manual_pool(std::move(config)) {
        listening_ = facade().events().listen(context.get_executor(),
                                              [this](const event& what) { told.push_back(what); });
        if (starts) {
            start();
            run_until_idle();
        }
    }

    template <class E>
    std::vector<E> all() {
        run_until_idle();
        std::vector<E> found;
        for (const auto& each : told) {
            if (const auto* const fact = std::get_if<E>(&each)) {
                found.push_back(*fact);
            }
        }
        return found;
    }

    /// The only one of its kind.
    template <class E>
    E one() {
        const auto found = all<E>();
        BOOST_REQUIRE_MESSAGE(found.size() == 1, E::name << " was told " << found.size() << " times");
        return found.front();
    }

    template <class E>
    std::size_t count() {
        return all<E>().size();
    }

    /// Those who have finished, and as what.
    std::multiset<std::string> outcomes() {
        std::multiset<std::string> found;
        for (const auto& each : all<events::request_finished>()) {
            found.insert(each.outcome);
        }
        return found;
    }

    std::vector<event> told;

private:
    subscription listening_;
};

pool_config bare_config(std::size_t workers = 1) {
    auto config = fake_config(workers);
    config.heartbeat.enabled = false;
    config.health_check.enabled = false;
    return config;
}

} // namespace

BOOST_AUTO_TEST_CASE(a_worker_is_spawned_and_ready) {
    told_pool pool(bare_config(), false);
    pool.runtime().on_start = never_ready;
    pool.start();
    pool.advance(2s);
    BOOST_TEST(pool.one<events::worker_spawned>().worker.slot == 0u);
    BOOST_TEST(pool.count<events::worker_ready>() == 0u);
    pool.worker(0).shake_hands();
    const auto ready = pool.one<events::worker_ready>();
    BOOST_TEST(to_string(ready.worker) == "default/0#1");
    BOOST_TEST((ready.start_time >= 2s));
    BOOST_TEST(ready.pid == pool.status().workers[0].pid);
}

BOOST_AUTO_TEST_CASE(each_transition_is_told_once_in_order) {
    told_pool pool(bare_config());
    pool.begin(pool.facade().suspend());
    pool.begin(pool.facade().resume());
    pool.warm_up();
    crash_worker(pool, 0);
    std::vector<worker_state> states{worker_state::created};
    for (const auto& each : pool.all<events::worker_transition>()) {
        if (each.worker.generation == 1) {
            BOOST_TEST((each.from == states.back()));
            states.push_back(each.to);
        }
    }
    const std::vector expected{worker_state::created,   worker_state::starting, worker_state::ready,
                               worker_state::suspended, worker_state::ready,    worker_state::busy,
                               worker_state::ready,     worker_state::failed};
    BOOST_TEST((states == expected));
}

BOOST_AUTO_TEST_CASE(a_workers_end_says_how_it_ended_and_what_it_has_done) {
    told_pool pool(bare_config());
    pool.warm_up();
    pool.advance(3s);
    crash_worker(pool, 0);
    const auto end = pool.one<events::worker_terminated>();
    BOOST_TEST(end.calls == 1u);
    BOOST_TEST((end.lifetime >= 3s));
    BOOST_TEST(!end.planned);
    BOOST_TEST((end.outcome == worker_state::failed));
    check_mentions(end.status, "3");
}

BOOST_AUTO_TEST_CASE(a_workers_end_by_request_is_planned) {
    told_pool pool(bare_config());
    pool.shutdown();
    pool.worker(0).exit(exit_status::exited(0));
    const auto end = pool.one<events::worker_terminated>();
    BOOST_TEST(end.planned);
    BOOST_TEST((end.outcome == worker_state::stopped));
}

BOOST_AUTO_TEST_CASE(a_workers_end_tells_what_ended_it_and_not_why_it_was_to_leave) {
    told_pool pool(bare_config());
    pool.execute(request("work"));
    pool.begin(pool.facade().rolling_restart());
    pool.run_until_idle();
    crash_worker(pool, 0);
    const auto end = pool.one<events::worker_terminated>();
    BOOST_TEST(end.reason == "its process ended");
    BOOST_TEST(!end.planned);
    pool.shutdown();
    pool.worker(1).exit(exit_status::exited(0));
    BOOST_TEST(pool.all<events::worker_terminated>().back().reason == "asked to stop");
}

BOOST_AUTO_TEST_CASE(a_workers_end_names_the_calls_that_it_had_and_quotes_its_last_output) {
    auto config = bare_config();
    config.capacity = 2;
    config.pipeline_depth = 1;
    told_pool pool(config);
    pool.worker(0).last_words = "Fatal Python error: Segmentation fault\n";
    pool.execute(request("answered"));
    pool.serve();
    pool.execute(request("mine").arg("password", "secret").correlation_id("of-the-user"));
    const auto generated = pool.execute(request("other"));
    pool.execute(request("ahead").idempotent(true)); // pipelined: the worker cannot have begun it
    BOOST_TEST(pool.worker(0).take_calls().size() == 3u);
    crash_worker(pool, 0);
    const auto end = pool.one<events::worker_terminated>();
    BOOST_TEST(end.output_tail == "Fatal Python error: Segmentation fault\n");
    BOOST_TEST(end.unanswered.count == 2u);
    BOOST_REQUIRE_EQUAL(end.unanswered.named.size(), 2u);
    BOOST_TEST(end.unanswered.named[0].command == "mine");
    BOOST_TEST(end.unanswered.named[0].correlation_id == "of-the-user");
    BOOST_TEST(end.unanswered.named[1].command == "other");
    BOOST_TEST(end.unanswered.named[1].correlation_id == generated->info().correlation_id);
    const auto shown = to_json(end);
    const boost::json::value expected{
        {"count", 2},
        {"named",
         {{{"command", "mine"}, {"correlation_id", "of-the-user"}},
          {{"command", "other"}, {"correlation_id", generated->info().correlation_id}}}}};
    BOOST_TEST(shown.at("unanswered") == expected);
    BOOST_TEST(boost::json::serialize(shown).find("secret") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(of_many_calls_at_its_end_a_worker_names_the_first) {
    auto config = bare_config();
    config.capacity = 100;
    told_pool pool(config);
    for (int i = 0; i < 20; ++i) {
        pool.execute(request("c" + std::to_string(i)));
    }
    crash_worker(pool, 0);
    const auto end = pool.one<events::worker_terminated>();
    BOOST_TEST(end.unanswered.count == 20u);
    BOOST_REQUIRE_EQUAL(end.unanswered.named.size(), 16u);
    BOOST_TEST(end.unanswered.named.back().command == "c15");
}

BOOST_AUTO_TEST_CASE(a_worker_that_ends_for_an_abandoned_call_names_that_call) {
    told_pool pool(bare_config());
    pool.execute(request("hang").timeout(1s));
    pool.advance(20s, 100ms);
    const auto end = pool.one<events::worker_terminated>();
    BOOST_REQUIRE_EQUAL(end.unanswered.named.size(), 1u);
    BOOST_TEST(end.unanswered.named[0].command == "hang");
    BOOST_TEST(end.output_tail.empty()); // the worker was ended, not lost
}

BOOST_AUTO_TEST_CASE(a_planned_end_quotes_nothing) {
    told_pool pool(bare_config());
    pool.warm_up();
    pool.shutdown();
    pool.worker(0).exit(exit_status::exited(0));
    const auto end = pool.one<events::worker_terminated>();
    BOOST_TEST(end.output_tail.empty());
    BOOST_TEST(!to_json(end).contains("unanswered"));
}

BOOST_AUTO_TEST_CASE(health_checks_and_what_follows_if_they_fail) {
    auto config = bare_config();
    config.health_check.enabled = true;
    config.health_check.failures = 2;
    bool is_well = true;
    config.health_check.probe = [&](worker_id, pid_t) -> asio::awaitable<void> {
        if (!is_well) {
            throw std::runtime_error("no GPU");
        }
        co_return;
    };
    told_pool pool(config);
    pool.advance(config.health_check.interval + 1s, 1s);
    const auto first = pool.one<events::worker_health_check>();
    BOOST_TEST(first.passed);
    BOOST_TEST(pool.count<events::unhealthy_worker_terminated>() == 0u);
    is_well = false;
    const auto pid = pool.status().workers[0].pid;
    pool.advance(2 * config.health_check.interval, 1s);
    BOOST_TEST(pool.all<events::worker_health_check>()[1].complaint == "no GPU");
    check_mentions(pool.one<events::unhealthy_worker_terminated>().reason, "no GPU");
    BOOST_TEST(pool.one<events::unhealthy_worker_terminated>().pid == pid);
    is_well = true;
    pool.advance(1min, 1s);
    BOOST_TEST(!pool.one<events::worker_terminated>().planned);
}

BOOST_AUTO_TEST_CASE(a_worker_that_is_used_up_is_recycled) {
    auto config = bare_config();
    config.recycle.calls = 1;
    config.recycle.jitter = 0;
    told_pool pool(config);
    pool.execute(request("work"));
    pool.serve();
    pool.advance(1s);
    check_mentions(pool.one<events::worker_recycled>().reason, "1 calls");
    BOOST_TEST(pool.one<events::worker_recycled>().worker.generation == 1u);
}

BOOST_AUTO_TEST_CASE(a_slot_whose_worker_crashed_is_tainted) {
    auto config = bare_config();
    config.crash_barrier.enabled = true;
    told_pool pool(config);
    pool.warm_up();
    crash_worker(pool, 0, exit_status::signalled(SIGSEGV));
    BOOST_TEST(pool.one<events::worker_tainted>().worker.generation == 1u);
    BOOST_TEST(!pool.one<events::worker_tainted>().exit.empty());
}

BOOST_AUTO_TEST_CASE(a_worker_that_breaks_the_protocol) {
    told_pool pool(bare_config());
    pool.worker(0).reply(77);
    check_mentions(pool.one<events::protocol_error>().reason, "77");
}

BOOST_AUTO_TEST_CASE(what_the_workers_code_tells) {
    auto config = bare_config();
    config.output.lines_per_second = 3;
    told_pool pool(config);
    for (int i = 0; i < 5; ++i) {
        pool.worker(0).send_control({{"type", "event"},
                                     {"name", "model.loaded"},
                                     {"measurements", {{"ms", i}}},
                                     {"metadata", {{"model", "small"}}},
                                     {"correlation_id", "c"}});
    }
    const auto told = pool.all<events::worker_emitted>();
    BOOST_REQUIRE(told.size() == 3u); // and no more in a second
    BOOST_TEST(told[2].what == "model.loaded");
    BOOST_TEST(told[2].measurements.at("ms").to_number<int>() == 2);
    BOOST_TEST(told[2].metadata.at("model").as_string() == "small");
    BOOST_TEST(told[2].correlation_id == "c");
    BOOST_TEST(told[2].dropped == 0u);
    BOOST_TEST(pool.counters().output_lines_dropped == 2u);
    pool.advance(1s);
    pool.worker(0).send_control({{"type", "event"}, {"name", "bare"}, {"dropped", 5}});
    BOOST_TEST(pool.all<events::worker_emitted>().back().dropped == 7u);
}

BOOST_AUTO_TEST_CASE(what_workers_print_and_log) {
    told_pool pool(bare_config());
    const auto id = pool.status().workers.at(0).id;
    pool.runtime().print({id, true, "a line"});
    pool.worker(0).send_control({{"type", "log"}, {"level", "info"}, {"logger", "m"}, {"text", "a record"}});
    const auto told = pool.all<events::worker_printed>();
    BOOST_REQUIRE(told.size() == 2u);
    BOOST_TEST(told[0].text == "a line");
    BOOST_TEST(told[0].is_stderr);
    BOOST_TEST(told[1].text == "m: a record");
}

BOOST_AUTO_TEST_CASE(an_event_over_the_wrong_channel_costs_the_worker_its_life) {
    told_pool pool(bare_config());
    pool.worker(0).send_data({{"type", "event"}, {"name", "x"}});
    check_mentions(pool.one<events::protocol_error>().reason, "control channel");
}

BOOST_AUTO_TEST_CASE(pings_and_pongs) {
    auto config = bare_config();
    config.heartbeat.enabled = true;
    config.heartbeat.initial_delay = 0s;
    config.heartbeat.interval = 1s;
    told_pool pool(config);
    pool.worker(0).answers_pings = false;
    pool.advance(1500ms);
    BOOST_TEST(pool.count<events::ping_sent>() > 0u);
    BOOST_TEST(pool.count<events::pong_received>() == 0u);
    const auto sent = pool.worker(0).answer_pings();
    BOOST_TEST(pool.count<events::pong_received>() == sent);
    BOOST_TEST((pool.all<events::pong_received>().back().latency >= 100ms));
    BOOST_TEST((pool.all<events::pong_received>().back().latency <= 1500ms));
}

BOOST_AUTO_TEST_CASE(pings_without_answer) {
    auto config = bare_config();
    config.heartbeat.enabled = true;
    told_pool pool(config);
    pool.worker(0).answers_pings = false;
    pool.advance(5min, 100ms);
    const auto missed = pool.all<events::heartbeat_missed>();
    BOOST_REQUIRE(!missed.empty());
    BOOST_TEST(missed.back().total == static_cast<std::uint64_t>(config.heartbeat.misses));
    BOOST_TEST(pool.one<events::heartbeat_failed>().worker.generation == 1u);
}

BOOST_AUTO_TEST_CASE(a_start) {
    told_pool pool(bare_config(3));
    BOOST_TEST(pool.one<events::pool_init_started>().workers == 3u);
    BOOST_TEST(pool.one<events::pool_init_completed>().workers > 0u);
    BOOST_TEST(pool.one<events::pool_init_completed>().problem == "");
}

BOOST_AUTO_TEST_CASE(a_start_that_fails) {
    told_pool pool(bare_config(), false);
    pool.runtime().on_start = [](fake_worker& fresh) { fresh.exit(exit_3); };
    pool.start();
    pool.advance(1s);
    check_mentions(pool.one<events::pool_init_completed>().problem, "exit");
}

BOOST_AUTO_TEST_CASE(growing_and_shrinking) {
    auto config = bare_config(1);
    config.scaling.min = 1;
    config.scaling.max = 3;
    config.queue.timeout = 1h;
    told_pool pool(config);
    for (int i = 0; i < 8; ++i) {
        pool.execute(request("work"));
    }
    pool.advance(1min, 100ms);
    const auto up = pool.all<events::pool_scale_up>();
    BOOST_REQUIRE(!up.empty());
    BOOST_TEST(up.front().from == 1u);
    BOOST_TEST(up.back().to == 3u);
    BOOST_TEST(!up.front().reason.empty());
    BOOST_TEST(pool.count<events::pool_scale_down>() == 0u);
    for (int i = 0; i < 8; ++i) {
        for (std::size_t at = 0; at < pool.launched(); ++at) {
            for (const auto& call : pool.worker(at).take_calls()) {
                pool.worker(at).reply(id_of(call));
            }
        }
        pool.run_until_idle();
    }
    pool.advance(10min, 100ms);
    BOOST_REQUIRE(pool.count<events::pool_scale_down>() > 0u);
    BOOST_TEST(pool.all<events::pool_scale_down>().back().to == 1u);
}

BOOST_AUTO_TEST_CASE(a_call_too_many) {
    auto config = bare_config();
    config.queue.limit = 1;
    told_pool pool(config);
    for (int i = 0; i < 3; ++i) {
        pool.execute(request("work"));
    }
    const auto full = pool.one<events::pool_saturated>();
    BOOST_TEST(full.queued == 1u);
    BOOST_TEST(full.limit == 1u);
    pool.checkout();
    BOOST_TEST(pool.count<events::pool_saturated>() == 2u);
}

BOOST_AUTO_TEST_CASE(a_pool_that_has_no_worker_and_may_start_none) {
    auto config = bare_config();
    config.restart.limit = 2;
    config.restart.open_time = 10s;
    told_pool pool(config);
    pool.warm_up();
    bool is_broken = true;
    pool.runtime().on_start = [&](fake_worker& fresh) {
        if (is_broken) {
            fresh.exit(exit_3);
        } else {
            fresh.shake_hands();
        }
    };
    crash_worker(pool, 0);
    pool.advance(5s);
    check_mentions(pool.one<events::pool_unavailable>().reason, "ended before it was ready");
    BOOST_TEST(pool.count<events::pool_available>() == 0u);
    BOOST_TEST(pool.one<events::breaker_changed>().to == "open");
    is_broken = false;
    pool.advance(30s);
    BOOST_TEST(pool.one<events::pool_available>().pool == "default");
    BOOST_TEST(pool.all<events::breaker_changed>().back().to == "closed");
}

BOOST_AUTO_TEST_CASE(the_wait_for_a_worker) {
    auto config = bare_config();
    config.queue.timeout = 5s;
    told_pool pool(config);
    pool.execute(request("first"));
    pool.execute(request("second").correlation_id("abc"));
    BOOST_TEST(pool.one<events::queue_enqueued>().command == "second");
    BOOST_TEST(pool.one<events::queue_enqueued>().correlation_id == "abc");
    BOOST_TEST(pool.one<events::queue_enqueued>().depth == 1u);
    pool.advance(2s);
    pool.serve();
    BOOST_TEST((pool.one<events::queue_dequeued>().wait_time >= 2s));
    BOOST_TEST(pool.one<events::queue_dequeued>().depth == 0u);
}

BOOST_AUTO_TEST_CASE(those_who_leave_the_queue) {
    auto config = bare_config();
    config.queue.timeout = 5s;
    told_pool pool(config);
    pool.execute(request("first"));
    pool.execute(request("late"));
    const auto given_up = pool.execute(request("given up"));
    given_up->cancel.emit(asio::cancellation_type::terminal);
    BOOST_TEST(pool.one<events::queue_cancelled>().command == "given up");
    pool.advance(6s);
    BOOST_TEST(pool.one<events::queue_timeout>().command == "late");
    BOOST_TEST((pool.one<events::queue_timeout>().wait_time >= 5s));
    BOOST_TEST(pool.count<events::queue_dequeued>() == 0u);
    BOOST_TEST(pool.outcomes() == (std::multiset<std::string>{"cancelled", "queue_timeout"}),
               boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_request_from_start_to_end) {
    told_pool pool(bare_config());
    pool.execute(request("work").correlation_id("abc").session("s"));
    const auto started = pool.one<events::request_started>();
    BOOST_TEST(to_string(started.worker) == "default/0#1");
    BOOST_TEST(started.command == "work");
    BOOST_TEST(started.correlation_id == "abc");
    BOOST_TEST(started.session == "s");
    BOOST_TEST(started.attempt == 1);
    pool.advance(2s);
    pool.serve();
    const auto finished = pool.one<events::request_finished>();
    BOOST_TEST(finished.outcome == "ok");
    BOOST_TEST(finished.correlation_id == "abc");
    BOOST_TEST(finished.attempts == 1);
    BOOST_TEST((finished.run_time >= 2s));
    BOOST_TEST((finished.total_time == finished.queue_time + finished.run_time));
}

BOOST_AUTO_TEST_CASE(each_request_finishes_once_whatever_becomes_of_it) {
    auto config = bare_config();
    config.queue.limit = 1;
    told_pool pool(config);
    pool.execute(request("work").timeout(1s));
    pool.execute(request("work").timeout(2s));
    pool.execute(request("work"));
    pool.execute(request("work").arg("bad", std::numeric_limits<double>::quiet_NaN()));
    pool.advance(3s);
    pool.execute(request("work"));
    crash_worker(pool, 0);
    pool.advance(1s);
    pool.shutdown();
    pool.advance(1min);
    pool.execute(request("work"));
    const auto counters = pool.counters();
    BOOST_TEST(pool.count<events::request_finished>() == counters.submitted);
    BOOST_TEST(pool.count<events::request_failed>() == counters.failed);
    BOOST_TEST(counters.submitted == 6u);
    BOOST_TEST(pool.outcomes().count("ok") == counters.succeeded);
    BOOST_TEST(pool.outcomes().count("timeout") == 2u);
    BOOST_TEST(pool.outcomes().count("pool_saturated") == 1u);
    BOOST_TEST(pool.outcomes().count("invalid_request") == 1u);
    BOOST_TEST(pool.outcomes().count("shutting_down") == 2u);
}

BOOST_AUTO_TEST_CASE(a_failure_names_the_call_and_the_exception) {
    told_pool pool(bare_config());
    pool.execute(request("predict").correlation_id("abc").session("s"));
    pool.worker(0).fail(pool.worker(0).take_call(), "ValueError", "no");
    const auto failed = pool.one<events::request_failed>();
    BOOST_TEST(failed.pool == pool.one<events::request_finished>().pool);
    BOOST_TEST(failed.worker.generation == 1u);
    BOOST_TEST(failed.command == "predict");
    BOOST_TEST(failed.correlation_id == "abc");
    BOOST_TEST(failed.session == "s");
    BOOST_TEST(failed.attempts == 1);
    BOOST_TEST(failed.outcome == "remote_error");
    BOOST_TEST(failed.exception_type == "ValueError");
}

BOOST_AUTO_TEST_CASE(a_call_that_succeeds_is_no_failure) {
    told_pool pool(bare_config());
    pool.execute(request("work"));
    pool.serve();
    BOOST_TEST(pool.count<events::request_finished>() == 1u);
    BOOST_TEST(pool.count<events::request_failed>() == 0u);
}

BOOST_AUTO_TEST_CASE(a_call_that_is_made_again) {
    told_pool pool(bare_config());
    pool.warm_up();
    pool.execute(request("work").idempotent(true).correlation_id("abc"));
    crash_worker(pool, 0);
    pool.advance(5s);
    const auto again = pool.one<events::request_retried>();
    BOOST_TEST(again.correlation_id == "abc");
    BOOST_TEST(again.worker.generation == 1u);
    pool.serve(1);
    BOOST_TEST(pool.all<events::request_started>().back().attempt == 2);
    BOOST_TEST(pool.all<events::request_finished>().back().attempts == 2);
}

BOOST_AUTO_TEST_CASE(a_call_that_is_given_back) {
    told_pool pool(bare_config(), false);
    pool.runtime().on_start = [](fake_worker& fresh) {
        fresh.gives_back = true;
        fresh.shake_hands(1);
    };
    pool.start();
    pool.execute(request("work"));
    pool.serve();
    pool.execute(request("work"));
    pool.execute(request("work").correlation_id("abc"));
    const auto calls = pool.worker(0).take_calls();
    BOOST_REQUIRE_EQUAL(calls.size(), 2u);
    pool.advance(3ms, 1ms);
    pool.worker(0).give_back(id_of(calls[1]));
    const auto recalled = pool.one<events::request_recalled>();
    BOOST_TEST(recalled.worker.generation == 1u);
    BOOST_TEST(recalled.command == "work");
    BOOST_TEST(recalled.correlation_id == "abc");
    BOOST_TEST(pool.count<events::request_retried>() == 0u);
    pool.worker(0).reply(id_of(calls[0]));
    pool.run_until_idle();
    pool.serve();
    BOOST_TEST(pool.all<events::request_finished>().back().attempts == 1);
}

BOOST_AUTO_TEST_CASE(the_chunks_of_a_stream) {
    told_pool pool(bare_config());
    const auto opened = pool.stream(request("count").correlation_id("abc"));
    const auto id = pool.worker(0).take_call();
    pool.worker(0).chunk(id, 1);
    pool.worker(0).chunk(id, 2);
    pool.worker(0).reply(id);
    pool.run_until_idle();
    BOOST_TEST(pool.count<events::stream_chunk>() == 2u);
    BOOST_TEST(pool.all<events::stream_chunk>()[0].correlation_id == "abc");
    BOOST_TEST(pool.all<events::stream_chunk>()[0].bytes > 0u);
    BOOST_TEST(pool.one<events::request_finished>().outcome == "ok");
}

BOOST_AUTO_TEST_CASE(a_tool_that_a_worker_asks_for) {
    told_pool pool(bare_config());
    pool.execute(request("predict").correlation_id("abc"));
    const auto id = pool.worker(0).take_call();
    pool.worker(0).send_data({{"type", "tool_call"},
                              {"id", id},
                              {"tool_call", 1},
                              {"name", "look_up"},
                              {"args", boost::json::object()}});
    const auto asked = pool.one<events::tool_called>();
    BOOST_TEST(asked.tool == "look_up");
    BOOST_TEST(asked.command == "predict");
    BOOST_TEST(asked.correlation_id == "abc");
}

BOOST_AUTO_TEST_CASE(whether_a_call_met_the_worker_of_its_session) {
    told_pool pool(bare_config(2));
    for (int i = 0; i < 2; ++i) {
        pool.execute(request("work").session("s"));
        pool.serve();
    }
    const auto met = pool.all<events::session_affinity>();
    BOOST_REQUIRE(met.size() == 2u);
    BOOST_TEST(met[0].result == "miss");
    BOOST_TEST(met[1].result == "hit");
    BOOST_TEST(met[1].session == "s");
    BOOST_TEST((met[0].worker == met[1].worker));
}

BOOST_AUTO_TEST_CASE(what_becomes_of_sessions) {
    manual_time time;
    asio::io_context context(1);
    session_options options;
    options.quota = 5;
    options.ttl = 10s;
    options.events = std::make_shared<event_bus>();
    std::vector<std::string> told;
    const auto listening = options.events->listen(context.get_executor(), [&](const event& what) {
        const auto* const full = std::get_if<events::session_quota_warning>(&what);
        const auto about = full != nullptr ? std::to_string(full->count)
                                           : std::string(to_json(what).at("session").as_string());
        told.push_back(std::string(name_of(what)) + " " + about);
    });
    session_store store(options);
    for (const auto* each : {"a", "b", "c", "d"}) {
        complete(store.create(each));
    }
    complete(store.create("a"));
    complete(store.remove("a"));
    complete(store.remove("a"));
    time.advance(5s);
    complete(store.touch("c"));
    complete(store.touch("d"));
    time.advance(6s);
    complete(store.get("b"));
    time.advance(20s);
    complete(store.remove("c"));
    complete(store.cleanup_expired());
    context.poll();
    const std::vector<std::string> expected{
        "session.created a", "session.created b",       "session.created c",
        "session.created d", "session.quota_warning 4", "session.removed a",
        "session.expired b", "session.expired c",       "session.expired d"};
    BOOST_TEST(told == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_lease_that_may_have_leaked) {
    auto config = bare_config();
    config.lease.leak_threshold = 10s;
    told_pool pool(config);
    const auto held = pool.checkout();
    pool.advance(9s);
    BOOST_TEST(pool.count<events::lease_leaked>() == 0u);
    pool.advance(2s);
    const auto leaked = pool.one<events::lease_leaked>();
    BOOST_TEST((leaked.held_for >= 10s));
    check_mentions(leaked.file, "fake_runtime.cpp");
    BOOST_TEST(leaked.line > 0u);
}

BOOST_AUTO_TEST_CASE(each_kind_has_a_name_of_its_own_and_is_shown_in_full) {
    std::set<std::string_view> names;
    boost::mp11::mp_for_each<boost::mp11::mp_transform<boost::mp11::mp_identity, detail::any_event>>(
        [&](auto kind) {
            const event some = typename decltype(kind)::type();
            names.insert(name_of(some));
            BOOST_TEST(to_json(some).at("event").as_string() == name_of(some));
        });
    BOOST_TEST(names.size() == std::variant_size_v<detail::any_event>);
}

BOOST_AUTO_TEST_CASE(the_readme_lists_them_all) {
    std::string table;
    boost::mp11::mp_for_each<boost::mp11::mp_transform<boost::mp11::mp_identity, detail::any_event>>(
        [&](auto kind) {
            using fact = typename decltype(kind)::type;
            table += "| `" + std::string(fact::name) + "` |";
            const char* separator = " ";
            boost::mp11::mp_for_each<boost::describe::describe_members<fact, boost::describe::mod_public>>(
                [&](auto member) {
                    table += std::exchange(separator, ", ") + ("`" + std::string(member.name) + "`");
                });
            table += " |\n";
        });
    std::ifstream file(std::string(SKEP_TEST_DIR) + "/../lib/telemetry/README.md");
    const std::string readme{std::istreambuf_iterator<char>(file), {}};
    BOOST_TEST(readme.find(table) != std::string::npos, "this is to be its table:\n" << table);
}

BOOST_AUTO_TEST_CASE(as_json_it_has_units_and_names) {
    const auto shown = to_json(events::worker_transition{{"p", 1, 2},
                                                         worker_state::starting,
                                                         worker_state::ready,
                                                         "it is up",
                                                         1500us,
                                                         transition_reason::init_complete,
                                                         {{"a", 1}}});
    const boost::json::object expected{{"event", "worker.transition"}, {"worker", "p/1#2"},
                                       {"from", "starting"},           {"to", "ready"},
                                       {"reason", "it is up"},         {"time_in_state_ms", 1.5},
                                       {"code", "init_complete"},      {"metadata", {{"a", 1}}}};
    BOOST_TEST(shown == expected);
    BOOST_TEST(!to_json(events::request_finished()).contains("worker")); // there was none
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
