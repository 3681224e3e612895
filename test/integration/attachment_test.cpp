// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Attachments of a size that matters.

#include "support/run.hpp"

#include <boost/test/tree/decorator.hpp>

#include <cstdlib>

namespace skep::test {

namespace {

constexpr std::size_t mebibyte = 1u << 20;
constexpr std::size_t gibibyte = 1u << 30;

/// Takes no memory as long as nobody looks at them.
blob zeros(std::size_t size) {
    const std::shared_ptr<void> owner(std::calloc(size, 1), std::free);
    return {owner, {static_cast<const std::byte*>(owner.get()), size}};
}

pool_config with_frames_of(std::size_t bytes) {
    auto config = basic_pool();
    config.limits.frame_bytes = bytes;
    return config;
}

/// Sends `data` there and back; what the worker makes of it.
asio::awaitable<std::string> mirrored(pool& workers, blob data) {
    request call("mirror");
    call.attach(data);
    const auto answer = co_await workers.execute(std::move(call));
    BOOST_REQUIRE(answer.attachments.size() == 1u);
    BOOST_TEST((answer.attachments[0] == data));
    co_return std::string(answer.value.at("sha256").as_string());
}

} // namespace

BOOST_AUTO_TEST_SUITE(attachments)

BOOST_AUTO_TEST_CASE(of_64_mebibytes_go_there_and_back) {
    with_pool(with_frames_of(65 * mebibyte), [](pool& workers) -> asio::awaitable<void> {
        auto data = pattern(64 * mebibyte);
        const auto digest = co_await mirrored(workers, std::move(data));
        BOOST_TEST(digest == "6a977cb81a0a90abd339d456141b8c07d5d7c73253dbd458e5051dcbed2262ca");
    });
}

BOOST_AUTO_TEST_CASE(of_a_gibibyte_are_refused_either_way) {
    with_pool(basic_pool(), [](pool& workers) -> asio::awaitable<void> {
        const auto before = co_await pid_of(workers);

        request there("mirror");
        there.attach(zeros(gibibyte));
        auto refused = workers.execute(std::move(there));
        const auto large_request = co_await failure_of(std::move(refused));
        BOOST_TEST(large_request.kind() == errc::frame_too_large);
        BOOST_TEST(contains(large_request.info().detail, "limits.frame_bytes, which is 67108864"));

        request back = request("zeros").arg("count", gibibyte);
        auto failing = workers.execute(std::move(back));
        const auto large_result = co_await failure_of(std::move(failing));
        BOOST_TEST(large_result.kind() == errc::remote_error);
        BOOST_TEST(large_result.info().remote_type == "skep.ResultTooLarge");

        const auto after = co_await pid_of(workers);
        BOOST_TEST(after == before);
    });
}

// Takes 2 GiB of memory. By hand: skep_integration_tests -t attachments
BOOST_AUTO_TEST_CASE(of_a_gibibyte_pass_where_they_may, *boost::unit_test::disabled()) {
    with_pool(with_frames_of(gibibyte + mebibyte), [](pool& workers) -> asio::awaitable<void> {
        auto data = zeros(gibibyte);
        const auto began = std::chrono::steady_clock::now();
        const auto digest = co_await mirrored(workers, std::move(data));
        BOOST_TEST_MESSAGE((std::chrono::steady_clock::now() - began) / 1ms << " ms");
        BOOST_TEST(digest == "49bc20df15e412a64472421e13fe86ff1c5165e18b2afccf160d4dc19fe68a14");
    });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
