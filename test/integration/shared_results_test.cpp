// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Attachments of results in shared memory, with real workers in C++.

#include "support/kill_amid_calls.hpp"
#include "support/mappings.hpp"

#include <algorithm>
#include <csignal>
#include <string>
#include <vector>

namespace skep::test {

namespace {

constexpr std::size_t mebibyte_of_results = 1u << 20;

pool_config results_pool(bool shows = false) {
    pool_config config;
    config.launch.program = SKEP_CPP_WORKER;
    config.workers = 1;
    config.log_level = log_level::off;
    config.shared.enabled = true;
    config.shared.least_result = 64u << 10;
    config.shared.show_results = shows;
    config.limits.frame_bytes = 200 * mebibyte_of_results;
    return config;
}

asio::awaitable<std::uint64_t> results_shared(pool& workers) {
    const auto status = co_await workers.status();
    co_return status.counters.shared_results;
}

/// Has the worker return the bytes. The answer must be right.
asio::awaitable<reply> echo_of(pool& workers, blob bytes) {
    request call("echo");
    call.attach(bytes).attach("small");
    auto answer = co_await workers.execute(std::move(call));
    BOOST_REQUIRE(answer.attachments.size() == 2u);
    BOOST_TEST((answer.attachments[0] == bytes));
    BOOST_TEST((answer.attachments[1].text() == "small"));
    co_return answer;
}

/// Repeats the call until its result comes through shared memory: the region comes meanwhile.
asio::awaitable<reply> shared_echo(pool& workers, blob bytes) {
    const auto before = co_await results_shared(workers);
    reply answer;
    auto is_shared = [&]() -> asio::awaitable<bool> {
        auto echoing = echo_of(workers, bytes);
        answer = co_await std::move(echoing);
        const auto now = co_await results_shared(workers);
        co_return now > before;
    };
    const bool is_shared_now = co_await eventually(is_shared);
    BOOST_TEST(is_shared_now);
    co_return answer;
}

} // namespace

BOOST_AUTO_TEST_SUITE(shared_results)

BOOST_AUTO_TEST_CASE(results_of_any_size_come_through_shared_memory) {
    for (const bool shows : {false, true}) {
        with_pool(results_pool(shows), [](pool& workers) -> asio::awaitable<void> {
            for (const std::size_t mebibytes : {1, 64}) {
                const blob bytes(pattern(mebibytes * mebibyte_of_results));
                for (int i = 0; i < 3; ++i) {
                    auto echoing = shared_echo(workers, bytes);
                    const auto answer = co_await std::move(echoing);
                    BOOST_TEST(mappings_of("skep-results") > 0u);
                }
            }
            const auto status = co_await workers.status();
            BOOST_TEST(status.counters.workers_lost == 0u);
            BOOST_TEST(status.workers.at(0).shared_bytes.value_or(0) >= 128 * mebibyte_of_results);
        });
        BOOST_TEST(mappings_of("skep-results") == 0u);
    }
}

BOOST_AUTO_TEST_CASE(results_of_forked_workers_come_through_shared_memory) {
    auto config = results_pool();
    config.launch.preload = true;
    with_pool(config, [](pool& workers) -> asio::awaitable<void> {
        auto echoing = shared_echo(workers, blob(pattern(mebibyte_of_results)));
        co_await std::move(echoing);
    });
}

BOOST_AUTO_TEST_CASE(results_in_shared_memory_may_be_larger_than_a_frame) {
    auto config = results_pool();
    config.limits.frame_bytes = config.limits.json_bytes = 100'000;
    with_pool(config, [](pool& workers) -> asio::awaitable<void> {
        auto is_sent = [&]() -> asio::awaitable<bool> { // the first result has no memory yet
            auto call = request("big").arg("bytes", 200'000).arg("attached", true);
            auto calling = workers.execute(std::move(call));
            std::size_t bytes = 0;
            try {
                const auto answer = co_await std::move(calling);
                bytes = answer.attachments.at(0).size();
            } catch (const error& failure) {
                BOOST_TEST(failure.info().remote_type == "skep.ResultTooLarge");
            }
            co_return bytes == 200'000;
        };
        const bool is_sent_now = co_await eventually(is_sent);
        BOOST_TEST(is_sent_now);
    });
}

BOOST_AUTO_TEST_CASE(memory_of_results_is_used_again) {
    for (const bool shows : {false, true}) {
        auto config = results_pool(shows);
        config.shared.bytes = 2 * mebibyte_of_results;
        with_pool(config, [](pool& workers) -> asio::awaitable<void> {
            for (std::size_t i = 0; i < 20; ++i) { // more than there is memory for at a time
                auto echoing = shared_echo(workers, blob(pattern(mebibyte_of_results - i)));
                co_await std::move(echoing);
            }
        });
    }
}

BOOST_AUTO_TEST_CASE(chunks_of_streams_come_through_shared_memory) {
    for (const bool shows : {false, true}) {
        auto config = results_pool(shows);
        config.shared.bytes = mebibyte_of_results;
        config.stream.window_bytes = mebibyte_of_results / 2;
        with_pool(config, [](pool& workers) -> asio::awaitable<void> {
            constexpr int count = 200; // more than there is memory for at a time
            constexpr std::size_t bytes = 100'000;
            auto stream = co_await workers.stream(request("tokens").arg("count", count).arg("bytes", bytes));
            int received = 0;
            while (auto piece = co_await stream.next()) {
                BOOST_REQUIRE(piece->attachments.size() == 1u);
                const auto& attachment = piece->attachments[0];
                BOOST_TEST(attachment.size() == bytes);
                BOOST_TEST(std::ranges::all_of(
                    attachment, [&](std::byte each) { return each == static_cast<std::byte>(received); }));
                ++received;
            }
            BOOST_TEST(received == count);
            const auto shared = co_await results_shared(workers);
            BOOST_TEST(shared > 10u); // one memory full
        });
    }
}

BOOST_AUTO_TEST_CASE(tools_get_attachments_through_shared_memory) {
    with_pool(results_pool(), [](pool& workers) -> asio::awaitable<void> {
        const blob bytes(pattern(mebibyte_of_results));
        workers.register_tool("compare", [&](tool_call asked) -> asio::awaitable<tool_reply> {
            co_return tool_reply(asked.attachments.at(0) == bytes);
        });
        auto is_shared = [&]() -> asio::awaitable<bool> {
            request call("ask");
            call.arg("name", "compare").attach(bytes);
            auto asking = value_of(workers, std::move(call));
            const auto is_equal = co_await std::move(asking);
            BOOST_TEST(is_equal.as_bool());
            const auto shared = co_await results_shared(workers);
            co_return shared > 0;
        };
        const bool is_shared_now = co_await eventually(is_shared);
        BOOST_TEST(is_shared_now);
    });
}

BOOST_AUTO_TEST_CASE(shown_results_outlive_their_killed_workers) {
    auto config = quick(results_pool(true));
    config.restart.limit = 1000;
    std::vector<blob> kept;
    const blob bytes(pattern(mebibyte_of_results));
    with_pool(config, [&](pool& workers) -> asio::awaitable<void> {
        for (int i = 0; i < 5; ++i) {
            auto echoing = shared_echo(workers, bytes);
            auto answer = co_await std::move(echoing);
            kept.push_back(answer.attachments[0]);
            const auto status = co_await workers.status();
            const auto doomed = status.workers.at(0).pid;
            ::kill(doomed, SIGKILL);
            auto is_replaced = [&]() -> asio::awaitable<bool> {
                const auto now = co_await workers.status();
                co_return now.live == 1 && now.workers.at(0).pid != doomed;
            };
            const bool replaced = co_await eventually(is_replaced);
            BOOST_TEST(replaced);
        }
    });
    BOOST_TEST(mappings_of("skep-results") == 5u);
    BOOST_TEST(std::ranges::all_of(kept, [&](const blob& each) { return each == bytes; }));
    kept.clear();
    BOOST_TEST(mappings_of("skep-results") == 0u);
}

BOOST_AUTO_TEST_CASE(workers_killed_amid_results_leave_no_memory_and_no_wrong_bytes) {
    const blob bytes(pattern(mebibyte_of_results / 4));
    with_pool(ready_for_kills(results_pool()), [&](pool& workers) -> asio::awaitable<void> {
        auto killing = kill_amid_calls(
            workers, [&] { return request("echo").attach(bytes).idempotent(true); },
            [&](const reply& answer) { return answer.attachments.at(0) == bytes; });
        co_await std::move(killing);
    });
    BOOST_TEST(mappings_of("skep-results") == 0u);
}

BOOST_AUTO_TEST_CASE(memory_of_results_does_not_make_a_worker_too_large) {
    auto config = results_pool();
    with_pool(config, [](pool& workers) -> asio::awaitable<void> {
        const blob bytes(pattern(60 * mebibyte_of_results));
        const auto before = co_await workers.status();
        auto echoing = shared_echo(workers, bytes);
        co_await std::move(echoing);
        const auto after = co_await workers.status();
        const auto grown = static_cast<std::int64_t>(after.workers.at(0).resident_bytes) -
                           static_cast<std::int64_t>(before.workers.at(0).resident_bytes);
        BOOST_TEST(grown < static_cast<std::int64_t>(30 * mebibyte_of_results));
    });
}

BOOST_AUTO_TEST_CASE(without_shared_memory_results_come_over_the_socket) {
    auto config = results_pool();
    config.shared.enabled = false;
    with_pool(config, [](pool& workers) -> asio::awaitable<void> {
        for (int i = 0; i < 3; ++i) {
            auto echoing = echo_of(workers, blob(pattern(mebibyte_of_results)));
            co_await std::move(echoing);
        }
        const auto shared = co_await results_shared(workers);
        BOOST_TEST(shared == 0u);
    });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
