// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Short calls beside a few long ones of the same command, at random times: the wait of the short ones.

#include "load.hpp"
#include "modes.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <random>

namespace skep::bench {

namespace {

constexpr std::uint64_t short_call = 50; // microseconds
constexpr std::uint64_t long_call = 20'000;
constexpr double share_of_long = 0.02;

/// The load of workers that are busy for such a share of the time.
class mixed_load {
public:
    mixed_load(pool& workers, std::size_t count, double utilization)
        : workers_(workers),
          gap_(static_cast<double>(count) * utilization * 1e6 /
               (share_of_long * long_call + (1 - share_of_long) * short_call)) {}

    asio::awaitable<void> run(seconds span) {
        const auto executor = co_await asio::this_coro::executor;
        asio::steady_timer timer(executor);
        const auto begin = now();
        const auto end = begin + std::chrono::duration_cast<duration>(span);
        for (auto next = begin; next < end; next += next_gap()) {
            timer.expires_at(next);
            co_await timer.async_wait(asio::use_awaitable);
            ++open_;
            asio::co_spawn(executor, call(next, next_length()), [this](const std::exception_ptr& problem) {
                --open_;
                rethrow(problem);
            });
        }
        while (open_ > 0) {
            co_await pause(std::chrono::milliseconds(1));
        }
    }

    /// Times of the short calls in microseconds, from their due time.
    std::vector<double>& samples() noexcept { return samples_; }

private:
    duration next_gap() { return std::chrono::duration_cast<duration>(seconds(gap_(random_))); }

    std::uint64_t next_length() { return is_long_(random_) ? long_call : short_call; }

    asio::awaitable<void> call(time_point due, std::uint64_t length) {
        request call("work");
        call.arg("microseconds", length);
        co_await workers_.execute(std::move(call));
        if (length == short_call) {
            samples_.push_back(seconds(now() - due).count() * 1e6);
        }
    }

    pool& workers_;
    std::minstd_rand random_{1};
    std::exponential_distribution<> gap_; ///< seconds
    std::bernoulli_distribution is_long_{share_of_long};
    std::size_t open_ = 0;
    std::vector<double> samples_;
};

} // namespace

figures measure_mixed(const arguments& args) {
    std::vector<double> samples;
    const auto span = args.span("span");
    const auto count = args.number("workers");
    const auto utilization = static_cast<double>(args.number("percent")) / 100;
    auto body = [&](pool& workers) -> asio::awaitable<void> {
        co_await workers.ready(count);
        mixed_load load(workers, count, utilization);
        co_await load.run(span);
        samples = std::move(load.samples());
    };
    with_pool(make_config(args), body);
    return {{"p50_us", percentile(samples, 0.5)}, {"p99_us", percentile(samples, 0.99)}};
}

} // namespace skep::bench
