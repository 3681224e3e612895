// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Every way by which a call of a strict session may come: none leads to a worker that is not the session's
// own.

#include "support/asking_pool.hpp"
#include <skep/lease.hpp>

#include <boost/test/unit_test.hpp>

#include <csignal>
#include <memory>
#include <string>
#include <utility>

namespace skep::test {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(ways_of_a_strict_session)

namespace {

pool_config config_of_ways(affinity_mode mode, std::size_t capacity) {
    auto config = fake_config(2);
    config.affinity.mode = mode;
    config.capacity = capacity;
    config.schedule = scheduling::least_loaded;
    return config;
}

/// Session "s" is served by one worker, whose process lives, and somebody has a lease of the other worker.
class foreign_lease : public asking {
public:
    explicit foreign_lease(affinity_mode mode, std::size_t capacity = 1)
        : asking(config_of_ways(mode, capacity)) {
        execute(request("first").session("s"));
        home = worker_status_of(0).load > 0 ? 0 : 1;
        const auto occupied = worker(home).take_call();
        const auto checked_out = checkout();
        BOOST_REQUIRE(checked_out->value.has_value());
        held = std::move(*checked_out->value);
        BOOST_REQUIRE(held.worker().slot == foreign());
        worker(home).reply(occupied);
        run_until_idle();
    }

    std::size_t foreign() const noexcept { return 1 - home; }
    static request call_of_session() { return request("mine").session("s"); }

    bool has_foreign_seen() { return !worker(foreign()).take_calls().empty(); }

    /// What execute() makes of the session's next call.
    void check_that_home_serves() {
        const auto next = execute(request("next").session("s"));
        BOOST_TEST(serve(home) == "next");
        BOOST_TEST(next->value.has_value());
    }

    void lose_home() {
        worker(home).exit(exit_status::signalled(SIGKILL));
        run_until_idle();
    }

    lease held;
    std::size_t home = 0;
};

constexpr auto queueing = affinity_mode::strict_queue;
constexpr auto fail_fast = affinity_mode::strict_fail_fast;

errc refusal_for(affinity_mode mode) {
    return mode == queueing ? errc::session_worker_unavailable : errc::worker_busy;
}

} // namespace

BOOST_AUTO_TEST_CASE(a_call_in_a_lease) {
    for (const auto mode : {queueing, fail_fast}) {
        foreign_lease pool(mode);
        const auto call = pool.execute(pool.held, foreign_lease::call_of_session());
        BOOST_TEST(!pool.has_foreign_seen());
        BOOST_TEST(call->code() == refusal_for(mode));
        BOOST_REQUIRE(call->info().worker.has_value());
        BOOST_TEST(call->info().worker->slot == pool.home);
        check_mentions(call->text(), "another worker than the lease's");
        pool.check_that_home_serves();
    }
}

BOOST_AUTO_TEST_CASE(a_stream_in_a_lease) {
    for (const auto mode : {queueing, fail_fast}) {
        foreign_lease pool(mode);
        const auto stream = pool.stream(pool.held, foreign_lease::call_of_session());
        BOOST_TEST(!pool.has_foreign_seen());
        BOOST_TEST(stream->code() == refusal_for(mode));
        pool.check_that_home_serves();
    }
}

BOOST_AUTO_TEST_CASE(a_call_that_would_wait_for_a_place_of_its_lease) {
    for (const auto mode : {queueing, fail_fast}) {
        foreign_lease pool(mode);
        pool.execute(pool.held, request("before"));
        const auto call = pool.execute(pool.held, foreign_lease::call_of_session());
        BOOST_TEST(call->code() == refusal_for(mode));
        BOOST_TEST(pool.serve(pool.foreign()) == "before");
        BOOST_TEST(!pool.has_foreign_seen());
        pool.check_that_home_serves();
    }
}

BOOST_AUTO_TEST_CASE(a_call_of_a_tool_in_the_lease_of_its_service) {
    for (const auto mode : {queueing, fail_fast}) {
        foreign_lease pool(mode);
        errc refusal{};
        auto handler = [&](tool_call) -> asio::awaitable<tool_reply> {
            try {
                auto inner = pool.held.execute(foreign_lease::call_of_session());
                co_await std::move(inner);
            } catch (const error& failure) {
                refusal = failure.kind();
            }
            co_return tool_reply();
        };
        pool.facade().register_tool("inner", handler);
        pool.execute(request("outer"));
        const auto outer = pool.worker(pool.home).take_call();
        pool.ask(outer, 1, "inner", {}, pool.home);
        BOOST_TEST(refusal == refusal_for(mode));
        BOOST_TEST(!pool.has_foreign_seen());
        pool.worker(pool.home).reply(outer);
        pool.run_until_idle();
        pool.check_that_home_serves();
    }
}

BOOST_AUTO_TEST_CASE(a_call_of_a_lost_session_in_a_lease) {
    for (const auto mode : {queueing, fail_fast}) {
        foreign_lease pool(mode);
        pool.lose_home();
        const auto call = pool.execute(pool.held, foreign_lease::call_of_session());
        BOOST_TEST(call->code() == errc::session_worker_unavailable);
        BOOST_TEST(!pool.has_foreign_seen());
        BOOST_TEST(pool.execute(foreign_lease::call_of_session())->code() ==
                   errc::session_worker_unavailable);
    }
}

BOOST_AUTO_TEST_CASE(a_call_with_a_hint_does_not_find_a_lost_session_a_new_worker) {
    foreign_lease pool(queueing);
    pool.lose_home();
    auto with_hint = foreign_lease::call_of_session().affinity(affinity_mode::hint);
    const auto in_lease = pool.execute(pool.held, with_hint);
    BOOST_TEST(pool.serve(pool.foreign()) == "mine"); // it says that any worker will do
    pool.held = lease();
    pool.run_until_idle();
    const auto in_pool = pool.execute(with_hint);
    const auto slot = pool.worker_status_of(0).load > 0 ? 0u : 1u;
    BOOST_TEST(pool.worker(slot == pool.foreign() ? slot : 2).take_calls().size() == 1u);
    BOOST_TEST(pool.execute(foreign_lease::call_of_session())->code() == errc::session_worker_unavailable);
    BOOST_TEST(pool.stream(foreign_lease::call_of_session())->code() == errc::session_worker_unavailable);
}

BOOST_AUTO_TEST_CASE(a_retry_of_a_call_with_a_hint) {
    foreign_lease pool(queueing);
    pool.held = lease();
    pool.run_until_idle();
    const auto occupied = pool.execute(request("occupied").session("s"));
    const auto retried =
        pool.execute(foreign_lease::call_of_session().affinity(affinity_mode::hint).idempotent(true));
    BOOST_TEST(pool.worker(pool.foreign()).take_calls().size() == 1u);
    pool.lose_home();
    BOOST_TEST(occupied->code() == errc::worker_lost);
    pool.worker(pool.foreign()).exit(exit_status::signalled(SIGKILL));
    pool.advance(10s, 100ms);
    BOOST_TEST(pool.launched() > 2u);
    BOOST_TEST(pool.execute(foreign_lease::call_of_session())->code() == errc::session_worker_unavailable);
}

BOOST_AUTO_TEST_CASE(a_lease_of_its_own_worker_serves_the_session) {
    for (const auto mode : {queueing, fail_fast}) {
        foreign_lease pool(mode);
        const auto own = pool.checkout();
        BOOST_REQUIRE(own->value.has_value());
        const auto call = pool.execute(*own->value, foreign_lease::call_of_session());
        const auto second = pool.execute(*own->value, foreign_lease::call_of_session());
        BOOST_TEST(second->code() == (mode == queueing ? errc() : errc::worker_busy));
        BOOST_TEST(pool.serve(pool.home) == "mine");
        BOOST_TEST(call->value.has_value());
        if (mode == queueing) {
            BOOST_TEST(pool.serve(pool.home) == "mine");
            BOOST_TEST(second->value.has_value());
        }
    }
}

BOOST_AUTO_TEST_CASE(one_place_of_its_own_worker_serves_the_session_too) {
    foreign_lease pool(queueing, 2);
    const auto own = pool.checkout(checkout_options().one_place());
    BOOST_REQUIRE(own->value.has_value());
    BOOST_REQUIRE(own->value->worker().slot == pool.home);
    pool.execute(*own->value, foreign_lease::call_of_session());
    BOOST_TEST(pool.serve(pool.home) == "mine");
}

BOOST_AUTO_TEST_CASE(a_session_of_which_a_call_waits_for_a_place_of_its_lease_is_in_use) {
    auto config = config_of_ways(queueing, 1);
    config.affinity.ttl = 10s;
    config.queue.timeout = 5min;
    config.request_timeout = 5min;
    running_pool pool(config);
    const auto held = pool.checkout();
    BOOST_REQUIRE(held->value.has_value());
    const auto leased = held->value->worker().slot;
    pool.execute(*held->value, request("first").session("s"));
    pool.serve(leased);
    pool.execute(*held->value, request("long"));
    const auto id = pool.worker(leased).take_call();
    const auto waiting = pool.execute(*held->value, request("waiting").session("s"));
    pool.advance(1min, 1s);
    BOOST_TEST(pool.execute(request("elsewhere").session("s").queue_timeout(1s))->code() == errc());
    BOOST_TEST(pool.worker(1 - leased).take_calls().empty());
    pool.worker(leased).reply(id);
    pool.run_until_idle();
    BOOST_TEST(pool.serve(leased) == "waiting");
    BOOST_TEST(waiting->value.has_value());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
