// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "support/fake_runtime.hpp"

#include <boost/test/unit_test.hpp>

#include <functional>
#include <string>

namespace skep::test {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(handshake)

namespace {

void shake_hands(fake_worker& fresh) {
    fresh.shake_hands();
}

/// A pool that has not been started, of workers that begin like this.
class fresh_pool : public manual_pool {
public:
    fresh_pool(pool_config config, std::function<void(fake_worker&)> how) : manual_pool(std::move(config)) {
        runtime().on_start = std::move(how);
    }

    void shake_hands(std::size_t first, std::size_t end) {
        for (auto i = first; i < end; ++i) {
            worker(i).shake_hands();
        }
        run_until_idle();
    }
};

} // namespace

/// Each way to fail a handshake, and what the error says about it.

namespace {

void check_failure(const std::function<void(fake_worker&)>& how, const std::string& text) {
    fresh_pool pool(fake_config(1), how);
    const auto started = pool.start();
    pool.advance(300ms);
    BOOST_TEST(started->code() == errc::start_failed);
    check_mentions(started->text(), text);
    check_mentions(started->text(), "0 of 1 workers came up, 1 needed");
    check_mentions(started->text(), "the fake's last words");
    BOOST_TEST(pool.worker(0).has_exited());
    BOOST_TEST(pool.counters().start_failures == 1u);
    BOOST_TEST(pool.counters().workers_started == 0u);
    pool.runtime().on_start = shake_hands;
    BOOST_TEST(pool.start()->value.has_value());
}

} // namespace

BOOST_AUTO_TEST_CASE(wrong_token) {
    check_failure(
        [](fake_worker& fresh) {
            auto hello = fresh.hello();
            hello["token"] = "guessed";
            fresh.send_data(hello);
        },
        "its token is not the one it was started with");
}

BOOST_AUTO_TEST_CASE(another_version) {
    check_failure(
        [](fake_worker& fresh) {
            auto hello = fresh.hello();
            hello["protocol"] = 2;
            fresh.send_data(hello);
        },
        "it speaks protocol version 2, this host 1");
}

BOOST_AUTO_TEST_CASE(ready_without_hello) {
    check_failure([](fake_worker& fresh) { fresh.send_data({{"type", "ready"}}); }, "an unexpected ready");
}

BOOST_AUTO_TEST_CASE(two_hellos) {
    check_failure(
        [](fake_worker& fresh) {
            fresh.send_data(fresh.hello());
            fresh.send_data(fresh.hello());
        },
        "a second hello");
}

BOOST_AUTO_TEST_CASE(no_room_for_any_call) {
    check_failure([](fake_worker& fresh) { fresh.send_data(fresh.hello(0)); }, "must be at least 1");
}

BOOST_AUTO_TEST_CASE(an_answer_before_any_call) {
    check_failure(
        [](fake_worker& fresh) {
            fresh.send_data(fresh.hello());
            fresh.reply(1);
        },
        "which it does not have");
}

BOOST_AUTO_TEST_CASE(a_pong_before_any_ping) {
    check_failure(
        [](fake_worker& fresh) {
            fresh.send_control({{"type", "pong"}, {"seq", 1}, {"in_flight", 0}, {"completed", 0}});
        },
        "pong");
}

BOOST_AUTO_TEST_CASE(garbage) {
    check_failure([](fake_worker& fresh) { fresh.send_raw("Python 3.11.2 (main, Nov 30 2024)\n>>> "); },
                  "exceeds the limit");
}

BOOST_AUTO_TEST_CASE(an_exit_before_hello) {
    check_failure([](fake_worker& fresh) { fresh.exit(exit_status::exited(127)); }, "exit code 127");
}

BOOST_AUTO_TEST_CASE(an_exit_with_0_before_hello) {
    check_failure([](fake_worker& fresh) { fresh.exit(exit_status::exited(0)); },
                  "its process ended before it was ready");
}

BOOST_AUTO_TEST_CASE(an_exit_between_hello_and_ready) {
    check_failure(
        [](fake_worker& fresh) {
            fresh.send_data(fresh.hello());
            fresh.exit(exit_status::exited(1));
        },
        "its process ended before it was ready");
}

BOOST_AUTO_TEST_CASE(a_closed_channel) {
    check_failure([](fake_worker& fresh) { fresh.close_data(); }, "closed its data channel");
}

BOOST_AUTO_TEST_CASE(no_hello_in_time) {
    fresh_pool pool(fake_config(1), never_ready);
    const auto started = pool.start();
    pool.advance(29990ms);
    BOOST_TEST(!started->done);
    pool.advance(10ms);
    BOOST_TEST(started->code() == errc::start_failed);
    check_mentions(started->text(), "it did not say hello in time");
    check_mentions(started->text(), "start.timeout");
    BOOST_TEST(pool.worker(0).terminations == 1);
}

BOOST_AUTO_TEST_CASE(no_ready_in_time) {
    auto config = fake_config(1);
    config.start.timeout = 2s;
    fresh_pool pool(config, [](fake_worker& fresh) { fresh.send_data(fresh.hello()); });
    const auto started = pool.start();
    pool.advance(1990ms);
    BOOST_TEST(!started->done);
    pool.advance(10ms);
    BOOST_TEST(started->code() == errc::start_failed);
    check_mentions(started->text(), "it said hello but its on_start did not end in time");
}

BOOST_AUTO_TEST_CASE(each_worker_has_the_whole_time) {
    auto config = fake_config(20);
    config.start.timeout = 2s;
    fresh_pool pool(config, never_ready);
    pool.start();
    pool.advance(2s);
    BOOST_TEST(pool.worker(9).terminations == 1);
    BOOST_TEST(pool.worker(10).terminations == 0);
    pool.advance(500ms);
    BOOST_TEST(pool.worker(10).terminations == 1);
}

BOOST_AUTO_TEST_CASE(one_that_hangs_does_not_fail_the_others) {
    fresh_pool pool(fake_config(2), never_ready);
    const auto started = pool.start();
    pool.shake_hands(1, 2);
    pool.advance(30s);
    BOOST_TEST(started->value.has_value());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
