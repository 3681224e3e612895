// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Arrays of numpy: an image there and back, and many samples block by block.

#include <skep/skep.hpp>

#include <cstdint>
#include <iostream>
#include <numeric>
#include <vector>

namespace asio = boost::asio;

namespace {

asio::awaitable<void> brighten(skep::pool& pool) {
    std::vector<std::uint8_t> pixels(64 * 96 * 3, 100);
    auto image = skep::make_ndarray(std::move(pixels), {64, 96, 3});
    auto call = skep::request("brighten").arg("image", image).arg("factor", 1.5);
    const auto answer = co_await pool.execute(std::move(call));
    const auto brighter = answer.tensor<std::uint8_t>("image", {64, 96, 3});
    const auto means = answer.tensor<double>("means", {3});
    std::cout << "a pixel is " << int(brighter(10, 20, 0)) << ", the mean is " << means(0) << '\n';
}

asio::awaitable<void> add_up(skep::pool& pool) {
    auto call = skep::request("samples").arg("count", 1'000'000).arg("block", 65'536);
    auto stream = co_await pool.stream(std::move(call));
    double sum = 0;
    while (const auto block = co_await stream.next()) {
        const auto samples = block->tensor<float>("", {skep::any_extent});
        sum = std::accumulate(samples.begin(), samples.end(), sum);
    }
    std::cout << "the sum is " << std::uint64_t(sum) << '\n';
}

asio::awaitable<void> expect_another_shape(skep::pool& pool) {
    auto call = skep::request("samples").arg("count", 6).arg("block", 6);
    const auto answer = co_await pool.execute(std::move(call)); // without a stream: a list of the blocks
    try {
        answer.tensor<float>("/0", {2, 3});
    } catch (const skep::error& misfit) {
        std::cout << misfit.info().detail << '\n';
    }
}

asio::awaitable<void> serve(skep::pool& pool) {
    co_await brighten(pool);
    co_await add_up(pool);
    co_await expect_another_shape(pool);
}

} // namespace

int main() try {
    auto config = skep::pool_config::python(SAMPLE_DIR "/worker.py");
    config.workers = 1;
    return skep::run(std::move(config), serve);
} catch (const std::exception& problem) {
    std::cerr << problem.what() << '\n';
    return 1;
}
