// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Arrays between the service and its workers, in Python and in C++.

#include "support/run.hpp"

namespace skep::test {

namespace {

pool_config array_pool() {
    return python_pool("integration/workers/arrays.py");
}

pool_config cpp_array_pool() {
    pool_config config;
    config.launch.program = SKEP_CPP_WORKER;
    config.workers = config.min_ready = 1;
    config.log_level = log_level::off;
    config.output.handler = [](const output_line&) {};
    return config;
}

ndarray grid() {
    return make_ndarray(std::vector<float>{0, 0.5f, 1, 1.5f, 2, 2.5f}, {2, 3});
}

/// An empty array, a filled array, and a single element.
std::vector<ndarray> samples_of(dtype type) {
    const auto ones = [&](std::size_t count) {
        return blob(std::vector(count * item_size(type), std::byte(1)));
    };
    return {{type, {2, 0, 3}, ones(0)}, {type, {2, 3}, ones(6)}, {type, {}, ones(1)}};
}

/// The elements of an array.
template <class T>
std::vector<T> listed(const tensor_view<T>& view) {
    return {view.begin(), view.end()};
}

const std::vector<float> doubled{0, 1, 2, 3, 4, 5};

} // namespace

BOOST_AUTO_TEST_SUITE(arrays)

BOOST_AUTO_TEST_CASE(go_to_python_and_come_back) {
    with_pool(array_pool(), [](pool& workers) -> asio::awaitable<void> {
        auto call = request("double").arg("x", grid());
        const auto answer = co_await workers.execute(std::move(call));
        BOOST_TEST(listed(answer.tensor<float>("doubled", {6})) == doubled, boost::test_tools::per_element());
        BOOST_TEST((answer.value.at("shape") == json::value{2, 3}));
        BOOST_TEST(answer.attachment("raw").text() == "raw");
    });
}

BOOST_AUTO_TEST_CASE(of_every_type_come_back_as_they_were) {
    with_pool(array_pool(), [](pool& workers) -> asio::awaitable<void> {
        for (int i = 0; i <= static_cast<int>(dtype::complex128); ++i) {
            const auto type = static_cast<dtype>(i);
            const auto samples = samples_of(type);
            for (const auto& each : samples) {
                auto call = request("back").arg("x", each);
                const auto answer = co_await workers.execute(std::move(call));
                const auto received = answer.array("");
                BOOST_TEST((received.type() == type));
                BOOST_TEST(received.shape() == each.shape(), boost::test_tools::per_element());
                BOOST_TEST((received.bytes() == each.bytes()));
            }
        }
    });
}

BOOST_AUTO_TEST_CASE(data_of_their_form_stays_data) {
    with_pool(array_pool(), [](pool& workers) -> asio::awaitable<void> {
        std::vector<blob> ignored;
        auto call = request("kind").attach(grid().bytes()).arg("x", attach_to(ignored, grid()));
        const auto answer = co_await workers.execute(std::move(call));
        BOOST_TEST(answer.as<std::string>() == "dict");
    });
}

BOOST_AUTO_TEST_CASE(of_some_size_are_used_in_place) {
    with_pool(array_pool(), [](pool& workers) -> asio::awaitable<void> {
        auto call = request("zeros").arg("count", 1u << 20);
        const auto answer = co_await workers.execute(std::move(call));
        const auto view = answer.tensor<std::uint8_t>("");
        BOOST_TEST(static_cast<const void*>(view.data()) ==
                   static_cast<const void*>(answer.attachments[0].data()));
        BOOST_TEST(reinterpret_cast<std::uintptr_t>(view.data()) % 16 == 0u);
    });
}

BOOST_AUTO_TEST_CASE(come_as_chunks) {
    with_pool(array_pool(), [](pool& workers) -> asio::awaitable<void> {
        auto call = request("blocks").arg("count", 3);
        auto stream = co_await workers.stream(std::move(call));
        float expected = 0;
        while (const auto block = co_await stream.next()) {
            BOOST_TEST(block->tensor<float>("/0", {3})(2) == expected);
            ++expected;
        }
        BOOST_TEST(expected == 3);
        auto collected = request("blocks").arg("count", 3);
        const auto answer = co_await workers.execute(std::move(collected));
        BOOST_TEST(answer.tensor<float>("/2/0")(0) == 2);
    });
}

BOOST_AUTO_TEST_CASE(go_to_tools_and_come_back) {
    with_pool(array_pool(), [](pool& workers) -> asio::awaitable<void> {
        workers.register_tool("negate", [](tool_call asked) -> asio::awaitable<tool_reply> {
            const auto x = asked.tensor<float>("x", {2, 3});
            std::vector<float> negated;
            for (const float each : x) {
                negated.push_back(-each);
            }
            co_return tool_reply(make_ndarray(std::move(negated), x.shape()));
        });
        auto call = request("ask").arg("x", grid());
        const auto answer = co_await workers.execute(std::move(call));
        BOOST_TEST(answer.tensor<float>("", {2, 3})(1, 2) == -2.5f);
    });
}

BOOST_AUTO_TEST_CASE(go_to_a_worker_in_cpp) {
    with_pool(cpp_array_pool(), [](pool& workers) -> asio::awaitable<void> {
        auto call = request("scale").arg("x", grid()).arg("factor", 2);
        const auto answer = co_await workers.execute(std::move(call));
        BOOST_TEST(listed(answer.tensor<float>("scaled", {2, 3})) == doubled,
                   boost::test_tools::per_element());

        auto streamed = request("rows").arg("x", grid());
        auto stream = co_await workers.stream(std::move(streamed));
        const auto first = co_await stream.next();
        BOOST_TEST(first->tensor<float>("", {3})(1) == 0.5f);

        auto flat = request("scale").arg("factor", 2);
        flat.arg("x", make_ndarray(std::vector<float>{1, 2, 3}));
        auto refusing = workers.execute(std::move(flat));
        const auto refused = co_await failure_of(std::move(refusing));
        BOOST_TEST(refused.kind() == errc::invalid_arguments);
        BOOST_TEST(contains(refused.what(), "at /x: the array has shape [3], expected [any, 3]"),
                   refused.what());

        auto plain = request("scale").arg("factor", 2).arg("x", 1);
        auto failing = workers.execute(std::move(plain));
        const auto failure = co_await failure_of(std::move(failing));
        BOOST_TEST(contains(failure.what(), "at /x: must be an array"), failure.what());
    });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
