// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Workers whose process has ended before the pool learns of it.

#include "process/local_context.hpp"
#include "support/fake_runtime.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>

namespace skep::test {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(end_at_launch_test)

namespace {

void ends_at_once(fake_worker& worker) {
    worker.exit(exit_3);
}

void ends_after_its_greeting(fake_worker& worker) {
    worker.shake_hands();
    worker.exit(exit_3);
}

/// The shutdown ends soon: there is no process to wait for.
void check_quick_shutdown(manual_pool& pool) {
    const auto down = pool.shutdown();
    pool.advance(1s);
    BOOST_REQUIRE(down->done);
    BOOST_TEST(down->value.has_value());
}

/// The channel of a worker that is gone.
class ended_stream final : public byte_stream {
public:
    std::optional<std::size_t> try_write(std::span<const char>) noexcept override { return std::nullopt; }
    asio::awaitable<void> wait_writable() override { co_return; }
    asio::awaitable<std::size_t> read(std::span<char>) override { co_return 0; }
    void hear_out() noexcept override {}
    void close() noexcept override {}
};

/// A runtime whose starts return when the test lets them, even if they are cancelled.
class late_runtime final : public runtime {
public:
    explicit late_runtime(const strand& executor) : fakes(executor), gate(executor) {}

    asio::awaitable<worker_link> start(launch_order order) override {
        co_await gate.wait();
        auto starting = fakes.start(std::move(order));
        auto link = co_await std::move(starting);
        if (has_no_channel) {
            link.data = std::make_unique<ended_stream>();
            link.control = nullptr;
        }
        co_return link;
    }
    void cancel_start(const worker_id&) noexcept override {}
    void close() override {}

    fake_runtime fakes;
    latch gate;
    bool has_no_channel = false;
};

/// A pool with a late_runtime.
struct late_pool : manual_context {
    explicit late_pool(void (*how)(fake_worker&), bool has_no_channel = false) {
        const auto make = [&](const pool_context& own, const pool_config&, const output_handler&) {
            auto late = std::make_unique<late_runtime>(own.executor);
            launches = late.get();
            launches->fakes.on_start = how;
            launches->has_no_channel = has_no_channel;
            return late;
        };
        facade.emplace(make_pool(
            std::make_shared<pool_core>(make_local_context(context.get_executor()), fake_config(), make)));
    }

    /// Returns whether the operation has ended, now or later.
    template <class T>
    std::shared_ptr<bool> begin(asio::awaitable<T> operation) {
        const auto done = std::make_shared<bool>(false);
        asio::co_spawn(context, std::move(operation), [done](auto&&...) { *done = true; });
        run_until_idle();
        return done;
    }

    late_runtime* launches = nullptr;
    std::optional<pool> facade;
};

} // namespace

BOOST_AUTO_TEST_CASE(the_start_fails_and_a_shutdown_ends) {
    for (const auto how : {ends_at_once, ends_after_its_greeting}) {
        manual_pool pool(fake_config(2));
        pool.runtime().on_start = how;
        const auto started = pool.start();
        pool.advance(5s);
        BOOST_TEST(pool.launched() >= 2u);
        check_quick_shutdown(pool);
        BOOST_TEST(started->done);
    }
}

BOOST_AUTO_TEST_CASE(a_shutdown_at_the_moment_of_the_launch_ends) {
    for (const auto how : {ends_at_once, ends_after_its_greeting}) {
        manual_pool pool(fake_config(2));
        std::shared_ptr<manual_pool::outcome<shutdown_report>> down;
        pool.runtime().on_start = [&](fake_worker& worker) {
            how(worker);
            asio::post(pool.context, [&] {
                if (!down) {
                    down = pool.shutdown();
                }
            });
        };
        const auto started = pool.start();
        pool.advance(1s);
        BOOST_REQUIRE(down);
        BOOST_TEST(down->done);
        BOOST_TEST(started->done);
    }
}

BOOST_AUTO_TEST_CASE(a_launch_that_returns_during_a_shutdown_does_not_hold_it_up) {
    for (const auto how : {ends_at_once, ends_after_its_greeting}) {
        for (const auto delay : {0ms, 1ms, 100ms, 10'000ms}) {
            late_pool of(how);
            const auto started = of.begin(of.facade->start());
            const auto down = of.begin(of.facade->shutdown());
            of.advance(delay);
            of.launches->gate.open();
            of.advance(2s);
            BOOST_TEST(*started);
            BOOST_TEST(*down, "after " << delay.count() << " ms");
            of.facade.reset();
            of.run_until_idle();
        }
    }
}

BOOST_AUTO_TEST_CASE(a_shutdown_follows_a_late_launch_at_any_moment) {
    for (int steps = 0; steps < 80; ++steps) {
        late_pool of(ends_at_once, steps % 2 == 0);
        const auto started = of.begin(of.facade->start());
        of.launches->gate.open();
        of.context.restart();
        for (int i = 0; i < steps / 2; ++i) {
            of.context.poll_one();
        }
        const auto down = of.begin(of.facade->shutdown());
        of.advance(2s);
        BOOST_TEST(*started);
        BOOST_TEST(*down, "after " << steps / 2 << " steps");
        of.facade.reset();
        of.run_until_idle();
    }
}

BOOST_AUTO_TEST_CASE(replacements_that_end_at_once_are_replaced) {
    for (const auto how : {ends_at_once, ends_after_its_greeting}) {
        running_pool pool(fake_config());
        pool.warm_up();
        pool.runtime().on_start = how;
        crash_worker(pool, 0);
        pool.advance(1s);
        BOOST_TEST(pool.launched() >= 3u);
        pool.runtime().on_start = [](fake_worker& worker) { worker.shake_hands(); };
        pool.advance(30s);
        const auto call = pool.execute(request("f"));
        pool.serve(pool.launched() - 1);
        BOOST_TEST(call->done);
        BOOST_TEST((call->code() == errc()));
    }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
