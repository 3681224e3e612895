// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Who collects children: somebody else in the host, the pool much later, or the pool at all.

#include "support/log_capture.hpp"
#include "support/run.hpp"

#include <cerrno>
#include <csignal>
#include <sys/wait.h>

namespace skep::test {

namespace {

/// Changes what becomes of SIGCHLD for as long as it lives.
class sigchld {
public:
    sigchld(void (*handler)(int), int flags) {
        struct sigaction now {};
        now.sa_handler = handler;
        now.sa_flags = flags;
        ::sigaction(SIGCHLD, &now, &before_);
    }
    ~sigchld() { ::sigaction(SIGCHLD, &before_, nullptr); }
    sigchld(const sigchld&) = delete;
    sigchld& operator=(const sigchld&) = delete;

private:
    struct sigaction before_ {};
};

/// Collects every child there is, over and over.
class greedy_thread {
public:
    greedy_thread()
        : thread_([this] {
              while (!stop_) {
                  if (::waitpid(-1, nullptr, WNOHANG) <= 0) {
                      std::this_thread::yield();
                  }
              }
          }) {}
    ~greedy_thread() {
        stop_ = true;
        thread_.join();
    }
    greedy_thread(const greedy_thread&) = delete;
    greedy_thread& operator=(const greedy_thread&) = delete;

private:
    std::atomic<bool> stop_{false};
    std::thread thread_;
};

/// Calls end and the pool heals; what a worker had started dies with it; the pool says what is the matter,
/// once, and does not claim to know what it does not.
void check_others_reap() {
    auto config = unforked(quick(basic_pool(2)));
    config.stop.shutdown_grace = patience;
    config.log_level = log_level::warning;
    config.log_handler = capturing_handler();
    const log_capture log;
    run([&](asio::io_context& context) -> asio::awaitable<void> {
        pool workers(context.get_executor(), config);
        co_await workers.start();
        for (int i = 0; i < 3; ++i) {
            request starting("grandchild");
            const json::value started = co_await value_of(workers, std::move(starting));
            const auto grandchild = started.to_number<pid_t>();
            BOOST_TEST(is_alive(grandchild));
            request busy("parent_of");
            busy.arg("child", grandchild);
            const json::value parent = co_await value_of(workers, std::move(busy));
            ::kill(parent.to_number<pid_t>(), SIGKILL);
            auto gone = [grandchild] { return !is_alive(grandchild); };
            const bool killed = co_await eventually(gone);
            BOOST_TEST(killed);
            const bool healed = co_await is_healed(workers, 2);
            BOOST_TEST(healed);
        }
        request deadly("die");
        auto dying = workers.execute(std::move(deadly));
        const auto e = co_await failure_of(std::move(dying));
        BOOST_TEST(e.code() == errc::worker_lost);
        BOOST_TEST(e.info().status.was_taken());
        BOOST_TEST(contains(e.what(), "leave SIGCHLD at its default"), e.what());
        const bool healed = co_await is_healed(workers, 2);
        BOOST_TEST(healed);
        const auto report = co_await workers.shutdown();
        BOOST_TEST(!report.clean());
        BOOST_TEST((report.took < patience));
        BOOST_TEST(report.workers.size() == 2u);
        for (const auto& exit : report.workers) {
            BOOST_TEST(exit.stage() == stop_stage::ask);
            BOOST_TEST(is_terminal(exit.state));
        }
    });
    BOOST_TEST(log.count("leave SIGCHLD at its default") == 1, log.text());
}

} // namespace

BOOST_AUTO_TEST_SUITE(reaping_fault)

BOOST_AUTO_TEST_CASE(a_host_that_ignores_sigchld) {
    const sigchld ignored(SIG_IGN, 0);
    check_others_reap();
}

BOOST_AUTO_TEST_CASE(a_host_that_wants_no_zombies) {
    const sigchld unwanted(SIG_DFL, SA_NOCLDWAIT);
    check_others_reap();
}

BOOST_AUTO_TEST_CASE(a_host_that_collects_everything_in_a_handler) {
    const auto collect_all = [](int) {
        const int keep = errno;
        while (::waitpid(-1, nullptr, WNOHANG) > 0) {}
        errno = keep;
    };
    const sigchld handled(collect_all, SA_RESTART);
    run([](asio::io_context& context) -> asio::awaitable<void> { // it may be late now and then
        pool workers(context.get_executor(), quick(basic_pool(2)));
        co_await workers.start();
        request deadly("die");
        auto dying = workers.execute(std::move(deadly));
        const auto e = co_await failure_of(std::move(dying));
        BOOST_TEST(e.code() == errc::worker_lost);
        const bool healed = co_await is_healed(workers, 2);
        BOOST_TEST(healed);
        co_await workers.shutdown();
    });
}

BOOST_AUTO_TEST_CASE(a_host_that_collects_everything_in_a_thread) {
    const greedy_thread greedy;
    auto config = quick(basic_pool(2));
    run([&](asio::io_context& context) -> asio::awaitable<void> {
        pool workers(context.get_executor(), config);
        co_await workers.start();
        request starting("grandchild");
        const json::value started = co_await value_of(workers, std::move(starting));
        const auto grandchild = started.to_number<pid_t>();
        co_await workers.shutdown();
        auto gone = [grandchild] { return !is_alive(grandchild); };
        const bool killed = co_await eventually(gone);
        BOOST_TEST(killed);
    });
}

BOOST_AUTO_TEST_CASE(a_worker_that_does_not_end_in_time_is_collected_later) {
    auto config = basic_pool();
    config.stop.shutdown_grace = 0ms;
    config.stop.term_grace = 0ms;
    config.stop.reap_timeout = 10ms;
    run([&](asio::io_context& context) -> asio::awaitable<void> {
        bool lost = false;
        for (int mebibytes = 1024; !lost && mebibytes <= 8192;
             mebibytes *= 2) { // the kernel frees memory first
            pool workers(context.get_executor(), config);
            co_await workers.start();
            request swelling = request("swell").arg("mebibytes", mebibytes);
            co_await workers.execute(std::move(swelling));
            const auto report = co_await workers.shutdown();
            BOOST_TEST_REQUIRE(report.workers.size() == 1u);
            lost = report.workers.front().stage() == stop_stage::lost;
            BOOST_TEST(report.clean() == !lost);
            auto collected = [] { return children().empty() && threads() == 1; };
            const bool none_is_left = co_await eventually(collected);
            BOOST_TEST(none_is_left);
        }
        BOOST_TEST(lost);
    });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
