// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// The wait for a worker: what one waiter costs when there are many.

#include "fake_workers.hpp"
#include "modes.hpp"
#include <skep/error.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>

#include <algorithm>
#include <random>
#include <stdexcept>
#include <thread>

namespace skep::bench {

namespace {

constexpr std::size_t fewest_waiters = 20'000; // measured per round, in as many turns as it takes

/// Calls that wait for the only worker, which is busy for ever.
class waiting_room {
public:
    explicit waiting_room(std::size_t waiters) : pool_(config()), signals_(waiters) {
        enter(request("occupy"));
        pool_.context().poll();
    }

    ~waiting_room() {
        pool_.answer();
        pool_.context().poll();
    }
    waiting_room(const waiting_room&) = delete;
    waiting_room& operator=(const waiting_room&) = delete;

    // Each returns the CPU time it takes.

    /// Until all wait. With a deadline, they end within the millisecond before it, in any order.
    seconds fill(time_point deadline = {}) {
        expected_ = deadline == time_point() ? errc::cancelled : errc::timeout;
        left_ = signals_.size();
        const auto begin = cpu_time();
        for (auto& signal : signals_) {
            request call("echo");
            call.arg("value", "hello");
            if (expected_ == errc::timeout) {
                call.deadline(deadline - std::chrono::nanoseconds(random_() % 1'000'000));
            }
            enter(std::move(call), signal.slot());
        }
        pool_.context().poll();
        const auto took = cpu_time() - begin;
        if (pool_.queued() != signals_.size()) {
            throw std::runtime_error("not everybody waits");
        }
        return took;
    }

    seconds cancel_all() {
        const auto begin = cpu_time();
        for (auto& signal : signals_) {
            signal.emit(asio::cancellation_type::terminal);
        }
        return end_all(begin);
    }

    seconds time_out_all(time_point deadline) {
        if (now() > deadline - std::chrono::milliseconds(1)) {
            throw std::runtime_error("the deadline came too early");
        }
        std::this_thread::sleep_until(deadline);
        return end_all(cpu_time());
    }

private:
    static pool_config config() { return fake_config(1); }

    void enter(request call, asio::cancellation_slot slot = {}) {
        auto ended = [this](std::exception_ptr error, const reply&) {
            try {
                if (error) {
                    std::rethrow_exception(error);
                }
            } catch (const skep::error& e) {
                if (e.code() != expected_) {
                    throw;
                }
                --left_;
            }
        };
        asio::co_spawn(pool_.context(), pool_.facade().execute(std::move(call)),
                       asio::bind_cancellation_slot(slot, ended));
    }

    seconds end_all(seconds begin) {
        while (left_ > 0) {
            pool_.context().poll();
        }
        return cpu_time() - begin;
    }

    fake_pool pool_;
    std::vector<asio::cancellation_signal> signals_;
    std::size_t left_ = 0;
    errc expected_ = errc::cancelled;
    std::minstd_rand random_{1};
};

} // namespace

figures measure_queue(const arguments& args) {
    const auto waiters = args.number("waiters");
    const auto turns = std::max<std::size_t>(1, fewest_waiters / waiters);
    waiting_room room(waiters);
    room.fill(); // the first time takes memory from the system
    room.cancel_all();
    seconds enqueue{};
    seconds cancel{};
    seconds time_out{};
    for (std::size_t i = 0; i < turns; ++i) {
        const auto filling = room.fill();
        enqueue += filling;
        cancel += room.cancel_all();
        const auto ample = std::chrono::duration_cast<duration>(8 * filling) + std::chrono::milliseconds(50);
        const auto deadline = now() + ample;
        room.fill(deadline);
        time_out += room.time_out_all(deadline);
    }
    const auto per_waiter = [&](seconds total) {
        return total.count() * 1e9 / static_cast<double>(waiters * turns);
    };
    return {{"enqueue_ns", per_waiter(enqueue)},
            {"cancel_ns", per_waiter(cancel)},
            {"time_out_ns", per_waiter(time_out)}};
}

} // namespace skep::bench
