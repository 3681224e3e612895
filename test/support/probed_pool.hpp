// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "support/fake_runtime.hpp"

#include <boost/test/unit_test.hpp>

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace skep::test {

/// A pool whose workers have a health check.
class probed_pool : public manual_pool {
public:
    explicit probed_pool(pool_config config, bool only_answers = false) : manual_pool(std::move(config)) {
        runtime().on_start = [only_answers](fake_worker& fresh) {
            fresh.has_health_check = true;
            fresh.only_answers = only_answers;
            fresh.stack_signal = SIGUSR2;
            fresh.shake_hands();
        };
        const auto started = start();
        BOOST_REQUIRE_MESSAGE(started->value, "start: " << started->text());
    }

    /// The id of the probe that the worker has just received.
    std::uint64_t take_probe(std::size_t index = 0) {
        const auto calls = worker(index).take_calls();
        BOOST_REQUIRE_EQUAL(calls.size(), 1u);
        BOOST_TEST(calls[0].at("command").as_string() == "skep.health_check");
        return id_of(calls[0]);
    }

    bool is_probed(std::size_t index = 0) { return !worker(index).take_calls().empty(); }

    void pass(std::uint64_t probe, std::size_t index = 0) {
        worker(index).reply(probe);
        run_until_idle();
    }

    void fail(std::uint64_t probe, std::size_t index = 0) {
        worker(index).fail(probe, "RuntimeError", "no GPU");
        run_until_idle();
    }
};

/// A configuration that lets a test be about probes alone.
inline pool_config quiet_config(std::size_t workers = 1) {
    auto config = fake_config(workers);
    config.heartbeat.enabled = false;
    return config;
}

} // namespace skep::test
