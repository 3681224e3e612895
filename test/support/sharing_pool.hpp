// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "support/fake_runtime.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

namespace skep::test {

inline pool_config sharing_config(std::size_t workers = 1) {
    auto config = fake_config(workers);
    config.shared.enabled = true;
    config.shared.least = 64u << 10;
    config.shared.least_result = 64u << 10;
    config.shared.bytes = 1u << 20;
    return config;
}

inline void greet_as_sharer(fake_worker& worker) {
    auto hello = worker.hello();
    hello["shared"] = 1;
    worker.send_data(hello);
    worker.send_data({{"type", "ready"}});
}

/// A pool whose workers can share memory, unless `greet` says that they cannot.
struct sharing_pool : manual_pool {
    explicit sharing_pool(pool_config config, std::function<void(fake_worker&)> greet = greet_as_sharer)
        : manual_pool(std::move(config)) {
        runtime().with_regions = true;
        runtime().on_start = std::move(greet);
        start();
    }

    /// The one call that a worker has received since the last look.
    boost::json::object take_call(std::size_t index = 0) {
        const auto calls = worker(index).take_calls();
        BOOST_REQUIRE(calls.size() == 1u);
        last_id = id_of(calls[0]);
        return calls[0];
    }

    /// The attachments of that call.
    boost::json::array take_attachments(std::size_t index = 0) {
        return take_call(index).at("attachments").as_array();
    }

    std::uint64_t last_id = 0;
};

} // namespace skep::test
