// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "async/timer.hpp"
#include "support/fake_runtime.hpp"
#include "support/log_capture.hpp"
#include <skep/call_interface.hpp>
#include <skep/initialization_delegate.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/test/unit_test.hpp>

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace skep::test {

using namespace std::chrono_literals;

namespace {

asio::awaitable<void> sleep(duration span) {
    timer pause(strand(co_await asio::this_coro::executor), clock::now() + span);
    co_await pause.async_wait(asio::use_awaitable);
}

/// Does not heed that it is cancelled.
asio::awaitable<void> sleep_on(duration span) {
    co_await asio::this_coro::throw_if_cancelled(false);
    co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
    co_await sleep(span);
}

// Until then a hook that does not heed its cancellation goes on.
constexpr duration long_hook = 20s;

/// Keeps a list of what it is called for, and does what the test says.
class scripted_delegate final : public initialization_delegate {
public:
    std::vector<std::string> told;
    std::function<asio::awaitable<void>()> at_first = [] { return sleep(0s); };
    std::function<asio::awaitable<launch_options>(worker_id, launch_options)> at_launch;
    std::function<asio::awaitable<void>(worker_id, call_interface&)> at_ready;
    std::function<asio::awaitable<void>(worker_exit)> at_end;
    std::vector<worker_exit> ends;
    std::vector<launch_options> planned;

    asio::awaitable<void> before_first_worker() override {
        told.push_back("first");
        co_await at_first();
        told.push_back("first is over");
    }
    asio::awaitable<launch_options> before_launch(worker_id worker, launch_options plan) override {
        told.push_back("launch " + to_string(worker));
        planned.push_back(plan);
        return at_launch ? at_launch(worker, plan)
                         : initialization_delegate::before_launch(worker, std::move(plan));
    }
    asio::awaitable<void> warm_up(worker_id worker, call_interface& calls) override {
        told.push_back("warm up " + to_string(worker));
        return at_ready ? at_ready(worker, calls) : initialization_delegate::warm_up(worker, calls);
    }
    asio::awaitable<void> after_end(worker_exit end) override {
        told.push_back("end " + to_string(end.id));
        ends.push_back(end);
        return at_end ? at_end(end) : initialization_delegate::after_end(std::move(end));
    }

    bool was_told(const std::string& what) const { return std::count(told.begin(), told.end(), what) == 1; }
};

/// A pool with one, not yet started.
class guided_pool {
public:
    explicit guided_pool(pool_config config = fake_config()) : pool_(with(delegate_, std::move(config))) {}

    manual_pool* operator->() noexcept { return &pool_; }
    manual_pool& operator*() noexcept { return pool_; }
    scripted_delegate& delegate() noexcept { return *delegate_; }

    /// A start that succeeds.
    void start() {
        const auto started = pool_.start();
        BOOST_REQUIRE_MESSAGE(started->value, "start: " << started->text());
    }

private:
    static pool_config with(std::shared_ptr<scripted_delegate> delegate, pool_config config) {
        config.initialization.delegate = std::move(delegate);
        return config;
    }

    std::shared_ptr<scripted_delegate> delegate_ = std::make_shared<scripted_delegate>();
    manual_pool pool_;
};

asio::awaitable<void> refuse() {
    throw std::runtime_error("the licence server is down");
    co_return;
}

asio::awaitable<void> warm_up_by(std::vector<std::string> commands, std::vector<std::string>& results,
                                 call_interface& calls) {
    for (auto& each : commands) {
        std::string outcome;
        try {
            const reply answer = co_await calls.execute(each);
            outcome = std::string(answer.value.as_string()) + " from " + to_string(answer.worker);
        } catch (const error& problem) {
            outcome = problem.code().message();
        }
        results.push_back(std::move(outcome));
    }
}

} // namespace

BOOST_AUTO_TEST_SUITE(initialization)

BOOST_AUTO_TEST_CASE(nothing_is_launched_before_the_first_hook_is_over) {
    guided_pool pool;
    pool.delegate().at_first = [] { return sleep(1s); };
    const auto started = pool->start();
    pool->advance(990ms);
    BOOST_TEST(pool->launched() == 0u);
    BOOST_TEST(!started->done);
    pool->advance(20ms);
    BOOST_TEST(started->value.has_value());
    const std::vector<std::string> expected{"first", "first is over", "launch default/0#1",
                                            "warm up default/0#1"};
    BOOST_TEST(pool.delegate().told == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(what_the_first_hook_throws_fails_the_start_and_the_calls_that_wait_for_it) {
    guided_pool pool;
    pool.delegate().at_first = [] { return refuse(); };
    const auto waiting = pool->execute(request("x"));
    const auto started = pool->start();
    BOOST_TEST(started->code() == errc::start_failed);
    check_mentions(started->text(), "before_first_worker: the licence server is down");
    BOOST_TEST(pool->launched() == 0u);
    BOOST_TEST(waiting->code() == errc::not_started);
    pool.delegate().at_first = [] { return sleep(0s); };
    pool.start(); // repeated
    pool->warm_up();
}

BOOST_AUTO_TEST_CASE(a_start_says_that_it_waits_for_the_first_hook) {
    auto config = fake_config();
    config.log_level = log_level::info;
    config.log_handler = capturing_handler();
    const log_capture log;
    guided_pool pool(config);
    pool.delegate().at_first = [] { return sleep(3s); };
    pool->start();
    pool->advance(1s, 100ms);
    BOOST_TEST(log.count("start has taken 1 s; 0 of 1 workers are up, 1 needed; "
                         "waiting for before_first_worker\n") == 1,
               log.text());
    pool->advance(10s, 100ms);
    BOOST_TEST(log.count("start has taken") == 1, log.text());
}

BOOST_AUTO_TEST_CASE(the_first_hook_has_a_deadline) {
    auto config = fake_config();
    config.initialization.before_first_worker_timeout = 3s;
    for (const bool heeds : {true, false}) {
        guided_pool pool(config);
        pool.delegate().at_first = [heeds] { return heeds ? sleep(1h) : sleep_on(long_hook); };
        const auto started = pool->start();
        pool->advance(2990ms);
        BOOST_TEST(!started->done);
        pool->advance(20ms);
        BOOST_TEST(started->code() == errc::start_failed);
        check_mentions(started->text(), "before_first_worker: it did not end in time");
        pool->advance(long_hook);
    }
}

BOOST_AUTO_TEST_CASE(a_shutdown_does_not_wait_for_the_first_hook) {
    for (const bool heeds : {true, false}) {
        guided_pool pool;
        pool.delegate().at_first = [heeds] { return heeds ? sleep(1h) : sleep_on(long_hook); };
        const auto started = pool->start();
        const auto ended = pool->shutdown();
        BOOST_TEST(started->code() == errc::shutting_down);
        BOOST_TEST(ended->value.has_value());
        BOOST_TEST(pool->launched() == 0u);
        pool->advance(long_hook);
    }
}

BOOST_AUTO_TEST_SUITE(before_launch)

BOOST_AUTO_TEST_CASE(it_is_shown_what_the_slot_gets_and_may_change_it) {
    auto config = fake_config(2);
    config.launch.args = {"common"};
    config.launch.slot_args = {{"zero"}, {"one"}};
    config.launch.environment = {{"A", "all"}, {"DEVICE", "none"}};
    config.launch.slot_environment = {{"DEVICE", {"gpu0", "gpu1"}}};
    guided_pool pool(config);
    pool.delegate().at_launch = [](worker_id, launch_options plan) -> asio::awaitable<launch_options> {
        plan.program = "/usr/bin/other";
        plan.args.push_back("more");
        co_return plan;
    };
    pool.start();
    pool->run_until_idle();
    BOOST_REQUIRE_EQUAL(pool.delegate().planned.size(), 2u);
    const auto& shown = pool.delegate().planned[1];
    const std::vector<std::string> args{"common", "one"};
    BOOST_TEST(shown.args == args, boost::test_tools::per_element());
    BOOST_TEST(shown.slot_args.empty());
    BOOST_TEST((shown.environment.at("DEVICE") == "gpu1"));
    BOOST_TEST((shown.environment.at("A") == "all"));
    const auto& launched = pool->worker(1).order().launch;
    BOOST_REQUIRE(launched.has_value());
    BOOST_TEST(launched->program == "/usr/bin/other");
    BOOST_TEST(launched->args.back() == "more");
}

BOOST_AUTO_TEST_CASE(without_a_delegate_the_pool_s_own_options_hold) {
    running_pool pool(fake_config());
    BOOST_TEST(!pool.worker(0).order().launch.has_value());
}

BOOST_AUTO_TEST_CASE(what_it_throws_is_a_failed_start) {
    guided_pool pool;
    pool.delegate().at_launch = [](worker_id, launch_options) -> asio::awaitable<launch_options> {
        throw std::runtime_error("no device is free");
        co_return launch_options();
    };
    const auto started = pool->start();
    BOOST_TEST(started->code() == errc::start_failed);
    check_mentions(started->text(), "before_launch: no device is free");
    BOOST_TEST(pool->launched() == 0u);
    BOOST_TEST(pool.delegate().was_told("end default/0#1"));
    BOOST_TEST(pool.delegate().ends.at(0).pid == 0);
}

BOOST_AUTO_TEST_CASE(one_that_is_refused_does_not_keep_the_others_from_starting) {
    guided_pool pool(fake_config(2));
    pool.delegate().at_launch = [](worker_id id, launch_options plan) -> asio::awaitable<launch_options> {
        if (id.slot == 0 && id.generation == 1) {
            throw std::runtime_error("no device is free");
        }
        co_return plan;
    };
    pool.start();
    BOOST_TEST(pool->launched() == 1u);
    pool->advance(200ms); // backoff
    BOOST_TEST(pool->launched() == 2u);
    BOOST_TEST(pool->counters().start_failures == 1u);
}

BOOST_AUTO_TEST_CASE(what_it_returns_is_checked) {
    guided_pool pool;
    pool.delegate().at_launch = [](worker_id, launch_options plan) -> asio::awaitable<launch_options> {
        plan.environment["SKEP_TOKEN"] = "mine";
        co_return plan;
    };
    const auto started = pool->start();
    BOOST_TEST(started->code() == errc::start_failed);
    check_mentions(started->text(), "names starting with SKEP_ are reserved");
}

BOOST_AUTO_TEST_CASE(its_time_is_part_of_the_start_s) {
    auto config = fake_config();
    config.start.timeout = 2s;
    for (const bool heeds : {true, false}) {
        guided_pool pool(config);
        pool.delegate().at_launch = [heeds](worker_id,
                                            launch_options plan) -> asio::awaitable<launch_options> {
            auto pause = heeds ? sleep(1h) : sleep_on(long_hook);
            co_await std::move(pause);
            co_return plan;
        };
        const auto started = pool->start();
        pool->advance(1990ms);
        BOOST_TEST(!started->done);
        pool->advance(300ms);
        BOOST_TEST(started->code() == errc::start_failed);
        check_mentions(started->text(), "before_launch did not end in time; raise start.timeout");
        BOOST_TEST(pool->launched() == 0u);
        pool->advance(long_hook);
    }
}

BOOST_AUTO_TEST_CASE(a_shutdown_does_not_wait_for_it) {
    for (const bool heeds : {true, false}) {
        guided_pool pool;
        pool.delegate().at_launch = [heeds](worker_id,
                                            launch_options plan) -> asio::awaitable<launch_options> {
            auto pause = heeds ? sleep(1h) : sleep_on(long_hook);
            co_await std::move(pause);
            co_return plan;
        };
        const auto started = pool->start();
        const auto ended = pool->shutdown();
        pool->advance(300ms);
        BOOST_TEST(ended->value.has_value());
        BOOST_TEST(started->code() == errc::shutting_down);
        BOOST_TEST(pool->launched() == 0u);
        pool->advance(long_hook);
    }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(warm_up)

BOOST_AUTO_TEST_CASE(its_calls_reach_that_worker_alone_and_no_other_does) {
    guided_pool pool;
    std::vector<std::string> results;
    pool.delegate().at_ready = [&](worker_id, call_interface& calls) {
        return warm_up_by({"load", "try"}, results, calls);
    };
    const auto started = pool->start();
    const auto waiting = pool->execute(request("users"));
    const auto id = pool->worker(0).take_call();
    BOOST_TEST(to_string(pool->status().workers.at(0).state) == "starting");
    pool->worker(0).reply(id, "loaded");
    pool->run_until_idle();
    BOOST_TEST(!started->done);
    pool->worker(0).answer_call("tried");
    pool->run_until_idle();
    const std::vector<std::string> expected{"loaded from default/0#1", "tried from default/0#1"};
    BOOST_TEST(results == expected, boost::test_tools::per_element());
    BOOST_TEST(started->value.has_value());
    BOOST_TEST(pool->serve() == "users");
    BOOST_TEST(waiting->value.has_value());
    const auto counters = pool->counters();
    BOOST_TEST(counters.submitted == 1u);
    BOOST_TEST(counters.succeeded == 1u);
    BOOST_TEST(pool->status().workers.at(0).completed == 1u);
}

BOOST_AUTO_TEST_CASE(none_of_its_calls_has_an_option_without_effect) {
    guided_pool pool;
    std::string problem;
    pool.delegate().at_ready = [&](worker_id, call_interface& calls) -> asio::awaitable<void> {
        try {
            auto loading = calls.execute(request("load").idle_timeout(1s));
            co_await std::move(loading);
        } catch (const error& failure) {
            problem = failure.what();
        }
    };
    const auto started = pool->start();
    BOOST_TEST(started->value.has_value());
    check_mentions(problem, "the request is invalid: idle_timeout has an effect on streams only");
}

BOOST_AUTO_TEST_CASE(none_of_its_calls_is_of_a_strict_session) {
    guided_pool pool;
    std::vector<std::string> results;
    pool.delegate().at_ready = [&](worker_id, call_interface& calls) -> asio::awaitable<void> {
        for (const auto mode : {affinity_mode::strict_queue, affinity_mode::hint}) {
            request load = request("load").session("s").affinity(mode);
            try {
                auto loading = calls.execute(std::move(load));
                co_await std::move(loading);
                results.push_back("done");
            } catch (const error& problem) {
                results.push_back(problem.what());
            }
        }
    };
    const auto started = pool->start();
    pool->worker(0).answer_call();
    pool->run_until_idle();
    BOOST_TEST(started->value.has_value());
    BOOST_TEST(results.size() == 2u);
    check_mentions(results.at(0), "a warm-up call has no session that is strictly bound");
    BOOST_TEST(results.at(1) == "done");
}

BOOST_AUTO_TEST_CASE(errors_of_its_calls_are_its_own_affair) {
    guided_pool pool;
    std::vector<std::string> results;
    pool.delegate().at_ready = [&](worker_id, call_interface& calls) {
        return warm_up_by({"load"}, results, calls);
    };
    const auto started = pool->start();
    pool->worker(0).fail(pool->worker(0).take_call(), "skep.UnknownCommand", "no such command");
    pool->run_until_idle();
    BOOST_TEST(started->value.has_value());
    BOOST_TEST(results.at(0) == "the worker has no such command");
}

BOOST_AUTO_TEST_CASE(what_it_throws_is_a_failed_start) {
    guided_pool pool;
    pool.delegate().at_ready = [](worker_id, call_interface&) { return refuse(); };
    const auto started = pool->start();
    pool->advance(300ms);
    BOOST_TEST(started->code() == errc::start_failed);
    check_mentions(started->text(), "warm_up: the licence server is down");
    BOOST_TEST(pool->worker(0).terminations == 1);
    BOOST_TEST(pool->status().counters.start_failures == 1u);
    BOOST_TEST(pool.delegate().was_told("end default/0#1"));
}

BOOST_AUTO_TEST_CASE(its_time_is_part_of_the_start_s) {
    auto config = fake_config();
    config.start.timeout = 2s;
    for (const bool heeds : {true, false}) {
        guided_pool pool(config);
        pool.delegate().at_ready = [heeds](worker_id, call_interface&) {
            return heeds ? sleep(1h) : sleep_on(long_hook);
        };
        const auto started = pool->start();
        pool->advance(1990ms);
        BOOST_TEST(!started->done);
        pool->advance(600ms);
        BOOST_TEST(started->code() == errc::start_failed);
        check_mentions(started->text(), "warm_up did not end in time; raise start.timeout");
        pool->advance(long_hook);
    }
}

BOOST_AUTO_TEST_CASE(a_worker_that_dies_meanwhile_loses_its_calls) {
    guided_pool pool;
    std::vector<std::string> results;
    pool.delegate().at_ready = [&](worker_id, call_interface& calls) {
        return warm_up_by({"load"}, results, calls);
    };
    const auto started = pool->start();
    pool->worker(0).take_call();
    pool->worker(0).exit(exit_status::signalled(SIGSEGV));
    pool->advance(600ms);
    BOOST_TEST(started->code() == errc::start_failed);
    check_mentions(started->text(), "before it was ready");
    BOOST_TEST(results.size() <= 1u); // cancelled, or told that the worker is lost
}

BOOST_AUTO_TEST_CASE(its_calls_have_their_own_timeout_and_are_cancelled_at_the_worker) {
    guided_pool pool;
    std::string outcome;
    pool.delegate().at_ready = [&](worker_id, call_interface& calls) -> asio::awaitable<void> {
        request slow("slow");
        slow.timeout(100ms);
        try {
            co_await calls.execute(std::move(slow));
        } catch (const error& problem) {
            outcome = problem.what();
        }
    };
    const auto started = pool->start();
    const auto id = pool->worker(0).take_call();
    pool->advance(110ms);
    check_mentions(outcome, "the call took longer than its timeout");
    BOOST_TEST(pool->worker(0).take_controls("cancel").size() == 1u);
    BOOST_TEST(started->value.has_value());
    const auto next = pool->execute(request("users"));
    BOOST_TEST(pool->worker(0).take_calls().empty()); // it is still at the other
    pool->worker(0).reply(id);
    pool->run_until_idle();
    BOOST_TEST(pool->serve() == "users");
    BOOST_TEST(next->value.has_value());
    BOOST_TEST(pool->counters().late_answers == 0u);
}

BOOST_AUTO_TEST_CASE(many_at_a_time_are_pipelined) {
    guided_pool pool;
    std::size_t answered = 0;
    pool.delegate().at_ready = [&](worker_id, call_interface& calls) -> asio::awaitable<void> {
        const auto executor = co_await asio::this_coro::executor;
        for (int i = 0; i < 3; ++i) {
            auto call = [](call_interface& on, std::size_t& count) -> asio::awaitable<void> {
                co_await on.execute("x");
                ++count;
            };
            asio::co_spawn(executor, call(calls, answered), asio::detached);
        }
        while (answered < 3) {
            co_await sleep(10ms);
        }
    };
    const auto started = pool->start();
    pool->advance(10ms);
    const auto sent = pool->worker(0).take_calls();
    BOOST_REQUIRE_EQUAL(sent.size(), 3u);
    for (const auto& each : sent) {
        pool->worker(0).reply(id_of(each));
    }
    pool->advance(20ms);
    BOOST_TEST(answered == 3u);
    BOOST_TEST(started->value.has_value());
}

BOOST_AUTO_TEST_CASE(the_suspension_of_a_pool_holds_for_one_that_is_warm) {
    guided_pool pool(fake_config(2));
    bool hold = false;
    pool.delegate().at_ready = [&](worker_id id, call_interface&) {
        return id.generation > 1 && hold ? sleep(1s) : sleep(0s);
    };
    pool.start();
    hold = true;
    pool->warm_up();
    pool->worker(0).exit(exit_status::exited(1));
    pool->advance(600ms);
    const auto suspended = pool->begin(pool->facade().suspend());
    pool->advance(2s);
    BOOST_TEST(pool->status().suspended);
    const auto waiting = pool->execute(request("x").queue_timeout(1h));
    BOOST_TEST(!waiting->done);
    for (std::size_t i = 0; i < pool->launched(); ++i) {
        BOOST_TEST(pool->worker(i).take_calls().empty());
    }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(after_end)

BOOST_AUTO_TEST_CASE(it_is_told_once_of_every_end) {
    guided_pool pool(fake_config(2));
    pool.start();
    pool->warm_up();
    pool->worker(0).exit(exit_status::signalled(SIGSEGV));
    pool->advance(600ms);
    BOOST_TEST(pool.delegate().was_told("end default/0#1"));
    BOOST_TEST(pool.delegate().ends.at(0).status.signal() == SIGSEGV);
    pool->shutdown();
    pool->advance(10s);
    BOOST_TEST(pool.delegate().was_told("end default/0#2"));
    BOOST_TEST(pool.delegate().was_told("end default/1#1"));
    BOOST_TEST(pool.delegate().ends.size() == 3u);
}

BOOST_AUTO_TEST_CASE(a_shutdown_waits_for_it_but_not_for_ever) {
    for (const bool heeds : {true, false}) {
        auto config = fake_config();
        config.initialization.after_end_timeout = 2s;
        guided_pool pool(config);
        pool.delegate().at_end = [heeds](worker_exit) { return heeds ? sleep(1h) : sleep_on(long_hook); };
        pool.start();
        const auto ended = pool->shutdown();
        pool->worker(0).exit(exit_status::exited(0));
        pool->advance(1900ms);
        BOOST_TEST(!ended->done);
        pool->advance(700ms);
        BOOST_TEST(ended->value.has_value());
        pool->advance(long_hook);
    }
}

BOOST_AUTO_TEST_CASE(its_successor_does_not_wait_for_it_and_its_exceptions_do_no_harm) {
    guided_pool pool;
    pool.delegate().at_end = [](worker_exit) { return refuse(); };
    pool.start();
    pool->warm_up();
    pool->worker(0).exit(exit_status::exited(1));
    pool->advance(600ms);
    BOOST_TEST(pool->launched() == 2u);
    const auto ended = pool->shutdown();
    pool->advance(10s);
    BOOST_TEST(ended->value.has_value());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_CASE(a_pool_may_be_destroyed_while_hooks_run) {
    for (const std::string at : {"first", "launch", "ready"}) {
        guided_pool pool;
        if (at == "first") {
            pool.delegate().at_first = [] { return sleep(1h); };
        } else if (at == "launch") {
            pool.delegate().at_launch = [](worker_id,
                                           launch_options plan) -> asio::awaitable<launch_options> {
                co_await sleep(1h);
                co_return plan;
            };
        } else {
            pool.delegate().at_ready = [](worker_id, call_interface& calls) -> asio::awaitable<void> {
                co_await calls.execute("never answered");
            };
        }
        const auto started = pool->start();
        pool->destroy_pool();
        pool->advance(300ms);
        BOOST_TEST(started->code() == errc::shutting_down);
    }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
