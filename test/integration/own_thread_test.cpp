// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Pools with a thread of their own.

#include "support/in_a_child.hpp"
#include "support/run.hpp"
#include <skep/pool_manager.hpp>

#include <atomic>
#include <set>
#include <thread>

namespace skep::test {

namespace {

pool_config on_own_thread(pool_config config) {
    config.thread = pool_thread::own;
    return config;
}

request asking_host(const std::string& name) {
    return request("ask").arg("name", name).arg("args", json::object());
}

/// Runs `elsewhere` until `condition()` holds. False if it never does.
template <class Condition>
bool run_until(asio::io_context& elsewhere, Condition condition) {
    const auto end = std::chrono::steady_clock::now() + 60s;
    while (!condition() && std::chrono::steady_clock::now() < end) {
        elsewhere.restart();
        elsewhere.run_for(5ms);
    }
    return condition();
}

/// A coroutine that holds `trace` while `operation` lasts.
template <class Operation>
asio::awaitable<void> hold(std::shared_ptr<int> trace, Operation operation) {
    co_await std::move(operation);
    trace.reset();
}

/// Waits until this process has `count` threads.
asio::awaitable<bool> has_threads(std::size_t count) {
    auto is_reached = [count] { return threads() == count; };
    const bool reached = co_await eventually(is_reached);
    co_return reached;
}

void ignore_problem(const std::exception_ptr&) {}

template <class T>
asio::awaitable<void> count_refusal(asio::awaitable<T> operation, int& refusals) {
    const auto problem = co_await failure_of(std::move(operation));
    refusals += problem.kind() == errc::forked ? 1 : 0;
}

/// Seven operations, in a forked copy.
asio::awaitable<void> count_refusals(pool& workers, int& refusals) {
    co_await count_refusal(workers.status(), refusals);
    co_await count_refusal(workers.metrics(), refusals);
    co_await count_refusal(workers.session_worker("s"), refusals);
    co_await count_refusal(workers.forget_session("s"), refusals);
    co_await count_refusal(workers.shutdown(), refusals);
    co_await count_refusal(workers.start(), refusals);
    request call("cleanups");
    co_await count_refusal(workers.execute(std::move(call)), refusals);
}

/// A started pool whose context a test destroys, and callers on a context that lives on.
struct abandoned_pool {
    explicit abandoned_pool(pool_config config)
        : workers(std::in_place, *context, on_own_thread(std::move(config))) {
        bool is_up = false;
        asio::co_spawn(*context, workers->start(), [&](const std::exception_ptr& problem) {
            BOOST_TEST(!problem);
            is_up = true;
        });
        BOOST_TEST(run_until(*context, [&] { return is_up; }));
    }

    const leak_audit audit;
    const std::size_t threads_before = threads();
    const std::shared_ptr<int> trace = std::make_shared<int>(); ///< held by each caller
    asio::io_context elsewhere;
    std::optional<asio::io_context> context{std::in_place};
    std::optional<pool> workers;

    template <class Operation>
    void begin(Operation operation) {
        asio::co_spawn(elsewhere, hold(trace, std::move(operation)), ignore_problem);
    }
};

} // namespace

BOOST_AUTO_TEST_SUITE(pools_on_own_threads)

BOOST_AUTO_TEST_CASE(callers_and_handlers_stay_on_their_thread) {
    const auto home = std::this_thread::get_id();
    std::atomic<int> logged_elsewhere{0};
    std::atomic<int> printed_here{0};
    auto config = on_own_thread(basic_pool(2));
    config.log_level = log_level::debug;
    config.log_handler = [&](const log_record&) { logged_elsewhere += std::this_thread::get_id() != home; };
    config.output.handler = [&](const output_line&) { printed_here += std::this_thread::get_id() == home; };
    with_pool(config, [&](pool& workers) -> asio::awaitable<void> {
        const auto executor = co_await asio::this_coro::executor;
        BOOST_TEST((workers.get_executor() == executor));
        for (int i = 0; i < 100; ++i) {
            auto call = request("echo").arg("value", i);
            const auto answer = co_await workers.execute(std::move(call));
            BOOST_TEST((answer.value == i && std::this_thread::get_id() == home));
        }
        std::atomic<bool> was_called_here = false;
        auto call = request("say").arg("text", "hello");
        workers.execute(std::move(call), [&](const std::exception_ptr&, const reply&) {
            was_called_here = std::this_thread::get_id() == home;
        });
        auto was_called = [&] { return was_called_here.load(); };
        const bool called = co_await eventually(was_called);
        BOOST_TEST(called);
    });
    BOOST_TEST(logged_elsewhere == 0);
    BOOST_TEST(printed_here == 0);
}

BOOST_AUTO_TEST_CASE(sessions_timeouts_and_cancellation) {
    auto config = on_own_thread(quick(basic_pool(2)));
    config.affinity.mode = affinity_mode::strict_queue;
    run([&](asio::io_context& context) -> asio::awaitable<void> {
        pool workers(context, config);
        co_await workers.start();
        std::set<std::uint32_t> slots;
        for (int i = 0; i < 10; ++i) {
            auto call = request("pid").session("s");
            const auto answer = co_await workers.execute(std::move(call));
            slots.insert(static_cast<std::uint32_t>(answer.worker.slot));
        }
        BOOST_TEST(slots.size() == 1u);
        auto late = request("sleep").arg("seconds", 1000).timeout(50ms);
        const auto timeout = co_await failure_of(workers.execute(std::move(late)));
        BOOST_TEST(timeout.kind() == errc::timeout);
        const auto cancelled =
            begin_call(context, workers, request("sleep").arg("seconds", 1000).session("other"));
        co_await pause(50ms);
        cancelled->cancel.emit(asio::cancellation_type::terminal);
        const bool ended = co_await is_ended(cancelled);
        BOOST_TEST((ended && cancelled->problem && cancelled->problem->kind() == errc::cancelled));
        const bool healed = co_await is_healed(workers, 2);
        BOOST_TEST(healed);
        auto held = co_await workers.checkout();
        const auto pid = co_await held.execute<int>("pid");
        BOOST_TEST(pid > 0);
        co_await held.close();
        const auto report = co_await workers.shutdown();
        BOOST_TEST(report.calls_aborted == 0u);
    });
}

BOOST_AUTO_TEST_CASE(streams) {
    const auto config = on_own_thread(python_pool("integration/workers/streams.py"));
    with_pool(config, [](pool& workers) -> asio::awaitable<void> {
        auto call = request("count").arg("to", 1000);
        auto stream = co_await workers.stream(std::move(call));
        int count = 0;
        while (const auto piece = co_await stream.next()) {
            BOOST_REQUIRE_EQUAL(piece->as<int>(), count);
            ++count;
        }
        BOOST_TEST(count == 1000);
        call = request("count").arg("to", 1'000'000'000);
        auto left = co_await workers.stream(std::move(call));
        const auto first = co_await left.next();
        BOOST_TEST(first->as<int>() == 0);
        left.cancel();
        auto looking = [&]() -> asio::awaitable<bool> {
            const auto closed = co_await cleanups(workers);
            co_return closed == 2;
        };
        const bool closed = co_await eventually(looking);
        BOOST_TEST(closed);
    });
}

BOOST_AUTO_TEST_CASE(tools_run_on_the_thread_and_call_the_pool) {
    const auto config = on_own_thread(python_pool("integration/workers/tools.py", 2));
    with_pool(config, [](pool& workers) -> asio::awaitable<void> {
        const auto home = std::this_thread::get_id();
        workers.register_tool("far", [home](tool_call) -> asio::awaitable<tool_reply> {
            co_return tool_reply(std::this_thread::get_id() != home);
        });
        workers.register_tool("relay", [&workers](tool_call) -> asio::awaitable<tool_reply> {
            auto inner = asking_host("far");
            auto answer = co_await workers.execute(std::move(inner));
            co_return tool_reply(std::move(answer.value));
        });
        auto call = asking_host("relay");
        const bool far = co_await workers.execute<bool>(std::move(call));
        BOOST_TEST(far);
    });
}

BOOST_AUTO_TEST_CASE(callers_on_several_threads) {
    const leak_audit audit;
    constexpr int callers = 6;
    constexpr int calls = 100;
    std::atomic<int> answers{0};
    std::atomic<int> ended{0};
    auto call_often = [&](pool& workers) -> asio::awaitable<void> {
        const auto home = std::this_thread::get_id();
        for (int i = 0; i < calls; ++i) {
            auto call = request("echo").arg("value", i);
            const auto answer = co_await workers.execute(std::move(call));
            answers += answer.value == i && std::this_thread::get_id() == home ? 1 : 0;
        }
    };
    auto main = [&](pool& workers, context_group& contexts) -> asio::awaitable<void> {
        for (int i = 0; i < callers; ++i) {
            asio::co_spawn(contexts.next(), call_often(workers), [&](const std::exception_ptr&) { ++ended; });
        }
        auto have_ended = [&] { return ended == callers; };
        const bool all_ended = co_await eventually(have_ended, 60s);
        BOOST_TEST(all_ended);
    };
    BOOST_TEST(skep::run(on_own_thread(basic_pool(2)), main, skep::threads(3)) == 0);
    BOOST_TEST(answers == callers * calls);
}

BOOST_AUTO_TEST_CASE(threads_of_the_given_context_cause_no_warning) {
    std::atomic<int> warnings{0};
    auto config = on_own_thread(basic_pool());
    config.restart.safety_tick = 10ms;
    config.log_level = log_level::warning;
    config.log_handler = [&](const log_record&) { ++warnings; };
    auto live = [&](asio::io_context& context) -> asio::awaitable<void> {
        pool workers(context, config);
        co_await workers.start();
        co_await pause(300ms);
        co_await workers.shutdown();
    };
    run(live, 3);
    BOOST_TEST(warnings == 0);
}

BOOST_AUTO_TEST_CASE(a_pool_that_was_shut_down_answers_until_it_is_destroyed) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        const auto before = threads();
        std::optional<pool> workers(std::in_place, context, on_own_thread(basic_pool()));
        co_await workers->start();
        co_await workers->shutdown();
        auto call = request("pid");
        const auto problem = co_await failure_of(workers->execute(std::move(call)));
        BOOST_TEST(problem.kind() == errc::shutting_down);
        const auto status = co_await workers->status();
        BOOST_TEST((status.phase == pool_phase::stopped));
        BOOST_TEST(threads() == before + 1);
        workers.reset();
        const bool gone = co_await has_threads(before);
        BOOST_TEST(gone);
    });
}

BOOST_AUTO_TEST_CASE(many_in_series_leave_no_thread) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        const auto before = threads();
        for (int i = 0; i < 50; ++i) {
            const pool workers(context, on_own_thread(basic_pool()));
        }
        for (int i = 0; i < 5; ++i) {
            pool workers(context, on_own_thread(basic_pool()));
            co_await workers.start();
            co_await workers.shutdown();
        }
        const bool gone = co_await has_threads(before);
        BOOST_TEST(gone);
    });
}

BOOST_AUTO_TEST_CASE(a_pool_destroyed_without_shutdown_ends_in_the_background) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        const auto before = threads();
        std::optional<pool> workers(std::in_place, context, on_own_thread(basic_pool(2)));
        co_await workers->start();
        const auto call = begin_call(context, *workers, request("sleep").arg("seconds", 1000));
        auto is_busy = [&]() -> asio::awaitable<bool> {
            const auto status = co_await workers->status();
            co_return status.in_flight == 1;
        };
        const bool busy = co_await eventually(is_busy);
        BOOST_TEST(busy);
        workers.reset();
        const bool ended = co_await is_ended(call);
        BOOST_TEST((ended && call->problem && call->problem->kind() == errc::shutting_down));
        auto is_gone = [&] { return threads() == before && children().empty(); };
        const bool gone = co_await eventually(is_gone);
        BOOST_TEST(gone);
    });
}

BOOST_AUTO_TEST_CASE(a_stream_outlives_its_pool) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        const auto before = threads();
        auto config = on_own_thread(python_pool("integration/workers/streams.py"));
        std::optional<pool> workers(std::in_place, context, config);
        co_await workers->start();
        auto call = request("count").arg("to", 3);
        std::optional stream(co_await workers->stream(std::move(call)));
        co_await workers->shutdown();
        workers.reset();
        int count = 0;
        while (const auto piece = co_await stream->next()) {
            ++count;
        }
        BOOST_TEST(count == 3);
        stream.reset();
        const bool gone = co_await has_threads(before);
        BOOST_TEST(gone);
    });
}

/// The context of a pool goes first; calls run and wait, and a stream and a lease are open.
BOOST_AUTO_TEST_CASE(a_pool_its_streams_and_leases_may_outlive_the_context) {
    abandoned_pool host(python_pool("integration/workers/streams.py", 2));
    std::optional<reply_stream> opened;
    std::optional<lease> held;
    auto occupy = [&]() -> asio::awaitable<void> {
        auto call = request("count").arg("to", 1'000'000'000);
        opened = co_await host.workers->stream(std::move(call));
        held = co_await host.workers->checkout();
        const auto piece = co_await opened->next();
        BOOST_TEST(piece->as<int>() == 0);
    };
    asio::co_spawn(host.elsewhere, occupy(), [](const std::exception_ptr& problem) { BOOST_TEST(!problem); });
    BOOST_TEST(run_until(host.elsewhere, [&] { return held && *held; }));
    for (int i = 0; i < 3; ++i) {
        request call("cleanups");
        host.begin(host.workers->execute(std::move(call)));
    }
    request streamed("cleanups");
    host.begin(host.workers->stream(std::move(streamed)));
    host.begin(host.workers->ready(3));
    host.elsewhere.restart();
    host.elsewhere.run_for(50ms);
    BOOST_TEST(host.trace.use_count() == 6);

    host.context.reset();
    host.elsewhere.restart();
    host.elsewhere.poll();
    BOOST_TEST(host.trace.use_count() == 1);
    host.begin(opened->next());
    request late("cleanups");
    host.begin(host.workers->execute(std::move(late)));
    host.begin(host.workers->shutdown());
    host.elsewhere.restart();
    host.elsewhere.poll();
    BOOST_TEST(host.trace.use_count() == 1);
    BOOST_TEST(host.elsewhere.stopped());
    held.reset();
    opened->cancel();
    host.workers.reset();
}

BOOST_AUTO_TEST_CASE(a_context_destroyed_with_the_coroutines_that_use_its_pool_leaves_nothing) {
    const leak_audit audit;
    asio::io_context context;
    bool is_up = false;
    auto live = [&]() -> asio::awaitable<void> {
        pool workers(context, on_own_thread(basic_pool()));
        co_await workers.start();
        is_up = true;
        auto call = request("sleep").arg("seconds", 1000);
        co_await workers.execute(std::move(call));
    };
    asio::co_spawn(context, live, ignore_problem);
    BOOST_TEST(run_until(context, [&] { return is_up; }));
}

BOOST_AUTO_TEST_CASE(a_context_destroyed_during_a_start_leaves_no_thread) {
    const leak_audit audit;
    asio::io_context context;
    pool workers(context, on_own_thread(evil_pool("no_hello", 2)));
    asio::co_spawn(context, workers.start(), ignore_problem);
    context.run_for(100ms);
}

BOOST_AUTO_TEST_CASE(a_tool_may_destroy_the_context) {
    abandoned_pool host(python_pool("integration/workers/tools.py"));
    std::atomic<bool> is_gone = false;
    host.workers->register_tool("destroy", [&](tool_call) -> asio::awaitable<tool_reply> {
        host.context.reset();
        is_gone = true;
        co_return tool_reply();
    });
    auto call = asking_host("destroy");
    host.begin(host.workers->execute(std::move(call)));
    BOOST_TEST(run_until(host.elsewhere, [&] { return is_gone.load(); }));
    host.workers.reset();
    // The thread is not joined.
    BOOST_TEST(run_until(host.elsewhere, [&] { return threads() == host.threads_before; }));
    BOOST_TEST(host.trace.use_count() == 1);
}

BOOST_AUTO_TEST_CASE(managed_pools_have_a_thread_each) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        const auto before = threads();
        manager_config config;
        config.pools = {on_own_thread(basic_pool()), on_own_thread(basic_pool())};
        config.pools[0].name = "one";
        config.pools[1].name = "two";
        for (const bool shuts_down : {true, false}) {
            std::optional<pool_manager> manager(std::in_place, context, config);
            BOOST_TEST(threads() == before + 2);
            auto starting = manager->start();
            co_await std::move(starting);
            for (const auto* const name : {"one", "two"}) {
                auto asking = manager->execute(request("echo").arg("value", 1).pool(name));
                const auto answer = co_await std::move(asking);
                BOOST_TEST(answer.worker.pool == name);
            }
            if (shuts_down) {
                auto ending = manager->shutdown();
                const auto report = co_await std::move(ending);
                BOOST_TEST(report.clean());
            }
            manager.reset();
            const bool gone = co_await has_threads(before);
            BOOST_TEST(gone);
        }
    });
}

/// Each pool's tool waits for the other pool as the context ends.
BOOST_AUTO_TEST_CASE(pools_that_wait_for_each_other_end_with_their_context) {
    const leak_audit audit;
    std::optional<asio::io_context> context(std::in_place);
    auto config = on_own_thread(python_pool("integration/workers/tools.py", 2));
    pool one(*context, config);
    pool two(*context, config);
    std::atomic<int> waiting = 0;
    const auto call_other = [](pool& other) {
        return [&other](tool_call) -> asio::awaitable<tool_reply> {
            auto call = asking_host("never");
            auto answer = co_await other.execute(std::move(call));
            co_return tool_reply(std::move(answer.value));
        };
    };
    const auto never = [&](tool_call asked) {
        ++waiting;
        return wait_for_ever(std::move(asked));
    };
    one.register_tool("other", call_other(two));
    two.register_tool("other", call_other(one));
    one.register_tool("never", never);
    two.register_tool("never", never);
    auto live = [&](pool& first) -> asio::awaitable<void> {
        co_await first.start();
        auto call = asking_host("other");
        co_await first.execute(std::move(call));
    };
    asio::co_spawn(*context, live(one), ignore_problem);
    asio::co_spawn(*context, live(two), ignore_problem);
    BOOST_TEST(run_until(*context, [&] { return waiting == 2; }));
    context.reset();
}

/// In a copy every operation fails at once, and destructors return, whether the pool was started or not.
BOOST_AUTO_TEST_CASE(a_forked_copy_leaves_the_pool_alone) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        auto config = on_own_thread(python_pool("integration/workers/streams.py", 2));
        std::optional<pool> workers(std::in_place, context, config);
        std::optional<reply_stream> opened;
        std::optional<lease> held;
        const auto copy = [&] {
            return in_a_child([&] {
                asio::io_context other;
                int refusals = 0;
                asio::co_spawn(other, count_refusals(*workers, refusals), ignore_problem);
                other.run_for(20s);
                opened.reset();
                held.reset();
                workers.reset();
                return refusals;
            });
        };
        BOOST_TEST(copy() == 7);
        co_await workers->start();
        auto call = request("count").arg("to", 1'000'000'000);
        opened = co_await workers->stream(std::move(call));
        held = co_await workers->checkout();
        BOOST_TEST(copy() == 7);
        const auto piece = co_await opened->next();
        BOOST_TEST(piece->as<int>() == 0);
        opened->cancel();
        co_await held->close();
        co_await workers->shutdown();
    });
}

BOOST_AUTO_TEST_CASE(a_copy_may_destroy_the_context) {
    const leak_audit audit;
    abandoned_pool host(basic_pool());
    const int code = in_a_child([&] {
        host.context.reset();
        host.workers.reset();
        return 0;
    });
    BOOST_TEST(code == 0);
    bool has_answered = false;
    auto look = [&]() -> asio::awaitable<void> {
        co_await host.workers->status();
        has_answered = true;
    };
    asio::co_spawn(host.elsewhere, look(), ignore_problem);
    BOOST_TEST(run_until(host.elsewhere, [&] { return has_answered; }));
    host.workers.reset();
}

BOOST_AUTO_TEST_CASE(descriptors_of_the_thread_are_counted) {
    BOOST_TEST(descriptors_needed(on_own_thread(basic_pool())) == descriptors_needed(basic_pool()) + 3);
    asio::io_context context;
    const auto before = descriptors().size();
    const pool workers(context, on_own_thread(basic_pool()));
    BOOST_TEST(descriptors().size() == before + 3);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
