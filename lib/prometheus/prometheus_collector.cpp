// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/config_problems.hpp"
#include "core/range_check.hpp"
#include "prometheus/pools_of.hpp"
#include <skep/prometheus.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>

#include <exception>
#include <future>
#include <utility>

namespace skep {

namespace {

using namespace std::chrono_literals;

duration checked(duration timeout) {
    check_ranges([timeout](const range_check& check) { check.time("timeout", timeout, 1ms, 1min); });
    return timeout;
}

} // namespace

prometheus_collector::prometheus_collector(observed_pool& one, duration timeout)
    : pools_([&one] { return pools_of(one); }), timeout_(checked(timeout)) {}

prometheus_collector::prometheus_collector(pool_manager& all, duration timeout)
    : pools_([&all] { return pools_of(all); }), timeout_(checked(timeout)) {}

std::vector<prometheus::MetricFamily> prometheus_collector::Collect() const {
    const auto limit = std::chrono::steady_clock::now() + timeout_;
    const auto pools = pools_();
    std::vector<std::future<pool_metrics>> asked;
    for (const auto& each : pools) {
        auto asking = each.pool->metrics();
        asked.push_back(
            boost::asio::co_spawn(each.pool->get_executor(), std::move(asking), boost::asio::use_future));
    }
    std::vector<pool_metrics> answers;
    for (std::size_t i = 0; i < asked.size(); ++i) {
        if (asked[i].wait_until(limit) == std::future_status::ready) {
            try {
                auto answer = asked[i].get();
                answer.status.name = pools[i].name;
                answers.push_back(std::move(answer));
            } catch (const std::exception&) {} // out of memory, or its execution context has ended
        }
    }
    return to_families(answers);
}

} // namespace skep
