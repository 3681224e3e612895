// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Code of lib/server/README.md and lib/pool/README.md about arrays.

#include <skep/skep.hpp>
#include <skep/worker_server.hpp>

#include <vector>

namespace array_guide {

void register_scale(skep::worker_server& server) {
    server.on("scale", [](skep::worker_call& call) {
        const auto x = call.tensor<float>("x", {skep::any_extent, 3}); // else skep.InvalidArguments
        const auto factor = call.arg<float>("factor");
        std::vector<float> scaled;
        for (const float each : x) {
            scaled.push_back(factor * each);
        }
        return call.attach(skep::make_ndarray(std::move(scaled), x.shape()));
    });
}

boost::asio::awaitable<float> scale(skep::pool& pool, std::vector<float> points) {
    const auto rows = points.size() / 3;
    auto call = skep::request("scale").arg("factor", 2);
    call.arg("x", skep::make_ndarray(std::move(points), {rows, 3})); // without a copy
    const auto answer = co_await pool.execute(std::move(call));
    const auto scaled = answer.tensor<float>("", {skep::any_extent, 3}); // the whole value is the array
    co_return scaled(0, 2);
}

} // namespace array_guide
