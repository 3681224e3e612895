// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Streams of Python generators.

#include "support/run.hpp"

#include <csignal>
#include <random>

namespace skep::test {

namespace {

pool_config streaming_pool(std::size_t workers = 1) {
    return python_pool("integration/workers/streams.py", workers);
}

request counting(int to) {
    return request("count").arg("to", to);
}

/// Reads a stream to its end; how many chunks came, each the next number.
asio::awaitable<int> read_all(reply_stream& from) {
    int expected = 0;
    while (const auto piece = co_await from.next()) {
        BOOST_REQUIRE_EQUAL(piece->as<int>(), expected);
        ++expected;
    }
    co_return expected;
}

} // namespace

BOOST_AUTO_TEST_SUITE(streams)

BOOST_AUTO_TEST_CASE(every_chunk_and_the_result) {
    with_pool(streaming_pool(), [](pool& workers) -> asio::awaitable<void> {
        auto call = counting(1000);
        auto stream = co_await workers.stream(std::move(call));
        const auto count = co_await read_all(stream);
        BOOST_TEST(count == 1000);
        BOOST_TEST(stream.result().as<int>() == 1000);
    });
}

BOOST_AUTO_TEST_CASE(a_call_to_a_generator_gets_a_list) {
    with_pool(streaming_pool(), [](pool& workers) -> asio::awaitable<void> {
        auto call = counting(3);
        const auto values = co_await workers.execute<std::vector<int>>(std::move(call));
        BOOST_TEST((values == std::vector<int>{0, 1, 2}));
    });
}

BOOST_AUTO_TEST_CASE(chunks_carry_bytes) {
    with_pool(streaming_pool(), [](pool& workers) -> asio::awaitable<void> {
        auto call = request("blocks").arg("sizes", std::vector<int>{0, 10, 3'000'000, 100'000});
        auto stream = co_await workers.stream(std::move(call));
        std::size_t total = 0;
        while (const auto piece = co_await stream.next()) {
            BOOST_REQUIRE(piece->attachments.size() == 1u);
            BOOST_TEST(piece->attachments[0].size() == piece->value.at("size").to_number<std::size_t>());
            total += piece->attachments[0].size();
        }
        BOOST_TEST(total == 3'100'010u);
    });
}

BOOST_AUTO_TEST_CASE(leaving_ends_the_generator_and_the_worker_serves_on) {
    with_pool(streaming_pool(), [](pool& workers) -> asio::awaitable<void> {
        {
            auto call = counting(1'000'000'000);
            auto stream = co_await workers.stream(std::move(call));
            const auto first = co_await stream.next();
            BOOST_TEST(first->as<int>() == 0);
        }
        const auto count = co_await cleanups(workers);
        BOOST_TEST(count == 1);
        const auto status = co_await workers.status();
        BOOST_TEST(status.counters.workers_started == 1u);
    });
}

BOOST_AUTO_TEST_CASE(a_consumer_that_stops_stops_its_worker_only) {
    with_pool(streaming_pool(2), [](pool& workers) -> asio::awaitable<void> {
        auto call = counting(1'000'000'000);
        auto stopped = co_await workers.stream(std::move(call));
        call = counting(10'000);
        auto other = co_await workers.stream(std::move(call));
        const auto count = co_await read_all(other);
        BOOST_TEST(count == 10'000);
        for (int i = 0; i < 1000; ++i) {
            const auto piece = co_await stopped.next();
            BOOST_REQUIRE(piece->as<int>() == i);
        }
    });
}

BOOST_AUTO_TEST_CASE(what_came_before_a_crash_is_delivered) {
    with_pool(streaming_pool(), [](pool& workers) -> asio::awaitable<void> {
        auto call = request("die_after").arg("chunks", 20).idempotent(true);
        auto stream = co_await workers.stream(std::move(call));
        int received = 0;
        std::optional<error> failure;
        try {
            while (const auto piece = co_await stream.next()) {
                ++received;
            }
        } catch (const error& e) {
            failure = e;
        }
        BOOST_TEST(received == 20);
        BOOST_REQUIRE(failure);
        BOOST_TEST(failure->kind() == errc::worker_lost);
    });
}

BOOST_AUTO_TEST_CASE(an_exception_comes_after_the_chunks) {
    with_pool(streaming_pool(), [](pool& workers) -> asio::awaitable<void> {
        auto call = request("fail_after").arg("chunks", 2);
        auto stream = co_await workers.stream(std::move(call));
        const auto first = co_await stream.next();
        const auto second = co_await stream.next();
        BOOST_TEST(first.has_value());
        BOOST_TEST(second.has_value());
        auto failing = stream.next();
        const auto failure = co_await failure_of(std::move(failing));
        BOOST_TEST(failure.info().remote_message == "enough");
    });
}

BOOST_AUTO_TEST_CASE(many_streams_of_random_consumers_and_killed_workers) {
    with_pool(quick(streaming_pool(3)), [](pool& workers) -> asio::awaitable<void> {
        const auto executor = co_await asio::this_coro::executor;
        constexpr int consumers = 60;
        int ended = 0;
        int read = 0;
        const auto consume = [&](unsigned seed) -> asio::awaitable<void> {
            std::mt19937 random(seed);
            try {
                auto call = counting(500).queue_timeout(60s);
                auto stream = co_await workers.stream(std::move(call));
                const auto leaves_after = random() % 4 == 0 ? static_cast<int>(random() % 500) : 500;
                for (int i = 0; i < leaves_after; ++i) {
                    const auto piece = co_await stream.next();
                    BOOST_REQUIRE(piece && piece->as<int>() == i);
                    ++read;
                    if (random() % 50 == 0) {
                        co_await pause(1ms);
                    }
                }
            } catch (const error& failure) {
                BOOST_TEST(failure.kind() == errc::worker_lost);
            }
            ++ended;
        };
        for (unsigned seed = 0; seed < consumers; ++seed) {
            asio::co_spawn(executor, consume(seed), [](std::exception_ptr problem) {
                if (problem) {
                    std::rethrow_exception(problem);
                }
            });
        }
        for (int i = 0; i < 4; ++i) {
            co_await pause(50ms);
            const auto status = co_await workers.status();
            for (const auto& each : status.workers) {
                if (each.load > 0) {
                    ::kill(each.pid, SIGKILL);
                    break;
                }
            }
        }
        auto have_all_ended = [&] { return ended == consumers; };
        auto ending = eventually(have_all_ended, 60s);
        const auto all_ended = co_await std::move(ending);
        BOOST_TEST(all_ended);
        BOOST_TEST(read > 500);
        const auto status = co_await workers.status();
        BOOST_TEST(status.queued == 0u);
    });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
