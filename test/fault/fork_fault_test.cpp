// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// A host that forks with a pool in it, as daemon() does: the copy has none of the pool's threads, nor its
// workers.

#include "support/in_a_child.hpp"
#include "support/run.hpp"

#include <csignal>

namespace skep::test {

namespace {

/// Every way to have a pool do something, in the copy: on a context of the copy's own, as that of the pool
/// may be in any state. Returns how many did not fail at once with errc::forked.
class copy_of_host {
public:
    copy_of_host(pool& workers, lease& held, reply_stream& opened)
        : workers_(workers), held_(held), opened_(opened) {}

    int failures() {
        asio::io_context context;
        asio::co_spawn(context, ask_everything(), [this](std::exception_ptr problem) {
            wrong_ += problem ? 100 : 0;
            is_done_ = true;
        });
        context.run_for(30s);
        return is_done_ ? wrong_ : 98;
    }

private:
    template <class T>
    asio::awaitable<void> expect_refusal(asio::awaitable<T> operation) {
        bool is_right = false;
        try {
            co_await std::move(operation);
        } catch (const error& e) {
            is_right = e.kind() == errc::forked && contains(e.what(), "after fork() or daemon()") &&
                       e.info().pool == "default" && !retryable(e.kind());
        }
        wrong_ += is_right ? 0 : 1;
    }

    asio::awaitable<void> ask_everything() {
        co_await expect_refusal(workers_.execute(request("pid")));
        request watched("pid");
        watched.on_progress([](const progress&) {});
        co_await expect_refusal(workers_.execute(std::move(watched)));
        co_await expect_refusal(workers_.stream(request("pid")));
        co_await expect_refusal(workers_.checkout());
        co_await expect_refusal(workers_.start());
        co_await expect_refusal(workers_.ready(1));
        co_await expect_refusal(workers_.suspend());
        co_await expect_refusal(workers_.resume());
        co_await expect_refusal(workers_.rolling_restart());
        co_await expect_refusal(workers_.restart(worker_id()));
        co_await expect_refusal(workers_.resize(size_limits(1, 3)));
        co_await expect_refusal(held_.execute(request("pid")));
        co_await expect_refusal(held_.stream(request("pid")));
        co_await expect_refusal(opened_.next());
    }

    pool& workers_;
    lease& held_;
    reply_stream& opened_;
    int wrong_ = 0;
    bool is_done_ = false;
};

} // namespace

BOOST_AUTO_TEST_SUITE(fork_fault)

BOOST_AUTO_TEST_CASE(calls_in_the_copy_fail_at_once_and_the_pool_goes_on) {
    auto config = basic_pool(3);
    config.name = "default";
    with_pool(config, [](pool& workers) -> asio::awaitable<void> {
        auto held = co_await workers.checkout();
        request slow = request("sleep").arg("seconds", 1000);
        auto opened = co_await workers.stream(std::move(slow));
        const auto before = co_await pid_of(workers);
        const int wrong = in_a_child([&] { return copy_of_host(workers, held, opened).failures(); });
        BOOST_TEST(wrong == 0);
        opened.cancel();
        const auto after = co_await pid_of(workers);
        BOOST_TEST(after == before);
        co_await held.close();
    });
}

// As a daemon does that makes its pool too early: the copy goes on with the context, and the first process is
// gone.
BOOST_AUTO_TEST_CASE(a_copy_that_goes_on_ends) {
    const int code = in_a_child([] {
        asio::io_context context;
        auto config = quick(basic_pool(2));
        std::optional<pool> workers(std::in_place, context.get_executor(), config);
        int result = 1;
        bool is_up = false;
        auto start = [&]() -> asio::awaitable<void> {
            co_await workers->start();
            is_up = true;
            context.stop();
        };
        asio::co_spawn(context, start, [](std::exception_ptr) {});
        context.run();
        if (!is_up) {
            return 2;
        }
        context.restart();
        return in_a_child([&] {
            context.notify_fork(asio::io_context::fork_child);
            auto live = [&]() -> asio::awaitable<void> {
                auto calling = workers->execute(request("pid"));
                const auto e = co_await failure_of(std::move(calling));
                result = e.kind() == errc::forked ? 3 : 4;
                co_await workers->shutdown();
                result = result == 3 ? 0 : result;
            };
            asio::co_spawn(context, live, [](std::exception_ptr) {});
            context.run_for(40s);
            return result != 0 ? result : context.stopped() ? 0 : 5;
        });
    });
    BOOST_TEST(code == 0);
}

BOOST_AUTO_TEST_CASE(a_pool_that_was_made_before_and_is_started_after_works) {
    asio::io_context context;
    std::optional<pool> workers(std::in_place, context.get_executor(), basic_pool());
    const int code = in_a_child([&] {
        context.notify_fork(asio::io_context::fork_child);
        int result = 1;
        auto live = [&]() -> asio::awaitable<void> {
            co_await workers->start();
            const auto pid = co_await pid_of(*workers);
            const auto report = co_await workers->shutdown();
            result = pid > 0 && report.clean() ? 0 : 2;
        };
        asio::co_spawn(context, live, [](std::exception_ptr) {});
        context.run();
        return result;
    });
    BOOST_TEST(code == 0);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
