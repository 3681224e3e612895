// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Attachments in memory of the host, with real processes.

#include "support/kill_amid_calls.hpp"
#include "support/mappings.hpp"

#include <algorithm>
#include <csignal>
#include <string>

namespace skep::test {

namespace {

constexpr std::size_t shared_kibibyte = 1u << 10;
constexpr std::size_t shared_mebibyte = 1u << 20;

pool_config shared_pool(const std::string& script = "integration/workers/shared.py") {
    auto config = python_pool(script);
    config.shared.enabled = true;
    config.shared.least_result = 64u << 10;
    config.shared.least = 32 * shared_kibibyte;
    return config;
}

request with_attachment(std::string command, std::size_t bytes) {
    request made(std::move(command));
    made.attach(pattern(bytes));
    return made;
}

/// Whether the first attachment of so many bytes arrives in shared memory. It must arrive as it was.
asio::awaitable<bool> is_shared(pool& workers, std::size_t bytes) {
    auto looking = value_of(workers, with_attachment("look", bytes));
    const auto seen = co_await std::move(looking);
    BOOST_TEST(seen.at(0).at("bytes").to_number<std::size_t>() == bytes);
    co_return seen.at(0).at("is_shared").as_bool();
}

asio::awaitable<pool_counters> counters_of(pool& workers) {
    const auto status = co_await workers.status();
    co_return status.counters;
}

/// Waits until an attachment of so many bytes is shared: the worker has released others.
asio::awaitable<void> wait_until_shared(pool& workers, std::size_t bytes) {
    const auto end = std::chrono::steady_clock::now() + patience;
    bool shared = false;
    while (!shared && std::chrono::steady_clock::now() < end) {
        auto looking = is_shared(workers, bytes);
        shared = co_await std::move(looking);
    }
    BOOST_TEST(shared);
}

} // namespace

BOOST_AUTO_TEST_SUITE(shared_attachments)

BOOST_AUTO_TEST_CASE(large_attachments_are_shared_and_small_ones_sent) {
    with_pool(shared_pool(), [](pool& workers) -> asio::awaitable<void> {
        request call("look");
        call.attach(pattern(100))
            .attach(pattern(32 * shared_kibibyte))
            .attach(blob())
            .attach(pattern(shared_mebibyte + 1));
        request same("reverse");
        same.attach(call.attachments()[1]).attach(call.attachments()[0]);
        auto looking = value_of(workers, std::move(call));
        const auto seen = co_await std::move(looking);
        BOOST_REQUIRE(seen.as_array().size() == 4u);
        BOOST_TEST(!seen.at(0).at("is_shared").as_bool());
        BOOST_TEST(seen.at(1).at("is_shared").as_bool());
        BOOST_TEST(!seen.at(2).at("is_shared").as_bool());
        BOOST_TEST(seen.at(3).at("is_shared").as_bool());
        const auto sent = same.attachments();
        const auto answer = co_await workers.execute(std::move(same));
        BOOST_REQUIRE(answer.attachments.size() == 2u);
        for (std::size_t i = 0; i < 2; ++i) {
            BOOST_TEST(std::equal(sent[i].begin(), sent[i].end(),
                                  std::make_reverse_iterator(answer.attachments[i].end())));
        }
        const auto counters = co_await counters_of(workers);
        BOOST_TEST(counters.attachments_lent == 3u);
        BOOST_TEST(counters.shared_fallbacks == 0u);
    });
}

BOOST_AUTO_TEST_CASE(memory_is_lent_again_once_it_is_released) {
    auto config = shared_pool();
    config.shared.bytes = shared_mebibyte;
    with_pool(config, [](pool& workers) -> asio::awaitable<void> {
        for (int i = 0; i < 50; ++i) {
            auto looking = wait_until_shared(workers, shared_mebibyte - i);
            co_await std::move(looking);
        }
        auto counting = value_of(workers, request("mappings"));
        const auto mappings = co_await std::move(counting);
        BOOST_TEST(mappings == json::value(1));
    });
}

BOOST_AUTO_TEST_CASE(a_kept_view_does_not_change) {
    auto config = shared_pool();
    config.shared.bytes = 4 * shared_mebibyte;
    with_pool(config, [](pool& workers) -> asio::awaitable<void> {
        auto keeping = value_of(
            workers, with_attachment("keep", 100 * shared_kibibyte).arg("name", "a").arg("begin", 5));
        const auto shared = co_await std::move(keeping);
        BOOST_TEST(shared.as_bool());
        auto looking = value_of(workers, request("look_at").arg("name", "a"));
        const auto before = co_await std::move(looking);
        for (int i = 0; i < 300; ++i) {
            auto other = is_shared(workers, (32 + i % 100) * shared_kibibyte);
            co_await std::move(other);
        }
        auto again = value_of(workers, request("look_at").arg("name", "a"));
        const auto after = co_await std::move(again);
        BOOST_TEST((before == after));
        BOOST_TEST(before.at("bytes").to_number<std::size_t>() == 100 * shared_kibibyte - 5);
        auto dropping = value_of(workers, request("drop").arg("name", "a"));
        co_await std::move(dropping);
        auto all = wait_until_shared(workers, shared_mebibyte);
        co_await std::move(all);
    });
}

BOOST_AUTO_TEST_CASE(without_room_attachments_are_sent_and_counted) {
    auto config = shared_pool();
    config.shared.bytes = shared_mebibyte;
    with_pool(config, [](pool& workers) -> asio::awaitable<void> {
        auto keeping = value_of(workers, with_attachment("keep", shared_mebibyte / 2 + 1).arg("name", "a"));
        co_await std::move(keeping);
        auto second = is_shared(workers, shared_mebibyte / 2 + 1);
        const bool is_second_shared = co_await std::move(second);
        BOOST_TEST(!is_second_shared);
        auto larger = is_shared(workers, 2 * shared_mebibyte);
        const bool is_larger_shared = co_await std::move(larger);
        BOOST_TEST(!is_larger_shared);
        const auto counters = co_await counters_of(workers);
        BOOST_TEST(counters.attachments_lent == 1u);
        BOOST_TEST(counters.shared_fallbacks == 2u);
        auto dropping = value_of(workers, request("drop_on_thread").arg("name", "a"));
        co_await std::move(dropping);
        auto all = wait_until_shared(workers, shared_mebibyte);
        co_await std::move(all);
    });
}

BOOST_AUTO_TEST_CASE(writable_copies_belong_to_the_worker) {
    auto config = shared_pool();
    config.shared.bytes = shared_mebibyte;
    with_pool(config, [](pool& workers) -> asio::awaitable<void> {
        request call("write");
        call.attach("abcdef").attach(pattern(shared_mebibyte / 2));
        const auto first = std::string(call.attachments()[1].text().substr(0, 3));
        auto writing = value_of(workers, std::move(call));
        const auto seen = co_await std::move(writing);
        BOOST_TEST((seen.at(0) == json::array{"abc", "new", true, true}));
        BOOST_TEST((seen.at(1) == json::array{first, "new", true, true}));
        bool is_kept_shared = false; // once the attachment before is released
        while (!is_kept_shared) {
            auto keeping =
                value_of(workers, with_attachment("keep_copy", shared_mebibyte / 2 + 1).arg("name", "a"));
            const auto kept = co_await std::move(keeping);
            is_kept_shared = kept.as_bool();
        }
        auto looking = value_of(workers, request("look_at").arg("name", "a"));
        const auto before = co_await std::move(looking);
        auto other = is_shared(workers, shared_mebibyte / 2 + 1); // its place is still in use
        const bool is_other_shared = co_await std::move(other);
        BOOST_TEST(!is_other_shared);
        auto again = value_of(workers, request("look_at").arg("name", "a"));
        const auto after = co_await std::move(again);
        BOOST_TEST((before == after));
        auto dropping = value_of(workers, request("drop").arg("name", "a"));
        co_await std::move(dropping);
        auto all = wait_until_shared(workers, shared_mebibyte);
        co_await std::move(all);
    });
}

BOOST_AUTO_TEST_CASE(a_forked_child_releases_nothing) {
    auto config = shared_pool();
    config.shared.bytes = shared_mebibyte;
    with_pool(config, [](pool& workers) -> asio::awaitable<void> {
        for (int i = 0; i < 3; ++i) {
            auto forking = value_of(workers, with_attachment("fork_and_drop", 40 * shared_kibibyte));
            const auto seen = co_await std::move(forking);
            BOOST_TEST(seen.at("is_shared").as_bool());
        }
        auto all = wait_until_shared(workers, shared_mebibyte);
        co_await std::move(all);
        const auto counters = co_await counters_of(workers);
        BOOST_TEST(counters.workers_lost == 0u);
    });
}

BOOST_AUTO_TEST_CASE(calls_that_fail_release_their_attachments) {
    auto config = shared_pool();
    config.shared.bytes = shared_mebibyte;
    with_pool(config, [](pool& workers) -> asio::awaitable<void> {
        for (int i = 0; i < 10; ++i) {
            auto failing = workers.execute(with_attachment("fail", shared_mebibyte / 2));
            const auto failure = co_await failure_of(std::move(failing));
            BOOST_TEST(failure.kind() == errc::remote_error);
        }
        auto all = wait_until_shared(workers, shared_mebibyte);
        co_await std::move(all);
    });
}

BOOST_AUTO_TEST_CASE(threads_share_memory_as_well) {
    auto config = shared_pool();
    config.threads_per_worker = 4;
    config.capacity = 4;
    config.shared.bytes = shared_mebibyte;
    with_pool(config, [](pool& workers) -> asio::awaitable<void> {
        for (int i = 0; i < 50; ++i) {
            auto looking = wait_until_shared(workers, shared_mebibyte - i);
            co_await std::move(looking);
        }
    });
}

BOOST_AUTO_TEST_CASE(workers_in_cpp_share_memory) {
    pool_config config;
    config.launch.program = SKEP_CPP_WORKER;
    config.workers = 1;
    config.log_level = log_level::off;
    config.shared.enabled = true;
    config.shared.bytes = shared_mebibyte;
    for (const bool is_forked : {false, true}) {
        config.launch.preload = is_forked;
        with_pool(config, [](pool& workers) -> asio::awaitable<void> {
            constexpr std::uint64_t rounds = 20; // more than there is memory for at a time
            for (std::uint64_t i = 0; i < rounds; ++i) {
                request call("echo");
                call.attach(pattern(shared_mebibyte / 2 - i)).attach("small");
                const auto sent = call.attachments();
                const auto answer = co_await workers.execute(std::move(call));
                BOOST_REQUIRE(answer.attachments.size() == 2u);
                BOOST_TEST((answer.attachments[0] == sent[0]));
                BOOST_TEST((answer.attachments[1] == sent[1]));
            }
            const auto counters = co_await counters_of(workers);
            BOOST_TEST(counters.attachments_lent + counters.shared_fallbacks == rounds);
            BOOST_TEST(counters.attachments_lent > 2u);
        });
    }
}

BOOST_AUTO_TEST_CASE(killed_workers_leave_no_memory_and_no_wrong_bytes) {
    with_pool(ready_for_kills(shared_pool()), [](pool& workers) -> asio::awaitable<void> {
        auto once = value_of(workers, with_attachment("look", 100 * shared_kibibyte));
        const auto right = co_await std::move(once);
        auto killing = kill_amid_calls(
            workers, [] { return with_attachment("look", 100 * shared_kibibyte).idempotent(true); },
            [&](const reply& answer) { return answer.value.at(0).at("sha256") == right.at(0).at("sha256"); });
        co_await std::move(killing);
        BOOST_TEST(mappings_of("skep-region") > 0u);
    });
    BOOST_TEST(mappings_of("skep-region") == 0u);
}

BOOST_AUTO_TEST_CASE(memory_of_the_host_does_not_make_a_worker_too_large) {
    auto config = shared_pool();
    config.recycle.memory_interval = 20ms;
    with_pool(config, [](pool& workers) -> asio::awaitable<void> {
        const auto before = co_await workers.status();
        auto looking = is_shared(workers, 60 * shared_mebibyte);
        const bool shared = co_await std::move(looking);
        BOOST_TEST(shared);
        const auto after = co_await workers.status();
        const auto grown = static_cast<std::int64_t>(after.workers.at(0).resident_bytes) -
                           static_cast<std::int64_t>(before.workers.at(0).resident_bytes);
        BOOST_TEST(grown < std::int64_t(30 * shared_mebibyte));
    });
}

BOOST_AUTO_TEST_CASE(without_the_option_nothing_is_shared) {
    auto config = shared_pool();
    config.shared.enabled = false;
    with_pool(config, [](pool& workers) -> asio::awaitable<void> {
        auto looking = is_shared(workers, shared_mebibyte);
        const bool shared = co_await std::move(looking);
        BOOST_TEST(!shared);
        auto listing = value_of(workers, request("descriptors"));
        const auto descriptors = co_await std::move(listing);
        BOOST_TEST(descriptors.as_array().size() > 4u);
        const auto counters = co_await counters_of(workers);
        BOOST_TEST(counters.attachments_lent == 0u);
    });
}

BOOST_AUTO_TEST_CASE(over_stdio_nothing_is_shared) {
    auto config = shared_pool();
    config.launch.transport = transport::stdio;
    config.launch.preload = false;
    with_pool(config, [](pool& workers) -> asio::awaitable<void> {
        auto looking = is_shared(workers, shared_mebibyte);
        const bool shared = co_await std::move(looking);
        BOOST_TEST(!shared);
    });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
