// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Pools among each other, among threads, and in all the ways in which a host can drop them.

#include "support/in_a_child.hpp"
#include "support/run.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/strand.hpp>

#include <atomic>
#include <sys/wait.h>
#include <unistd.h>

namespace skep::test {

namespace {

asio::awaitable<json::value> echo_when_free(pool& workers, json::value value) {
    request call = request("echo").arg("value", std::move(value)).queue_timeout(60s);
    auto result = co_await value_of(workers, std::move(call));
    co_return result;
}

request sleep_call(double seconds) {
    return request("sleep").arg("seconds", seconds);
}

asio::awaitable<bool> is_busy(pool& workers, std::size_t count) {
    auto running = [&workers, count]() -> asio::awaitable<bool> {
        const auto status = co_await workers.status();
        co_return status.in_flight == count;
    };
    const bool busy = co_await eventually(running);
    co_return busy;
}

/// A whole life of a pool; 0 if all went well.
int live_once(const pool_config& config) {
    int result = 1;
    asio::io_context context;
    auto live = [&]() -> asio::awaitable<void> {
        pool workers(context.get_executor(), config);
        co_await workers.start();
        result = 2;
        const auto answer = co_await echo_when_free(workers, "still here");
        result = answer == "still here" ? 3 : 4;
        const auto report = co_await workers.shutdown();
        result = result == 3 && report.clean() && report.workers.size() == config.workers ? 0 : result;
    };
    asio::co_spawn(context, live, [](std::exception_ptr) {});
    context.run();
    return result;
}

} // namespace

BOOST_AUTO_TEST_SUITE(lifecycle)

BOOST_AUTO_TEST_CASE(workers_stop_when_asked) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        pool workers(context.get_executor(), basic_pool(3));
        co_await workers.start();
        const auto report = co_await workers.shutdown();
        BOOST_TEST(report.workers.size() == 3u);
        BOOST_TEST(report.clean());
        for (const auto& exit : report.workers) {
            BOOST_TEST(exit.state == worker_state::stopped);
            BOOST_TEST(exit.stage() == stop_stage::ask);
            BOOST_TEST(exit.stages.size() == 1u);
            BOOST_TEST(exit.status.success());
            BOOST_TEST(!is_alive(exit.pid));
        }
        BOOST_TEST((report.took < patience));
        const auto again = co_await workers.shutdown();
        BOOST_TEST(again.workers.size() == 3u);
    });
}

BOOST_AUTO_TEST_CASE(shutdown_lets_accepted_calls_finish) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        pool workers(context.get_executor(), basic_pool());
        co_await workers.start();
        const auto running = begin_call(context, workers, sleep_call(0.5));
        const auto queued = begin_call(context, workers, sleep_call(0.1));
        auto both_in = [&]() -> asio::awaitable<bool> {
            const auto status = co_await workers.status();
            co_return status.in_flight == 1 && status.queued == 1;
        };
        const bool accepted = co_await eventually(both_in);
        BOOST_TEST(accepted);
        const auto report = co_await workers.shutdown();
        BOOST_TEST(report.calls_drained == 2u);
        BOOST_TEST(report.calls_aborted == 0u);
        BOOST_TEST(running->answer.has_value());
        BOOST_TEST(queued->answer.has_value());
    });
}

BOOST_AUTO_TEST_CASE(shutdown_cuts_off_calls_that_outlast_the_drain) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        auto config = quick(basic_pool());
        config.stop.drain_timeout = 100ms;
        pool workers(context.get_executor(), config);
        co_await workers.start();
        const auto running = begin_call(context, workers, sleep_call(1000));
        const bool busy = co_await is_busy(workers, 1);
        BOOST_TEST(busy);
        const auto report = co_await workers.shutdown();
        BOOST_TEST(report.calls_aborted == 1u);
        BOOST_TEST(report.clean());
        BOOST_REQUIRE(running->problem);
        BOOST_TEST(running->problem->code() == errc::shutting_down);
    });
}

BOOST_AUTO_TEST_CASE(two_pools_at_once_do_not_meet) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        auto first_config = basic_pool(2);
        first_config.name = "first";
        auto second_config = evil_pool("", 2);
        second_config.name = "second";
        pool first(context.get_executor(), first_config);
        pool second(context.get_executor(), second_config);
        co_await first.start();
        co_await second.start();
        for (int i = 0; i < 20; ++i) {
            request to_first = request("echo").arg("value", i);
            const auto a = co_await first.execute(std::move(to_first));
            BOOST_TEST(a.worker.pool == "first");
            request to_second = request("echo").arg("value", -i);
            const auto b = co_await second.execute(std::move(to_second));
            BOOST_TEST(b.worker.pool == "second");
            BOOST_TEST(a.value == i);
            BOOST_TEST(b.value == -i);
        }
        const auto first_report = co_await first.shutdown();
        BOOST_TEST(first_report.workers.size() == 2u);
        const auto alone = co_await echo_when_free(second, "alone");
        BOOST_TEST(alone == "alone");
        const auto second_report = co_await second.shutdown();
        BOOST_TEST(second_report.clean());
    });
}

BOOST_AUTO_TEST_CASE(several_threads_may_call_one_pool) {
    constexpr int callers = 16;
    constexpr int calls = 50;
    std::atomic<int> right{0};
    std::atomic<int> open{callers};
    std::atomic<int> broken{0};
    run(
        [&](asio::io_context& context) -> asio::awaitable<void> {
            pool workers(context.get_executor(), basic_pool(2));
            co_await workers.start();
            auto caller = [&](int number) -> asio::awaitable<void> {
                for (int i = 0; i < calls; ++i) {
                    const auto answer = co_await echo_when_free(workers, number * calls + i);
                    right += answer == number * calls + i ? 1 : 0;
                }
            };
            const auto on_end = [&](std::exception_ptr problem) {
                broken += problem ? 1 : 0;
                --open;
            };
            for (int i = 0; i < callers; ++i) {
                asio::co_spawn(context, caller(i), on_end);
            }
            auto all_done = [&open] { return open == 0; };
            const bool done = co_await eventually(all_done, 60s);
            BOOST_TEST(done);
            const auto status = co_await workers.status();
            BOOST_TEST(status.counters.succeeded == static_cast<std::uint64_t>(callers * calls));
            const auto report = co_await workers.shutdown();
            BOOST_TEST(report.clean());
        },
        4);
    BOOST_TEST(right == callers * calls);
    BOOST_TEST(broken == 0);
}

BOOST_AUTO_TEST_CASE(a_call_completes_on_the_executor_of_its_caller) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        pool workers(context.get_executor(), basic_pool());
        co_await workers.start();

        const auto strand = asio::make_strand(context);
        auto on_strand = [&]() -> asio::awaitable<bool> {
            const auto answer = co_await echo_when_free(workers, 1);
            co_return answer == 1 && strand.running_in_this_thread();
        };
        const bool stayed_on_strand = co_await asio::co_spawn(strand, on_strand, asio::use_awaitable);
        BOOST_TEST(stayed_on_strand);

        asio::io_context other;
        auto work = asio::make_work_guard(other);
        std::thread runner([&other] { other.run(); });
        auto on_other = [&]() -> asio::awaitable<bool> {
            const auto answer = co_await echo_when_free(workers, 1);
            const auto status = co_await workers.status();
            auto failing = echo_when_free(workers, "\xFF");
            const auto e = co_await failure_of(std::move(failing));
            const bool all_well =
                answer == 1 && status.workers.size() == 1 && e.code() == errc::invalid_request;
            const bool at_home = other.get_executor().running_in_this_thread();
            const bool both = all_well && at_home;
            co_return both;
        };
        const bool stayed_on_other = co_await asio::co_spawn(other, on_other, asio::use_awaitable);
        BOOST_TEST(stayed_on_other);
        BOOST_TEST(context.get_executor().running_in_this_thread());
        work.reset();
        runner.join();

        const auto report = co_await workers.shutdown();
        BOOST_TEST(report.clean());
    });
}

BOOST_AUTO_TEST_CASE(a_pool_destroyed_without_shutdown_ends_its_calls) {
    for (const int thread_count : {1, 4}) {
        run(
            [](asio::io_context& context) -> asio::awaitable<void> {
                std::optional<pool> workers(std::in_place, context.get_executor(), basic_pool(2));
                co_await workers->start();
                std::vector<std::shared_ptr<background_call>> calls;
                for (int i = 0; i < 4; ++i) {
                    calls.push_back(begin_call(context, *workers, sleep_call(1000)));
                }
                const bool busy = co_await is_busy(*workers, 2);
                BOOST_TEST(busy);
                const auto began = std::chrono::steady_clock::now();
                workers.reset();
                for (const auto& call : calls) {
                    const bool ended = co_await is_ended(call);
                    BOOST_TEST(ended);
                }
                BOOST_TEST((std::chrono::steady_clock::now() - began < patience));
                co_await pause(
                    10ms); // on several threads, the outcome is written when is_done() says so, or soon after
                for (const auto& call : calls) {
                    BOOST_REQUIRE(call->problem);
                    BOOST_TEST(call->problem->code() == errc::shutting_down);
                }
            },
            thread_count);
    }
}

BOOST_AUTO_TEST_CASE(a_pool_destroyed_while_it_starts_leaves_nothing) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        std::optional<pool> workers(std::in_place, context.get_executor(), basic_pool(3));
        std::exception_ptr problem;
        bool ended = false;
        asio::co_spawn(context, workers->start(), [&](std::exception_ptr e) {
            problem = e;
            ended = true;
        });
        co_await pause(20ms);
        workers.reset();
        auto has_ended = [&ended] { return ended; };
        const bool in_time = co_await eventually(has_ended);
        BOOST_TEST(in_time);
        BOOST_CHECK(problem);
    });
}

/// Destroys a context while a coroutine that owns a pool is suspended in it, at `suspended(pool)`.
template <class Suspended>
void destroy_context_at(Suspended suspended) {
    const leak_audit audit;
    std::vector<pid_t> pids;
    asio::cancellation_signal signal; // a service may keep it for longer than its context
    {
        asio::io_context context;
        bool reached = false;
        auto live = [&]() -> asio::awaitable<void> {
            pool workers(context.get_executor(), basic_pool(2));
            co_await workers.start();
            request call("grandchild");
            const json::value child = co_await value_of(workers, std::move(call));
            const pool_status status = co_await workers.status();
            for (const auto& worker : status.workers) {
                pids.push_back(worker.pid);
            }
            pids.push_back(child.to_number<pid_t>());
            reached = true;
            co_await suspended(workers);
        };
        const auto ignore = [](std::exception_ptr) {};
        asio::co_spawn(context, live, asio::bind_cancellation_slot(signal.slot(), ignore));
        while (!reached) {
            context.run_one_for(30s);
        }
        context.run_for(30ms);
    }
    BOOST_REQUIRE_EQUAL(pids.size(), 3u);
    BOOST_TEST(!is_alive(pids[0]), "the first worker outlived its context");
    BOOST_TEST(!is_alive(pids[1]), "the second worker outlived its context");
    const auto end =
        std::chrono::steady_clock::now() + patience; // the grandchild is killed, but nobody waits for it
    while (is_alive(pids[2]) && std::chrono::steady_clock::now() < end) {
        std::this_thread::yield();
    }
    BOOST_TEST(!is_alive(pids[2]), "the grandchild outlived its context");
}

BOOST_AUTO_TEST_CASE(a_context_destroyed_with_an_idle_pool_leaves_nothing) {
    destroy_context_at([](pool&) -> asio::awaitable<void> { co_await pause(1h); });
}

BOOST_AUTO_TEST_CASE(a_context_destroyed_during_a_call_leaves_nothing) {
    destroy_context_at([](pool& workers) -> asio::awaitable<void> {
        request endless = sleep_call(1000);
        co_await workers.execute(std::move(endless));
    });
}

BOOST_AUTO_TEST_CASE(a_context_destroyed_while_a_stream_is_read_leaves_nothing) {
    destroy_context_at([](pool& workers) -> asio::awaitable<void> {
        request endless = sleep_call(1000);
        auto stream = co_await workers.stream(std::move(endless));
        co_await stream.next();
    });
}

BOOST_AUTO_TEST_CASE(a_context_destroyed_during_a_shutdown_leaves_nothing) {
    destroy_context_at([](pool& workers) -> asio::awaitable<void> {
        request endless = sleep_call(1000);
        const auto executor = co_await asio::this_coro::executor;
        asio::co_spawn(executor, workers.execute(std::move(endless)),
                       [](std::exception_ptr, const reply&) {});
        co_await workers.shutdown(); // drains for 5 s
    });
}

BOOST_AUTO_TEST_CASE(a_context_destroyed_during_a_start_leaves_nothing) {
    const leak_audit audit;
    {
        asio::io_context context;
        auto live = [&]() -> asio::awaitable<void> {
            pool workers(context.get_executor(), evil_pool("no_hello", 2));
            co_await workers.start();
        };
        asio::co_spawn(context, live, [](std::exception_ptr) {});
        context.run_for(100ms);
    }
}

BOOST_AUTO_TEST_CASE(a_context_destroyed_right_after_its_pool_leaves_nothing) {
    const leak_audit audit;
    {
        asio::io_context context;
        pool workers(context.get_executor(), basic_pool(2));
        bool started = false;
        asio::co_spawn(context, workers.start(), [&](std::exception_ptr) { started = true; });
        while (!started) {
            context.run_one_for(30s);
        }
    }
}

BOOST_AUTO_TEST_CASE(a_context_destroyed_before_it_has_seen_an_operation_lets_its_caller_go) {
    asio::io_context elsewhere;
    const auto trace = std::make_shared<int>(); // held by each caller's coroutine
    {
        asio::io_context context;
        pool workers(context.get_executor(), basic_pool());
        auto wait = [trace](auto operation) -> asio::awaitable<void> {
            const auto keep = trace;
            co_await std::move(operation);
        };
        const auto ignore = [](std::exception_ptr) {};
        request call("pid");
        request unsendable("\xff");
        asio::co_spawn(elsewhere, wait(workers.start()), ignore);
        asio::co_spawn(elsewhere, wait(workers.execute(std::move(call))), ignore);
        asio::co_spawn(elsewhere, wait(workers.execute(std::move(unsendable))), ignore);
        asio::co_spawn(elsewhere, wait(workers.status()), ignore);
        asio::co_spawn(elsewhere, wait(workers.shutdown()), ignore);
        elsewhere.poll();
        BOOST_TEST(trace.use_count() == 7); // and one in `wait`
    }
    elsewhere.poll(); // where Asio unwinds them
    BOOST_TEST(trace.use_count() == 1);
    BOOST_TEST(elsewhere.stopped()); // nobody keeps it at work any more
}

BOOST_AUTO_TEST_CASE(a_host_without_standard_streams_can_have_a_pool) {
    const leak_audit audit;
    const auto config = basic_pool(2);
    for (const unsigned closed : {1u, 2u, 4u, 3u, 6u, 7u}) {
        auto live = [&] {
            for (int fd = 0; fd < 3; ++fd) {
                if ((closed >> fd & 1u) != 0) {
                    ::close(fd);
                }
            }
            return live_once(config);
        };
        const int code = in_a_child(live);
        BOOST_TEST(code == 0, "with descriptors " << closed << " (a bit set) closed");
    }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
