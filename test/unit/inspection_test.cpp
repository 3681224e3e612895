// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// What a user has looked at in a worker: probes and pings on demand, and how it ended.

#include "policy/stack_reading.hpp"
#include "support/probed_pool.hpp"

#include <boost/test/unit_test.hpp>

namespace skep::test {

using namespace std::chrono_literals;

namespace {

/// A pool whose user looks into its workers.
class inspected_pool : public probed_pool {
public:
    using probed_pool::probed_pool;

    std::shared_ptr<outcome<bool>> probe(std::uint32_t slot, std::vector<probe_result>& into) {
        return begin(probe_into(worker_status_of(slot).id, into));
    }
    std::shared_ptr<outcome<bool>> probe_all(std::vector<probe_result>& into) {
        return begin(probe_all_into(into));
    }
    std::shared_ptr<outcome<bool>> ping(std::uint32_t slot, duration& into) {
        return begin(ping_into(worker_status_of(slot).id, into));
    }
    std::shared_ptr<outcome<bool>> ended(worker_id id, std::optional<worker_exit>& into) {
        return begin(ended_into(std::move(id), into));
    }
    std::shared_ptr<outcome<bool>> stacks(worker_id id, std::string& into) {
        return begin(stacks_into(std::move(id), into));
    }
    void print(std::string_view line, bool is_stderr = true, std::uint32_t slot = 0) {
        const auto id = worker_status_of(slot).id;
        runtime().print({id, is_stderr, line});
    }

private:
    asio::awaitable<void> probe_into(worker_id id, std::vector<probe_result>& into) {
        auto asking = facade().probe(std::move(id));
        into.push_back(co_await std::move(asking));
    }
    asio::awaitable<void> probe_all_into(std::vector<probe_result>& into) {
        auto asking = facade().probe();
        into = co_await std::move(asking);
    }
    asio::awaitable<void> ping_into(worker_id id, duration& into) {
        auto asking = facade().ping(std::move(id));
        into = co_await std::move(asking);
    }
    asio::awaitable<void> ended_into(worker_id id, std::optional<worker_exit>& into) {
        auto asking = facade().ended(std::move(id));
        into = co_await std::move(asking);
    }
    asio::awaitable<void> stacks_into(worker_id id, std::string& into) {
        auto asking = facade().stacks(std::move(id));
        into = co_await std::move(asking);
    }
};

} // namespace

BOOST_AUTO_TEST_SUITE(inspection_test)

BOOST_AUTO_TEST_CASE(a_probe_on_demand_tells_what_the_check_returned_and_is_kept) {
    inspected_pool pool(quiet_config());
    BOOST_TEST(!pool.worker_status_of(0).last_probe);
    std::vector<probe_result> found;
    const auto asked = pool.probe(0, found);
    const auto probe = pool.worker(0).take_call();
    pool.advance(20ms);
    pool.worker(0).reply(probe, {{"memory", 17}});
    pool.run_until_idle();
    BOOST_REQUIRE_MESSAGE(asked->value, asked->text());
    BOOST_REQUIRE_EQUAL(found.size(), 1u);
    BOOST_TEST(found[0].passed);
    BOOST_TEST((found[0].took == 20ms));
    BOOST_TEST(found[0].value == boost::json::value({{"memory", 17}}));
    const auto shown = pool.worker_status_of(0).last_probe;
    BOOST_REQUIRE(shown);
    BOOST_TEST(shown->value == found[0].value);
}

BOOST_AUTO_TEST_CASE(it_comes_between_two_calls_and_may_fail) {
    inspected_pool pool(quiet_config());
    const auto call = pool.execute(request("work"));
    const auto next = pool.execute(request("next"));
    std::vector<probe_result> found;
    const auto asked = pool.probe(0, found);
    pool.worker(0).reply(pool.worker(0).take_call());
    pool.run_until_idle();
    pool.worker(0).fail(pool.worker(0).take_call(), "RuntimeError", "no GPU");
    pool.run_until_idle();
    BOOST_TEST(asked->value.has_value());
    BOOST_REQUIRE_EQUAL(found.size(), 1u);
    BOOST_TEST(!found[0].passed);
    check_mentions(found[0].complaint, "no GPU");
    BOOST_TEST((pool.worker_status_of(0).state == worker_state::degraded));
    BOOST_TEST(!next->done);
}

BOOST_AUTO_TEST_CASE(all_are_probed_at_the_same_time) {
    inspected_pool pool(quiet_config(3));
    std::vector<probe_result> found;
    const auto asked = pool.probe_all(found);
    for (std::size_t index = 0; index < 3; ++index) {
        BOOST_TEST(!asked->done);
        pool.worker(index).reply(pool.worker(index).take_call());
        pool.run_until_idle();
    }
    BOOST_TEST(asked->value.has_value());
    BOOST_REQUIRE_EQUAL(found.size(), 3u);
    BOOST_TEST(found[2].worker.slot == 2u);
}

BOOST_AUTO_TEST_CASE(one_that_ends_meanwhile_is_left_out_of_the_probe_of_all) {
    inspected_pool pool(quiet_config(2));
    std::vector<probe_result> found;
    const auto asked = pool.probe_all(found);
    pool.worker(1).reply(pool.worker(1).take_call());
    crash_worker(pool, 0);
    pool.advance(1s);
    BOOST_TEST(asked->value.has_value());
    BOOST_REQUIRE_EQUAL(found.size(), 1u);
    BOOST_TEST(found[0].worker.slot == 1u);
}

BOOST_AUTO_TEST_CASE(one_that_has_no_check_cannot_be_probed) {
    running_pool pool(quiet_config());
    const auto asked = pool.begin([](skep::pool& target, worker_id id) -> asio::awaitable<void> {
        auto asking = target.probe(std::move(id));
        co_await std::move(asking);
    }(pool.facade(), pool.worker_status_of(0).id));
    BOOST_TEST(asked->code() == errc::unknown_command);
}

BOOST_AUTO_TEST_CASE(a_probe_of_one_that_leaves_ends) {
    inspected_pool pool(quiet_config());
    std::vector<probe_result> found;
    const auto asked = pool.probe(0, found);
    crash_worker(pool, 0);
    pool.advance(1s);
    BOOST_TEST(asked->code() == errc::unknown_worker);
}

BOOST_AUTO_TEST_CASE(a_ping_takes_as_long_as_its_answer_with_a_heartbeat_and_without) {
    for (const bool has_heartbeat : {false, true}) {
        auto config = quiet_config();
        config.heartbeat.enabled = has_heartbeat;
        inspected_pool pool(config);
        pool.worker(0).answers_pings = false;
        duration took{};
        const auto asked = pool.ping(0, took);
        pool.advance(30ms);
        BOOST_TEST(!asked->done);
        BOOST_TEST(pool.worker(0).answer_pings() == (has_heartbeat ? 2u : 1u));
        pool.run_until_idle();
        BOOST_TEST(asked->value.has_value());
        BOOST_TEST((took == 30ms));
    }
}

BOOST_AUTO_TEST_CASE(a_worker_that_answers_a_later_ping_has_answered) {
    auto config = quiet_config();
    config.heartbeat.enabled = true;
    config.heartbeat.interval = 1s;
    inspected_pool pool(config);
    pool.worker(0).answers_pings = false;
    duration took{};
    const auto asked = pool.ping(0, took);
    pool.advance(1s);
    BOOST_TEST(!asked->done);
    const auto pings = pool.worker(0).take_controls("ping");
    BOOST_REQUIRE(pings.size() >= 2u);
    pool.worker(0).send_control(
        {{"type", "pong"}, {"seq", pings.back().at("seq")}, {"in_flight", 0}, {"completed", 0}});
    pool.run_until_idle();
    BOOST_TEST(asked->value.has_value());
    BOOST_TEST((took == 1s));
}

BOOST_AUTO_TEST_CASE(a_ping_without_an_answer_ends_in_time_and_changes_nothing) {
    auto config = quiet_config();
    config.heartbeat.timeout = 10s;
    inspected_pool pool(config);
    pool.worker(0).answers_pings = false;
    duration took{};
    const auto asked = pool.ping(0, took);
    pool.advance(9999ms, 100ms);
    BOOST_TEST(!asked->done);
    pool.advance(1ms);
    BOOST_TEST(asked->code() == errc::timeout);
    check_mentions(asked->text(), "heartbeat.timeout, 10s");
    BOOST_TEST((pool.worker_status_of(0).state == worker_state::ready));
    BOOST_TEST(pool.worker(0).answer_pings() == 1u); // a late answer is no fault
    pool.run_until_idle();
    BOOST_TEST((pool.worker_status_of(0).state == worker_state::ready));
}

BOOST_AUTO_TEST_CASE(a_suspended_worker_is_probed_once_it_is_resumed_and_left_out_of_the_probe_of_all) {
    inspected_pool pool(quiet_config(2));
    pool.begin(pool.facade().suspend(pool.worker_status_of(0).id));
    pool.run_until_idle();
    BOOST_REQUIRE((pool.worker_status_of(0).state == worker_state::suspended));
    std::vector<probe_result> of_one;
    std::vector<probe_result> of_all;
    const auto one = pool.probe(0, of_one);
    const auto all = pool.probe_all(of_all);
    pool.worker(1).reply(pool.worker(1).take_call());
    pool.run_until_idle();
    BOOST_TEST(all->value.has_value());
    BOOST_REQUIRE_EQUAL(of_all.size(), 1u);
    BOOST_TEST(of_all[0].worker.slot == 1u);
    BOOST_TEST(pool.worker(0).take_calls().empty());
    BOOST_TEST(!one->done);
    pool.begin(pool.facade().resume());
    pool.run_until_idle();
    pool.worker(0).reply(pool.worker(0).take_call());
    pool.run_until_idle();
    BOOST_TEST(one->value.has_value());
}

BOOST_AUTO_TEST_CASE(a_large_result_of_a_check_is_not_kept) {
    inspected_pool pool(quiet_config());
    for (const std::size_t length : {16'000, 17'000}) {
        std::vector<probe_result> found;
        const auto asked = pool.probe(0, found);
        pool.worker(0).reply(pool.worker(0).take_call(), boost::json::value(std::string(length, 'x')));
        pool.run_until_idle();
        BOOST_TEST(asked->value.has_value());
        BOOST_REQUIRE_EQUAL(found.size(), 1u);
        BOOST_TEST(found[0].passed);
        BOOST_TEST(found[0].value.is_null() == (length > 16u << 10));
    }
}

BOOST_AUTO_TEST_CASE(a_probe_asked_for_during_another_is_one_of_its_own) {
    inspected_pool pool(quiet_config());
    std::vector<probe_result> first;
    std::vector<probe_result> second;
    const auto one = pool.probe(0, first);
    const auto probe = pool.worker(0).take_call();
    const auto two = pool.probe(0, second);
    pool.worker(0).reply(probe, 1);
    pool.run_until_idle();
    BOOST_TEST(one->done);
    BOOST_TEST(!two->done);
    pool.worker(0).reply(pool.worker(0).take_call(), 2);
    pool.run_until_idle();
    BOOST_REQUIRE_EQUAL(second.size(), 1u);
    BOOST_TEST(second[0].value == 2);
}

BOOST_AUTO_TEST_CASE(a_cancelled_wait_leaves_the_probe_and_the_pool_as_they_are) {
    inspected_pool pool(quiet_config());
    std::vector<probe_result> found;
    const auto asked = pool.probe(0, found);
    asked->cancel.emit(asio::cancellation_type::terminal);
    pool.run_until_idle();
    BOOST_TEST(asked->done);
    BOOST_TEST(found.empty());
    pool.worker(0).reply(pool.worker(0).take_call());
    pool.run_until_idle();
    BOOST_TEST(pool.worker_status_of(0).last_probe.has_value());
}

BOOST_AUTO_TEST_CASE(how_a_worker_ended_is_told_once_it_has_and_later_too) {
    inspected_pool pool(quiet_config());
    pool.warm_up();
    const auto id = pool.worker_status_of(0).id;
    std::optional<worker_exit> end;
    const auto asked = pool.ended(id, end);
    BOOST_TEST(!asked->done);
    crash_worker(pool, 0);
    pool.advance(1s);
    BOOST_TEST(asked->value.has_value());
    BOOST_REQUIRE(end);
    BOOST_TEST((end->id == id));
    BOOST_TEST((end->status == exit_3));
    std::optional<worker_exit> again;
    BOOST_TEST(pool.ended(id, again)->value.has_value());
    BOOST_REQUIRE(again);
    BOOST_TEST((again->status == exit_3));
    BOOST_TEST(again->unanswered.count == 0u);
    auto unknown = id;
    unknown.generation = 77;
    BOOST_TEST(pool.ended(unknown, again)->code() == errc::unknown_worker);
}

BOOST_AUTO_TEST_CASE(how_a_worker_ended_includes_the_calls_that_it_had) {
    inspected_pool pool(quiet_config());
    const auto id = pool.worker_status_of(0).id;
    pool.execute(request("work").correlation_id("c-1"));
    crash_worker(pool, 0);
    std::optional<worker_exit> end;
    BOOST_TEST(pool.ended(id, end)->value.has_value());
    BOOST_REQUIRE(end);
    BOOST_REQUIRE_EQUAL(end->unanswered.named.size(), 1u);
    BOOST_TEST(end->unanswered.named[0].command == "work");
    BOOST_TEST(end->unanswered.named[0].correlation_id == "c-1");
}

BOOST_AUTO_TEST_CASE(stacks_are_complete_after_a_silence) {
    auto config = quiet_config();
    std::vector<std::string> others;
    config.output.handler = [&](const output_line& line) { others.emplace_back(line.text); };
    inspected_pool pool(config);
    std::string text;
    const auto asked = pool.stacks({"default", 0, 1}, text);
    BOOST_TEST(pool.worker(0).signals == std::vector<int>{SIGUSR2});
    pool.advance(1900ms); // the process is slow
    pool.print("Thread 0x1 (most recent call first):");
    pool.print("  File \"w.py\", line 3 in work");
    pool.print("Thread 0x9", false);
    pool.advance(90ms);
    pool.print("");
    pool.print("own line");
    pool.print("Current thread 0x2 (most recent call first):");
    pool.advance(90ms);
    BOOST_TEST(!asked->done);
    pool.advance(10ms);
    BOOST_REQUIRE_MESSAGE(asked->value, asked->text());
    BOOST_TEST(text == "Thread 0x1 (most recent call first):\n  File \"w.py\", line 3 in work\n\n"
                       "Current thread 0x2 (most recent call first):\n");
    BOOST_TEST(others == (std::vector<std::string>{"Thread 0x9", "own line"}));
    pool.print("Thread 0x3 (most recent call first):"); // by its own faulthandler
    BOOST_TEST(others.size() == 3u);
}

BOOST_AUTO_TEST_CASE(two_readings_of_stacks_take_turns) {
    inspected_pool pool(quiet_config());
    std::string texts[2];
    const auto first = pool.stacks({"default", 0, 1}, texts[0]);
    const auto second = pool.stacks({"default", 0, 1}, texts[1]);
    for (std::size_t round = 0; round < 2; ++round) {
        BOOST_TEST(pool.worker(0).signals.size() == round + 1);
        pool.print("Thread 0x" + std::to_string(round));
        pool.advance(stack_reading::longest_pause);
    }
    BOOST_TEST(first->value.has_value());
    BOOST_TEST(second->value.has_value());
    BOOST_TEST(texts[0] == "Thread 0x0\n");
    BOOST_TEST(texts[1] == "Thread 0x1\n");
}

BOOST_AUTO_TEST_CASE(stacks_without_an_end_are_cut_off) {
    inspected_pool pool(quiet_config());
    std::string text;
    const auto asked = pool.stacks({"default", 0, 1}, text);
    pool.print("Thread 0x1 (most recent call first):");
    for (int i = 0; i < 100; ++i) {
        pool.print("");
        pool.advance(50ms);
    }
    BOOST_TEST(asked->value.has_value());
    BOOST_TEST(text.starts_with("Thread 0x1"));
}

BOOST_AUTO_TEST_CASE(stacks_of_a_worker_that_prints_no_utf8_have_the_same_limit) {
    inspected_pool pool(quiet_config());
    std::string text;
    const auto asked = pool.stacks({"default", 0, 1}, text);
    pool.print("Thread 0x1 (most recent call first):");
    for (int i = 0; i < 1000; ++i) {
        pool.print("  File \"" + std::string(1000, '\xff'));
    }
    pool.advance(stack_reading::longest_pause);
    BOOST_TEST(asked->value.has_value());
    BOOST_TEST(text.size() > 900'000u);
    BOOST_TEST(text.size() <= stack_reading::most_bytes);
}

BOOST_AUTO_TEST_CASE(stacks_that_do_not_come) {
    inspected_pool pool(quiet_config(2));
    std::string text;
    const auto silent = pool.stacks({"default", 0, 1}, text);
    const auto dead = pool.stacks({"default", 1, 1}, text);
    const auto cancelled = pool.stacks({"default", 0, 1}, text);
    cancelled->cancel.emit(asio::cancellation_type::total);
    pool.run_until_idle();
    BOOST_TEST(cancelled->code() == errc::cancelled);
    crash_worker(pool, 1);
    pool.advance(1999ms);
    BOOST_TEST(!silent->done);
    BOOST_TEST(dead->code() == errc::unknown_worker);
    pool.advance(1ms);
    BOOST_TEST(silent->code() == errc::timeout);
    check_mentions(silent->text(), "it printed no stacks within 2s");
    BOOST_TEST(pool.stacks({"default", 7, 1}, text)->code() == errc::unknown_worker);
}

BOOST_AUTO_TEST_CASE(stacks_of_one_that_cannot_print_them) {
    manual_pool pool(quiet_config(2));
    pool.runtime().on_start = [](fake_worker& fresh) {
        if (fresh.order().worker.slot == 0) {
            fresh.shake_hands();
        }
    };
    pool.start();
    for (std::uint32_t slot : {0u, 1u}) {
        auto read = [&pool, slot]() -> asio::awaitable<void> {
            auto asking = pool.facade().stacks({"default", slot, 1});
            co_await std::move(asking);
        };
        const auto asked = pool.begin(read());
        BOOST_TEST(asked->code() == errc::unknown_command);
        check_mentions(asked->text(),
                       slot == 0 ? "no signal makes it print its stacks" : "not connected yet");
        BOOST_TEST(pool.worker(slot).signals.empty());
    }
}

BOOST_AUTO_TEST_CASE(stacks_of_one_that_hangs_as_it_starts) {
    manual_pool pool(quiet_config());
    pool.runtime().on_start = [](fake_worker& fresh) {
        fresh.stack_signal = SIGUSR1;
        fresh.send_data(fresh.hello());
    };
    const auto started = pool.start();
    BOOST_TEST(!started->done);
    auto read = [&pool]() -> asio::awaitable<void> {
        auto asking = pool.facade().stacks({"default", 0, 1});
        co_await std::move(asking);
    };
    pool.begin(read());
    BOOST_TEST(pool.worker(0).signals == std::vector<int>{SIGUSR1});
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
