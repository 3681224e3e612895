// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// The code that lib/pool/README.md quotes on memory without a copy.

#include <skep/pool.hpp>
#include <skep/request.hpp>
#include <skep/shared_buffer.hpp>

#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <span>
#include <utility>

namespace shared_guide {

struct camera_device {
    std::size_t frame_bytes() const;
    void read(std::span<std::byte> target);
};

boost::asio::awaitable<skep::reply> crop_detected(skep::pool& pool, camera_device& camera) {
    skep::shared_buffer frame(camera.frame_bytes());
    camera.read(frame.span());
    auto call = skep::request("detect").attach(std::move(frame)); // sealed: no process can change it any more
    const auto detected = co_await pool.execute(std::move(call));
    auto next = skep::request("crop").attach(detected.attachment("frame")); // to any pool, no copy either
    auto cropped = co_await pool.execute(std::move(next));
    co_return cropped;
}

} // namespace shared_guide
