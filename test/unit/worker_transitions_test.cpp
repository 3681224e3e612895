// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// The states that real workers pass, why, and what is kept of it.

#include "support/fake_runtime.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace skep::test {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(worker_transitions)

namespace {

pool_config config_without_checks() {
    auto config = fake_config(1);
    config.heartbeat.enabled = false;
    config.health_check.enabled = false;
    return config;
}

/// A pool whose transitions somebody watches.
class watched_pool : public manual_pool {
public:
    explicit watched_pool(pool_config config) : manual_pool(std::move(config)) {
        const auto listen_to = [heard = heard_](const event& what) {
            if (const auto* const passed = std::get_if<events::worker_transition>(&what)) {
                heard->push_back(*passed);
            }
        };
        watching_ = facade().events().listen(context.get_executor(), listen_to);
        start();
        run_until_idle();
    }

    /// Such as "ready>busy checkout", one a line, of one worker; what was told so far is forgotten.
    std::string take(const std::string& worker = "default/0#1") {
        run_until_idle();
        std::string text;
        for (const auto& each : *heard_) {
            if (to_string(each.worker) == worker) {
                text += std::string(to_string(each.from)) + ">" + std::string(to_string(each.to)) + " " +
                        std::string(to_string(each.code)) + "\n";
            }
        }
        heard_->clear();
        return text;
    }

    /// What was told since.
    const std::vector<events::worker_transition>& told() const { return *heard_; }

private:
    /// Outlives this: the base tells of the end of the pool.
    std::shared_ptr<std::vector<events::worker_transition>> heard_ =
        std::make_shared<std::vector<events::worker_transition>>();
    subscription watching_;
};

} // namespace

BOOST_AUTO_TEST_CASE(a_call_checks_its_worker_out_and_in) {
    watched_pool pool(config_without_checks());
    BOOST_TEST(pool.take() == "created>starting launch\nstarting>ready init_complete\n");
    const auto call = pool.execute(request("x").session("s").correlation_id("c"));
    BOOST_TEST((pool.worker_status_of(0).state == worker_state::busy));
    pool.run_until_idle();
    BOOST_REQUIRE(pool.told().size() == 1u);
    BOOST_TEST(pool.told()[0].metadata.at("session") == "s");
    BOOST_TEST(pool.told()[0].metadata.at("command") == "x");
    BOOST_TEST(pool.told()[0].metadata.at("correlation_id") == "c");
    pool.serve();
    BOOST_TEST(pool.take() == "ready>busy checkout\nbusy>ready checkin\n");
    BOOST_TEST((pool.worker_status_of(0).state == worker_state::ready));
}

BOOST_AUTO_TEST_CASE(with_room_for_more_it_is_ready) {
    auto config = config_without_checks();
    config.capacity = 2;
    watched_pool pool(config);
    pool.take();
    const auto first = pool.execute(request("a"));
    BOOST_TEST((pool.worker_status_of(0).state == worker_state::ready));
    const auto second = pool.execute(request("b"));
    BOOST_TEST((pool.worker_status_of(0).state == worker_state::busy));
    BOOST_TEST(pool.take() == "ready>busy checkout\n");
}

BOOST_AUTO_TEST_CASE(a_lease_of_the_whole_worker_makes_it_busy) {
    watched_pool pool(config_without_checks());
    pool.take();
    {
        const auto held = pool.checkout();
        BOOST_TEST((pool.worker_status_of(0).state == worker_state::busy));
        BOOST_TEST(pool.take() == "ready>busy checkout\n");
        *held->value = lease();
    }
    BOOST_TEST(pool.take() == "busy>ready checkin\n");
    BOOST_TEST((pool.worker_status_of(0).state == worker_state::ready));
}

BOOST_AUTO_TEST_CASE(a_thousand_calls_push_nothing_out_of_the_history) {
    manual_pool pool(config_without_checks());
    pool.start();
    const auto before = pool.worker_status_of(0);
    pool.advance(3s);
    for (int i = 0; i < 1000; ++i) {
        pool.warm_up();
    }
    const auto after = pool.worker_status_of(0);
    BOOST_REQUIRE(after.transitions.size() == before.transitions.size() + 1);
    const auto& flips = after.transitions.back();
    BOOST_TEST(flips.count == 2000u);
    BOOST_TEST((flips.code == transition_reason::checkin));
    BOOST_TEST((flips.to == worker_state::ready));
    BOOST_TEST((after.transitions.front().code == transition_reason::launch));
    BOOST_REQUIRE(before.started_at);
    BOOST_TEST((after.started_at == before.started_at));
    BOOST_TEST((after.updated_at > before.updated_at));
    BOOST_TEST((flips.at == after.updated_at));
}

BOOST_AUTO_TEST_CASE(a_worker_held_back_is_pending_and_then_starts) {
    watched_pool pool(config_without_checks());
    pool.take();
    pool.runtime().on_start = [](fake_worker& fresh) { fresh.exit(exit_3); };
    crash_worker(pool, 0); // it had answered nothing: its successor waits
    const auto held = pool.worker_status_of(0);
    BOOST_TEST((held.state == worker_state::pending));
    BOOST_TEST(to_string(held.id) == "default/0#2");
    BOOST_REQUIRE(held.held_for);
    BOOST_REQUIRE(held.last_transition);
    BOOST_TEST((held.last_transition->code == transition_reason::backoff));
    BOOST_TEST(held.last_transition->metadata.at("failure_count").as_int64() > 0);
    BOOST_TEST(pool.take() == "ready>failed exit\n");
    pool.runtime().on_start = [](fake_worker& fresh) { fresh.shake_hands(); };
    pool.advance(10s);
    BOOST_TEST(pool.take("default/0#2") == "pending>starting launch\nstarting>ready init_complete\n");
    const auto up = pool.worker_status_of(0);
    BOOST_TEST((up.transitions.front().to == worker_state::pending));
}

BOOST_AUTO_TEST_CASE(a_worker_held_back_at_shutdown_is_stopped) {
    watched_pool pool(config_without_checks());
    crash_worker(pool, 0);
    BOOST_TEST((pool.worker_status_of(0).state == worker_state::pending));
    pool.take();
    pool.shutdown();
    BOOST_TEST(pool.take("default/0#2") == "pending>stopped shutdown\n");
}

BOOST_AUTO_TEST_CASE(a_shutdown_is_told_as_one) {
    watched_pool pool(config_without_checks());
    pool.take();
    pool.shutdown();
    pool.advance(5s);
    BOOST_TEST(pool.take() == "ready>stopping shutdown\nstopping>stopped shutdown\n");
}

BOOST_AUTO_TEST_CASE(the_last_free_place_is_told_with_load_and_capacity) {
    auto config = config_without_checks();
    config.capacity = 2;
    manual_pool pool(config);
    std::vector<events::capacity_reached> told;
    const auto watching = pool.facade().events().listen(pool.context.get_executor(), [&](const event& what) {
        if (const auto* const full = std::get_if<events::capacity_reached>(&what)) {
            told.push_back(*full);
        }
    });
    pool.start();
    const auto first = pool.execute(request("a"));
    pool.run_until_idle();
    BOOST_TEST(told.empty());
    const auto second = pool.execute(request("b"));
    const auto third = pool.execute(request("c"));
    pool.run_until_idle();
    BOOST_REQUIRE(told.size() == 1u);
    BOOST_TEST(to_string(told[0].worker) == "default/0#1");
    BOOST_TEST(told[0].load == 2u);
    BOOST_TEST(told[0].capacity == 2u);
    BOOST_TEST(pool.counters().waited == 1u); // the third
}

BOOST_AUTO_TEST_CASE(a_tainted_slot_looks_different_from_one_in_backoff) {
    const auto looks = [](exit_status end) {
        auto config = config_without_checks();
        config.workers = 2;
        config.crash_barrier.enabled = true;
        manual_pool pool(config);
        pool.start();
        BOOST_TEST((pool.worker_status_of(0).availability == availability_view::available));
        const auto call = pool.execute(request("x"));
        BOOST_TEST((pool.worker_status_of(0).availability == availability_view::busy));
        crash_worker(pool, 0, end);
        pool.run_until_idle();
        const auto held = pool.worker_status_of(0);
        BOOST_TEST((held.state == worker_state::pending));
        return to_string(held.availability);
    };
    BOOST_TEST(looks(exit_status::signalled(11)) == "tainted");
    BOOST_TEST(looks(exit_status::exited(3)) == "recovering");
}

BOOST_AUTO_TEST_CASE(a_worker_that_was_told_to_stop_or_has_ended_is_dead) {
    const auto looks = [](manual_pool& of) {
        std::string found;
        for (const auto& each : of.status().workers) {
            if (each.id.generation == 1) {
                found = std::string(to_string(each.state)) + " " + std::string(to_string(each.availability));
            }
        }
        return found;
    };
    {
        manual_pool pool(config_without_checks());
        pool.start();
        pool.worker(0).obeys_terminate = false;
        pool.shutdown();
        BOOST_TEST(looks(pool) == "stopping dead");
    }
    manual_pool pool(config_without_checks());
    pool.start();
    pool.worker(0).has_company = true; // which outlives it for a moment
    crash_worker(pool, 0);
    BOOST_TEST(looks(pool) == "failed dead");
}

BOOST_AUTO_TEST_CASE(health_errors_and_lateness_are_told_by_the_names_of_their_reasons) {
    auto config = config_without_checks();
    config.health_check.enabled = true;
    config.health_check.failures = 2;
    bool is_well = false;
    config.health_check.probe = [&is_well](worker_id, pid_t) -> asio::awaitable<void> {
        if (!is_well) {
            throw std::runtime_error("no GPU");
        }
        co_return;
    };
    watched_pool pool(config);
    pool.take();
    pool.advance(config.health_check.interval, 1s);
    BOOST_REQUIRE(pool.told().size() == 1u);
    BOOST_TEST(pool.told()[0].metadata.at("failure_count") == 1);
    BOOST_TEST(pool.told()[0].metadata.at("failure_limit") == 2);
    BOOST_TEST(pool.told()[0].metadata.contains("error"));
    BOOST_TEST(pool.take() == "ready>degraded health_check_failed\n");
    is_well = true;
    pool.advance(config.health_check.interval, 1s);
    BOOST_TEST(pool.take() == "degraded>ready health_check_passed\n");

    pool.worker(0).reply(77); // which nobody has asked for
    pool.advance(5s);
    BOOST_TEST(pool.take().starts_with("ready>stopping error\n"));
    pool.runtime().on_start = never_ready;
    crash_worker(pool, 1);
    pool.advance(2min, 1s);
    BOOST_TEST(pool.take("default/0#3").find("starting>stopping timeout\n") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(each_reason_has_a_name_of_its_own) {
    constexpr auto last = static_cast<int>(transition_reason::timeout);
    std::vector<std::string_view> names;
    for (int i = 0; i <= last; ++i) {
        names.push_back(to_string(static_cast<transition_reason>(i)));
    }
    for (const std::string_view wanted : {"init_complete", "checkout", "checkin", "health_check_failed",
                                          "health_check_passed", "shutdown", "error", "timeout"}) {
        BOOST_TEST(std::count(names.begin(), names.end(), wanted) == 1, wanted);
    }
    std::sort(names.begin(), names.end());
    BOOST_TEST((std::adjacent_find(names.begin(), names.end()) == names.end()));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
