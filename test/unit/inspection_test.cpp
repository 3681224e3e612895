// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// What a user has looked at in a worker: probes and pings on demand, and how it ended.

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

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
