// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "support/run.hpp"

#include <atomic>
#include <random>

namespace skep::test {

namespace {

constexpr int threads = 4;
constexpr int users = 16;

/// Runs `body(user)`, a coroutine, for each of the users, on several threads.
template <class Body>
void run_users(Body body) {
    std::atomic<int> open{users};
    std::atomic<int> failed{0};
    run(
        [&](asio::io_context& context) -> asio::awaitable<void> {
            for (int user = 0; user < users; ++user) {
                asio::co_spawn(context, body(user), [&](const std::exception_ptr& problem) {
                    failed += problem ? 1 : 0;
                    --open;
                });
            }
            while (open > 0) {
                co_await pause(5ms);
            }
        },
        threads);
    BOOST_TEST(failed == 0);
}

void count(session_data& data) {
    const auto* const counted = data.metadata().if_contains("n");
    data.metadata("n", counted == nullptr ? 1 : counted->as_int64() + 1);
}

} // namespace

BOOST_AUTO_TEST_SUITE(session_suite)

BOOST_AUTO_TEST_CASE(no_update_is_lost) {
    constexpr int updates = 500;
    session_store store;
    std::atomic<int> torn{0};
    auto body = [&](int user) -> asio::awaitable<void> {
        co_await store.create("shared");
        for (int i = 0; i < updates; ++i) {
            const session seen = co_await store.update("shared", count);
            torn += seen.metadata().contains("n") ? 0 : 1;
            co_await store.put_program("shared", std::to_string(user), i);
        }
    };
    run_users(body);
    std::optional<session> left;
    run([&](asio::io_context&) -> asio::awaitable<void> { left = co_await store.get("shared"); });
    BOOST_REQUIRE(left.has_value());
    BOOST_TEST((left->metadata() == json::object{{"n", users * updates}}));
    BOOST_TEST(left->programs().size() == static_cast<std::size_t>(users));
    BOOST_TEST(torn == 0);
}

BOOST_AUTO_TEST_CASE(the_first_of_many_creates_it) {
    constexpr int rounds = 300;
    session_store store;
    std::atomic<int> first{0};
    auto body = [&](int user) -> asio::awaitable<void> {
        for (int round = 0; round < rounds; ++round) {
            auto initial = session_data().metadata("by", user);
            const session made = co_await store.create(std::to_string(round), std::move(initial));
            first += made.metadata().at("by").as_int64() == user ? 1 : 0;
        }
    };
    run_users(body);
    session_store_stats stats;
    run([&](asio::io_context&) -> asio::awaitable<void> { stats = co_await store.stats(); });
    BOOST_TEST(first == rounds);
    BOOST_TEST(stats.created == static_cast<std::uint64_t>(rounds));
    BOOST_TEST(stats.current == static_cast<std::size_t>(rounds));
}

BOOST_AUTO_TEST_CASE(the_quota_holds_and_every_session_is_accounted_for) {
    constexpr int steps = 2'000;
    constexpr std::size_t quota = 50;
    session_options options;
    options.quota = quota;
    options.ttl = 1ms;
    session_store store(options);
    std::atomic<int> beyond{0};
    auto body = [&](int user) -> asio::awaitable<void> {
        std::minstd_rand random(static_cast<unsigned>(user) + 1);
        for (int step = 0; step < steps; ++step) {
            auto id = std::to_string(random() % 100);
            switch (random() % 8) {
            case 0: co_await store.remove(std::move(id)); break;
            case 1: co_await store.touch(std::move(id)); break;
            case 2: co_await store.get(std::move(id)); break;
            case 3: co_await store.cleanup_expired(); break;
            case 4: {
                const auto stats = co_await store.stats();
                beyond += stats.current > quota ? 1 : 0;
                break;
            }
            default: try { co_await store.create(std::move(id));
                } catch (const error& failure) {
                    beyond += failure.kind() == errc::session_quota_exceeded ? 0 : 1;
                }
            }
        }
    };
    run_users(body);
    session_store_stats stats;
    run([&](asio::io_context&) -> asio::awaitable<void> {
        co_await pause(5ms);
        co_await store.cleanup_expired();
        stats = co_await store.stats();
    });
    BOOST_TEST(beyond == 0);
    BOOST_TEST(stats.created == stats.deleted + stats.expired);
    BOOST_TEST(stats.memory_bytes == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
