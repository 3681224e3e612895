// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Attachments in sealed memory, with real workers in Python.

#include "support/run.hpp"
#include <skep/shared_buffer.hpp>

#include <algorithm>
#include <string>

namespace skep::test {

namespace {

constexpr std::size_t python_sealed_mebibyte = 1u << 20;

pool_config python_sealed_pool() {
    auto config = python_pool("integration/workers/sealed.py");
    config.shared.enabled = true;
    config.shared.least_result = 64u << 10;
    return config;
}

blob buffer_of(const std::string& text) {
    shared_buffer buffer(text.size());
    std::copy(text.begin(), text.end(), reinterpret_cast<char*>(buffer.span().data()));
    return blob(std::move(buffer));
}

} // namespace

BOOST_AUTO_TEST_SUITE(python_sealed)

BOOST_AUTO_TEST_CASE(memory_of_python_workers_comes_without_a_copy) {
    with_pool(python_sealed_pool(), [](pool& workers) -> asio::awaitable<void> {
        for (int fill = 0; fill < 50; ++fill) {
            auto call = request("make").arg("size", python_sealed_mebibyte + fill).arg("fill", fill);
            const auto answer = co_await workers.execute(std::move(call));
            const auto& bytes = answer.attachments.at(0);
            BOOST_TEST(bytes.is_shared());
            BOOST_TEST((bytes.text() == std::string(python_sealed_mebibyte + fill, static_cast<char>(fill))));
        }
    });
}

BOOST_AUTO_TEST_CASE(chunks_of_python_workers_come_without_a_copy) {
    with_pool(python_sealed_pool(), [](pool& workers) -> asio::awaitable<void> {
        auto call = request("make_all").arg("count", 100).arg("size", python_sealed_mebibyte);
        auto stream = co_await workers.stream(std::move(call));
        for (int number = 0; number < 100; ++number) {
            const auto chunk = co_await stream.next();
            BOOST_REQUIRE(chunk.has_value());
            const auto& bytes = chunk->attachments.at(0);
            BOOST_TEST(bytes.is_shared());
            BOOST_TEST((bytes.text() == std::string(python_sealed_mebibyte, static_cast<char>(number))));
        }
        const auto end = co_await stream.next();
        BOOST_TEST(!end.has_value());
    });
}

BOOST_AUTO_TEST_CASE(buffers_go_to_python_workers_and_back_without_a_copy) {
    with_pool(python_sealed_pool(), [](pool& workers) -> asio::awaitable<void> {
        const std::string text(pattern(2 * python_sealed_mebibyte).text());
        for (const int begin : {0, 5, 5000}) {
            auto call = request("echo").arg("begin", begin).attach(buffer_of(text));
            const auto answer = co_await workers.execute(std::move(call));
            BOOST_TEST(answer.attachments.at(0).is_shared());
            BOOST_TEST((answer.attachments.at(0).text() == text.substr(begin)));
        }
        auto change = request("change").attach(buffer_of(text));
        const auto changed = co_await workers.execute(std::move(change));
        BOOST_TEST((changed.attachments.at(0).text() == text));
    });
}

BOOST_AUTO_TEST_CASE(python_workers_may_keep_buffers) {
    with_pool(python_sealed_pool(), [](pool& workers) -> asio::awaitable<void> {
        const std::string text(pattern(python_sealed_mebibyte).text());
        auto keep = request("keep").attach(buffer_of(text));
        co_await workers.execute(std::move(keep));
        for (int i = 0; i < 20; ++i) {
            auto echo = request("echo").attach(buffer_of(std::string(text.size(), 'x')));
            co_await workers.execute(std::move(echo));
        }
        auto take = request("take");
        const auto answer = co_await workers.execute(std::move(take));
        BOOST_TEST((answer.attachments.at(0).text() == text));
    });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
