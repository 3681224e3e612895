// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// 64 MiB without a copy: an image to a worker, and a model's output from one worker to another.

#include <skep/skep.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <utility>

namespace asio = boost::asio;

namespace {

constexpr std::size_t side = 8192; // pixels of a byte each: 64 MiB

/// Stands for a camera, which would write into the span.
skep::blob take_image() {
    skep::shared_buffer image(side * side);
    std::ranges::fill(image.span(), std::byte(100));
    return skep::blob(std::move(image));
}

void report(const char* what, const skep::blob& bytes) {
    std::cout << what << ": " << (bytes.size() >> 20) << " MiB, " << (bytes.is_shared() ? "shared" : "copied")
              << '\n';
}

asio::awaitable<void> show_image(skep::pool& pool) {
    const auto image = take_image();
    report("image", image);
    auto call = skep::request("brightness")
                    .arg("image", skep::ndarray(skep::dtype_of<std::uint8_t>, {side, side}, image));
    const auto answer = co_await pool.execute(std::move(call));
    std::cout << "its mean is " << answer.value.as_double() << '\n';
}

asio::awaitable<void> pass_output_on(skep::pool& pool) {
    auto run = skep::request("run_model").arg("rows", 4096);
    const auto answer = co_await pool.execute(std::move(run));
    const auto output = answer.array("");
    report("output", output.bytes());
    const auto elements = answer.tensor<float>("", {4096, 4096});
    std::cout << "its last element is " << elements(4095, 4095) << '\n';
    auto find = skep::request("largest").arg("output", output); // at any worker
    const auto largest = co_await pool.execute(std::move(find));
    std::cout << "its largest element is " << largest.value.as_double() << '\n';
}

asio::awaitable<void> serve(skep::pool& pool) {
    co_await show_image(pool);
    co_await pass_output_on(pool);
}

} // namespace

int main() try {
    auto config = skep::pool_config::python(SAMPLE_DIR "/worker.py");
    config.workers = 2;
    config.shared.enabled = true;
    config.limits.frame_bytes = 80u << 20; // a worker that cannot share memory gets the bytes in a message
    return skep::run(std::move(config), serve);
} catch (const std::exception& problem) {
    std::cerr << problem.what() << '\n';
    return 1;
}
