// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Sealed memory between hosts and workers, with real processes.

#include "support/kill_amid_calls.hpp"
#include "support/mappings.hpp"
#include <skep/shared_buffer.hpp>

#include <algorithm>
#include <csignal>
#include <string>
#include <utility>

namespace skep::test {

namespace {

constexpr std::size_t sealed_kibibyte = 1u << 10;
constexpr std::size_t sealed_mebibyte = 1u << 20;

pool_config sealing_pool(std::size_t workers = 1) {
    pool_config config;
    config.launch.program = SKEP_CPP_WORKER;
    config.shared.enabled = true;
    config.shared.least_result = 64u << 10;
    config.workers = config.min_ready = workers;
    config.limits.frame_bytes = 128 * sealed_mebibyte;
    config.log_level = log_level::off;
    config.output.handler = [](const output_line&) {};
    return config;
}

blob filled(std::size_t bytes, char letter) {
    shared_buffer buffer(bytes);
    std::ranges::fill(buffer.span(), static_cast<std::byte>(letter));
    return buffer;
}

bool is_uniform(const blob& bytes, char letter) {
    return bytes.text().find_first_not_of(letter) == std::string_view::npos;
}

asio::awaitable<pool_counters> sealed_counters_of(pool& workers) {
    const auto status = co_await workers.status();
    co_return status.counters;
}

} // namespace

BOOST_AUTO_TEST_SUITE(sealed_attachments)

BOOST_AUTO_TEST_CASE(a_large_buffer_goes_there_and_back_without_a_copy) {
    with_pool(sealing_pool(), [](pool& workers) -> asio::awaitable<void> {
        constexpr std::size_t size = 64 * sealed_mebibyte;
        shared_buffer buffer(size);
        buffer.span().back() = std::byte('x');
        auto call = request("echo").attach(std::move(buffer));
        const auto answer = co_await workers.execute(std::move(call));
        BOOST_REQUIRE(answer.attachments.size() == 1u);
        const auto& back = answer.attachments[0];
        BOOST_TEST(back.is_shared());
        BOOST_TEST(back.size() == size);
        BOOST_TEST((back[size - 1] == std::byte('x')));
        const auto counters = co_await sealed_counters_of(workers);
        BOOST_TEST(counters.attachments_passed == 1u);
        BOOST_TEST(counters.attachments_received == 1u);
        BOOST_TEST(counters.attachments_lent == 0u);
        BOOST_TEST(counters.shared_fallbacks == 0u);
    });
    BOOST_TEST(mappings_of("skep-buffer") == 0u);
}

BOOST_AUTO_TEST_CASE(parts_of_a_buffer_come_back_as_they_were) {
    with_pool(sealing_pool(), [](pool& workers) -> asio::awaitable<void> {
        shared_buffer buffer(sealed_mebibyte);
        const auto source = pattern(sealed_mebibyte);
        std::ranges::copy(source, buffer.span().begin());
        const blob all = std::move(buffer);
        request call("echo");
        call.attach(all.part(3, 200 * sealed_kibibyte)).attach("text").attach(all.part(5, 10)).attach(all);
        const auto sent = call.attachments();
        const auto answer = co_await workers.execute(std::move(call));
        BOOST_REQUIRE(answer.attachments.size() == sent.size());
        for (std::size_t i = 0; i < sent.size(); ++i) {
            BOOST_TEST((answer.attachments[i] == sent[i]));
            BOOST_TEST(answer.attachments[i].is_shared() == (sent[i].size() >= 64 * sealed_kibibyte));
        }
    });
}

BOOST_AUTO_TEST_CASE(a_buffer_of_a_worker_is_passed_on_to_a_worker_of_another_pool) {
    with_pool(sealing_pool(), [](pool& makers) -> asio::awaitable<void> {
        const auto executor = co_await asio::this_coro::executor;
        pool lookers(executor, sealing_pool());
        co_await lookers.start();
        auto making = request("share").arg("bytes", sealed_mebibyte);
        const auto made = co_await makers.execute(std::move(making));
        const auto& bytes = made.attachments.at(0);
        BOOST_TEST(bytes.is_shared());
        BOOST_TEST(is_uniform(bytes, 's'));
        for (int i = 0; i < 3; ++i) {
            auto looking = value_of(lookers, request("look").attach(bytes));
            const auto seen = co_await std::move(looking);
            BOOST_TEST(seen.at("is_shared").as_bool());
            BOOST_TEST(seen.at("is_uniform").as_bool());
            BOOST_TEST((seen.at("first") == "s"));
        }
        const auto counters = co_await sealed_counters_of(lookers);
        BOOST_TEST(counters.attachments_passed == 3u);
        BOOST_TEST(counters.attachments_lent == 0u);
        co_await lookers.shutdown();
    });
    BOOST_TEST(mappings_of("skep-buffer") == 0u);
}

BOOST_AUTO_TEST_CASE(workers_keep_no_memory_that_they_have_let_go_of) {
    with_pool(sealing_pool(), [](pool& workers) -> asio::awaitable<void> {
        for (int i = 0; i < 300; ++i) {
            auto call = request("echo").attach(filled(64 * sealed_kibibyte, 'e'));
            const auto answer = co_await workers.execute(std::move(call));
            BOOST_REQUIRE(is_uniform(answer.attachments.at(0), 'e'));
        }
        auto keeping = value_of(workers, request("keep").attach(filled(sealed_mebibyte, 'k')));
        co_await std::move(keeping);
        auto counting = value_of(workers, request("buffers"));
        const auto kept = co_await std::move(counting);
        BOOST_TEST((kept == 1));
        request asking("keep");
        const auto given_back = co_await workers.execute(std::move(asking));
        BOOST_TEST(given_back.attachments.at(0).is_shared());
        BOOST_TEST(is_uniform(given_back.attachments.at(0), 'k'));
        auto again = value_of(workers, request("buffers"));
        const auto left = co_await std::move(again);
        BOOST_TEST((left == 0));
        const auto counters = co_await sealed_counters_of(workers);
        BOOST_TEST(counters.attachments_passed == 301u);
    });
}

BOOST_AUTO_TEST_CASE(chunks_and_results_of_a_stream_are_shared) {
    auto config = sealing_pool();
    config.stream.window_bytes = 2 * sealed_mebibyte;
    with_pool(config, [](pool& workers) -> asio::awaitable<void> {
        constexpr int count = 20;
        auto call = request("share_all").arg("count", count).arg("bytes", sealed_mebibyte);
        auto stream = co_await workers.stream(std::move(call));
        for (int i = 0; i < count; ++i) {
            const auto piece = co_await stream.next();
            BOOST_REQUIRE(piece.has_value());
            BOOST_TEST(piece->attachments.at(0).is_shared());
            BOOST_TEST(is_uniform(piece->attachments.at(0), static_cast<char>('a' + i)));
        }
        const auto end = co_await stream.next();
        BOOST_TEST(!end.has_value());
        const auto counters = co_await sealed_counters_of(workers);
        BOOST_TEST(counters.attachments_received == count + 1u);
        BOOST_TEST(counters.workers_lost == 0u);
    });
}

BOOST_AUTO_TEST_CASE(tools_get_shared_attachments) {
    with_pool(sealing_pool(), [](pool& workers) -> asio::awaitable<void> {
        bool was_shared = false;
        workers.register_tool("same", [&](tool_call asked) -> asio::awaitable<tool_reply> {
            was_shared = asked.attachments.at(0).is_shared();
            tool_reply answer(1);
            answer.attachments = asked.attachments;
            co_return answer;
        });
        auto call = request("ask").arg("name", "same").attach(filled(sealed_mebibyte, 't'));
        const auto answer = co_await workers.execute(std::move(call));
        BOOST_TEST(was_shared);
        BOOST_TEST(is_uniform(answer.attachments.at(0), 't'));
        BOOST_TEST(answer.attachments.at(0).size() == sealed_mebibyte);
    });
}

BOOST_AUTO_TEST_CASE(without_shared_memory_the_same_bytes_are_copied) {
    auto config = sealing_pool();
    for (const bool is_over_stdio : {false, true}) {
        config.shared.enabled = is_over_stdio;
        config.launch.transport = is_over_stdio ? transport::stdio : transport::socket;
        with_pool(config, [](pool& workers) -> asio::awaitable<void> {
            auto call = request("echo").attach(filled(sealed_mebibyte, 'c'));
            const auto echoed = co_await workers.execute(std::move(call));
            BOOST_TEST(!echoed.attachments.at(0).is_shared());
            BOOST_TEST(is_uniform(echoed.attachments.at(0), 'c'));
            auto making = request("share").arg("bytes", sealed_mebibyte);
            const auto made = co_await workers.execute(std::move(making));
            BOOST_TEST(!made.attachments.at(0).is_shared());
            BOOST_TEST(is_uniform(made.attachments.at(0), 's'));
        });
    }
}

BOOST_AUTO_TEST_CASE(a_reply_stays_when_its_worker_is_gone) {
    with_pool(quick(sealing_pool()), [](pool& workers) -> asio::awaitable<void> {
        auto making = request("share").arg("bytes", sealed_mebibyte);
        const auto made = co_await workers.execute(std::move(making));
        const auto status = co_await workers.status();
        ::kill(status.workers.at(0).pid, SIGKILL);
        auto making_again = request("share").arg("bytes", sealed_mebibyte).idempotent(true);
        const auto other = co_await workers.execute(std::move(making_again));
        BOOST_TEST(is_uniform(made.attachments.at(0), 's'));
        auto echoing = request("echo").attach(made.attachments.at(0)).idempotent(true);
        const auto again = co_await workers.execute(std::move(echoing));
        BOOST_TEST(again.attachments.at(0).is_shared());
        BOOST_TEST(is_uniform(again.attachments.at(0), 's'));
        BOOST_TEST((other.attachments.at(0) == made.attachments.at(0)));
    });
    BOOST_TEST(mappings_of("skep-buffer") == 0u);
}

/// The audit for leaks behind the pool finds descriptors that stay.
BOOST_AUTO_TEST_CASE(killed_workers_leave_no_memory_and_no_descriptor) {
    with_pool(ready_for_kills(sealing_pool()), [](pool& workers) -> asio::awaitable<void> {
        const auto bytes = filled(100 * sealed_kibibyte, 'r');
        auto killing = kill_amid_calls(
            workers, [&] { return request("echo").attach(bytes).idempotent(true); },
            [&](const reply& answer) { return answer.attachments.at(0) == bytes; });
        co_await std::move(killing);
    });
    BOOST_TEST(mappings_of("skep-buffer") == 0u);
}

BOOST_AUTO_TEST_CASE(passed_memory_does_not_make_a_worker_too_large) {
    auto config = sealing_pool();
    config.recycle.memory_interval = 20ms;
    with_pool(config, [](pool& workers) -> asio::awaitable<void> {
        const auto before = co_await workers.status();
        auto keeping = value_of(workers, request("keep").attach(filled(60 * sealed_mebibyte, 'm')));
        co_await std::move(keeping);
        const auto after = co_await workers.status();
        const auto grown = static_cast<std::int64_t>(after.workers.at(0).resident_bytes) -
                           static_cast<std::int64_t>(before.workers.at(0).resident_bytes);
        BOOST_TEST(grown < std::int64_t(30 * sealed_mebibyte));
    });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
