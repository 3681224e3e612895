// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Attachments of results in shared memory, with real workers in Python.

#include "support/run.hpp"

#include <algorithm>
#include <iterator>
#include <string>

namespace skep::test {

namespace {

constexpr std::size_t python_mebibyte = 1024 * 1024;

pool_config python_results_pool() {
    auto config = python_pool("integration/workers/results.py");
    config.shared.enabled = true;
    config.shared.least_result = 64u << 10;
    return config;
}

asio::awaitable<std::uint64_t> python_results_shared(pool& workers) {
    const auto status = co_await workers.status();
    co_return status.counters.shared_results;
}

/// Has the worker reverse the bytes. The answer must be right.
asio::awaitable<void> reverse(pool& workers, blob bytes) {
    request call("reverse");
    call.attach(bytes).attach("small");
    const auto answer = co_await workers.execute(std::move(call));
    BOOST_REQUIRE(answer.attachments.size() == 2u);
    BOOST_TEST(answer.attachments[0].size() == bytes.size());
    BOOST_TEST(
        std::equal(bytes.begin(), bytes.end(), std::make_reverse_iterator(answer.attachments[0].end())));
    BOOST_TEST((answer.attachments[1].text() == "llams"));
}

/// Repeats the call until its result comes through shared memory: the region comes meanwhile.
asio::awaitable<void> reverse_shared(pool& workers, blob bytes) {
    const auto before = co_await python_results_shared(workers);
    auto is_shared = [&]() -> asio::awaitable<bool> {
        auto reversing = reverse(workers, bytes);
        co_await std::move(reversing);
        const auto now = co_await python_results_shared(workers);
        co_return now > before;
    };
    const bool is_shared_now = co_await eventually(is_shared);
    BOOST_TEST(is_shared_now);
}

} // namespace

BOOST_AUTO_TEST_SUITE(python_results)

BOOST_AUTO_TEST_CASE(large_results_come_through_shared_memory) {
    with_pool(python_results_pool(), [](pool& workers) -> asio::awaitable<void> {
        for (const std::size_t bytes : {std::size_t{64 * 1024}, python_mebibyte + 1, 20 * python_mebibyte}) {
            auto reversing = reverse_shared(workers, blob(pattern(bytes)));
            co_await std::move(reversing);
        }
    });
}

BOOST_AUTO_TEST_CASE(memory_of_python_results_is_used_again) {
    auto config = python_results_pool();
    config.shared.bytes = 2 * python_mebibyte;
    with_pool(config, [](pool& workers) -> asio::awaitable<void> {
        for (int i = 0; i < 20; ++i) {
            auto reversing = reverse_shared(workers, blob(pattern(python_mebibyte - 1000 * i)));
            co_await std::move(reversing);
        }
    });
}

BOOST_AUTO_TEST_CASE(chunks_of_python_workers_come_through_shared_memory) {
    auto config = python_results_pool();
    config.shared.bytes = python_mebibyte;
    with_pool(config, [](pool& workers) -> asio::awaitable<void> {
        auto call = request("blocks").arg("count", 100).arg("size", 128 * 1024);
        auto stream = co_await workers.stream(std::move(call));
        std::size_t number = 0;
        for (;;) {
            const auto chunk = co_await stream.next();
            if (!chunk) {
                break;
            }
            const auto& bytes = chunk->attachments.at(0);
            const auto expected = static_cast<char>(number % 256);
            const auto right = std::count(bytes.text().begin(), bytes.text().end(), expected);
            BOOST_TEST(static_cast<std::size_t>(right) == 128u * 1024u);
            ++number;
        }
        BOOST_TEST(number == 100u);
        const auto shared = co_await python_results_shared(workers);
        BOOST_TEST(shared > 8u); // one memory full
    });
}

BOOST_AUTO_TEST_CASE(tools_get_attachments_of_python_workers_through_shared_memory) {
    with_pool(python_results_pool(), [](pool& workers) -> asio::awaitable<void> {
        workers.register_tool("size_of", [](tool_call asked) -> asio::awaitable<tool_reply> {
            co_return tool_reply(asked.attachments.at(0).size());
        });
        auto is_shared = [&]() -> asio::awaitable<bool> {
            auto asking = value_of(workers, request("ask").arg("size", python_mebibyte));
            const auto size = co_await std::move(asking);
            BOOST_TEST(size.to_number<std::size_t>() == python_mebibyte);
            const auto shared = co_await python_results_shared(workers);
            co_return shared > 0;
        };
        const bool is_shared_now = co_await eventually(is_shared);
        BOOST_TEST(is_shared_now);
    });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
