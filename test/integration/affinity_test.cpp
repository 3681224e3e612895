// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Sessions in the memory of real workers.

#include "support/run.hpp"
#include <skep/pool_manager.hpp>
#include <skep/session_store.hpp>

#include <boost/asio/detached.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <csignal>
#include <random>

namespace skep::test {

namespace {

pool_config session_pool(std::size_t workers) {
    auto config = python_pool("integration/workers/sessions.py", workers);
    config.affinity.mode = affinity_mode::strict_queue;
    config.queue.timeout = 60s;
    return config;
}

struct session_story {
    int sent = 0;
    json::value process;
};

asio::awaitable<void> follow(pool& workers, std::string name, session_story& story) {
    const int number = ++story.sent;
    auto call = request("follow").arg("number", number).session(std::move(name));
    const auto answer = co_await workers.execute(std::move(call));
    const auto& seen = answer.value.as_array();
    if (story.process.is_null()) {
        story.process = seen.at(0);
    }
    if (seen.at(0) != story.process || seen.at(1) != number - 1) {
        BOOST_ERROR("call " << number << " came after " << seen.at(1));
    }
}

} // namespace

BOOST_AUTO_TEST_SUITE(affinity)

BOOST_AUTO_TEST_CASE(every_call_of_a_session_runs_on_one_worker_in_the_order_of_submission) {
    constexpr int callers = 64;
    constexpr int calls_each = 250;
    std::array<session_story, 100> sessions;
    with_pool(session_pool(4), [&](pool& workers) -> asio::awaitable<void> {
        std::mt19937 dice(1);
        int running = callers;
        auto call_often = [&]() -> asio::awaitable<void> {
            for (int i = 0; i < calls_each; ++i) {
                const auto which = dice() % sessions.size();
                auto one = follow(workers, "session-" + std::to_string(which), sessions[which]);
                co_await std::move(one);
            }
            --running;
        };
        const auto executor = co_await asio::this_coro::executor;
        for (int i = 0; i < callers; ++i) {
            asio::co_spawn(executor, call_often(), asio::detached);
        }
        const auto is_over = [&] { return running == 0; };
        const bool all_ended = co_await eventually(is_over, 10min);
        BOOST_TEST(all_ended);
    });
    int total = 0;
    for (const auto& each : sessions) {
        total += each.sent;
    }
    BOOST_TEST(total == callers * calls_each);
}

BOOST_AUTO_TEST_CASE(a_session_whose_worker_was_killed_is_told_and_begins_anew_when_it_is_forgotten) {
    with_pool(quick(session_pool(2)), [](pool& workers) -> asio::awaitable<void> {
        session_story story;
        co_await follow(workers, "s", story);
        kill(story.process.to_number<pid_t>(), SIGKILL);
        const auto is_noticed = [&]() -> asio::awaitable<bool> {
            const auto status = co_await workers.status();
            co_return status.counters.workers_lost > 0;
        };
        co_await eventually(is_noticed);
        auto call = request("follow").arg("number", 2).session("s");
        const auto refusal = co_await failure_of(workers.execute(std::move(call)));
        BOOST_TEST(refusal.kind() == errc::session_worker_unavailable);
        const bool was_known = co_await workers.forget_session("s");
        BOOST_TEST(was_known);
        session_story anew;
        co_await follow(workers, "s", anew);
    });
}

namespace {

/// A call of the session in a lease; returns the process, and the number that came before.
asio::awaitable<json::array> follow_in(lease& with, int number) {
    auto call = request("follow").arg("number", number).session("user_42_session");
    const auto answer = co_await with.execute(std::move(call));
    co_return answer.value.as_array();
}

/// The worked example of session-based execution: a lease makes a session, and later ones come back to its
/// memory.
asio::awaitable<void> come_back(pool& workers, session_store& store) {
    const std::string id = "user_42_session";
    auto initial = session_data().ttl(7200s);
    co_await store.create(id, std::move(initial));
    lease first = co_await workers.checkout();
    const auto initialized = co_await follow_in(first, 1);
    const auto worker = first.worker();
    co_await workers.bind_session(id, worker);
    co_await first.close();

    const auto is_recorded = [&]() -> asio::awaitable<bool> { // in the background
        const auto found = co_await store.peek(id);
        co_return found->last_worker_id() == worker;
    };
    const bool was_recorded = co_await eventually(is_recorded);
    BOOST_TEST(was_recorded);
    const auto found = co_await store.get(id);
    auto preferred = checkout_options().worker(*found->last_worker_id());
    lease second = co_await workers.checkout(std::move(preferred));
    BOOST_TEST((second.worker() == worker));
    const auto predicted = co_await follow_in(second, 2);
    BOOST_TEST((predicted == json::array{initialized.at(0), 1}));
    co_await second.close();

    auto of_session = checkout_options().session(id);
    lease third = co_await workers.checkout(std::move(of_session));
    BOOST_TEST((third.worker() == worker));
    co_await third.close();
    const bool was_there = co_await store.remove(id);
    BOOST_TEST(was_there);
    const auto is_forgotten = [&]() -> asio::awaitable<bool> {
        const auto known = co_await workers.session_worker(id);
        co_return !known;
    };
    const bool was_forgotten = co_await eventually(is_forgotten);
    BOOST_TEST(was_forgotten);
}

} // namespace

BOOST_AUTO_TEST_CASE(later_leases_come_back_to_the_memory_of_a_session) {
    for (const auto mode : {affinity_mode::hint, affinity_mode::strict_queue}) {
        auto config = session_pool(3);
        config.affinity.mode = mode;
        config.sessions = std::make_shared<session_store>();
        with_pool(config, [&](pool& workers) { return come_back(workers, *config.sessions); });
    }
}

/// By way of a manager, as by any other.
BOOST_AUTO_TEST_CASE(a_lease_of_a_managed_pool_does_not_take_a_strict_session_along) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        manager_config config;
        config.pools = {session_pool(2)};
        config.pools[0].name = "only";
        config.pools[0].min_ready = 2;
        pool_manager manager(context, std::move(config));
        co_await manager.start();
        auto& workers = manager.get();
        auto first = request("follow").arg("number", 1).session("user_42_session");
        const auto at_home = co_await manager.execute(std::move(first));
        auto what = checkout_options().worker(at_home.worker);
        lease own = co_await workers.checkout(std::move(what));
        lease foreign = co_await workers.checkout();
        BOOST_TEST((foreign.worker() != at_home.worker));
        const auto refusal = co_await failure_of(follow_in(foreign, 2));
        BOOST_TEST(refusal.kind() == errc::session_worker_unavailable);
        co_await own.close();
        auto second = request("follow").arg("number", 3).session("user_42_session");
        const auto back = co_await manager.execute(std::move(second));
        BOOST_TEST((back.value == json::array{at_home.value.at(0), 1}));
        co_await foreign.close();
        co_await manager.shutdown();
    });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
