// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Cancelled, overdue, frozen and killed workers, and what they have started.

#include "support/log_capture.hpp"
#include "support/run.hpp"

#include <csignal>

namespace skep::test {

namespace {

asio::awaitable<bool> is_running(pool& workers) {
    auto running = [&workers]() -> asio::awaitable<bool> {
        const auto status = co_await workers.status();
        co_return status.in_flight == 1;
    };
    const bool busy = co_await eventually(running);
    co_return busy;
}

asio::awaitable<bool> is_replaced(pool& workers, pid_t old) {
    auto replaced = [&workers, old]() -> asio::awaitable<bool> {
        const auto status = co_await workers.status();
        const bool is_new = status.workers.size() == 1 && status.workers[0].pid != old &&
                            status.workers[0].state == worker_state::ready;
        co_return is_new;
    };
    const bool is = co_await eventually(replaced);
    co_return is;
}

pool_config with_fast_heartbeat(pool_config config) {
    config.heartbeat.interval = 50ms;
    config.heartbeat.timeout = 250ms;
    config.heartbeat.misses = 2;
    return config;
}

} // namespace

BOOST_AUTO_TEST_SUITE(recovery)

BOOST_AUTO_TEST_CASE(cancelling_interrupts_the_python_code_and_keeps_the_worker) {
    const scratch_folder folder;
    const auto marker = folder / "interrupted";
    run([&](asio::io_context& context) -> asio::awaitable<void> {
        pool workers(context.get_executor(), python_pool("integration/workers/probe.py"));
        co_await workers.start();
        const auto before = co_await pid_of(workers);
        request what = request("sleep_until_cancelled").arg("marker", json::string(marker));
        const auto call = begin_call(context, workers, std::move(what));
        const bool running = co_await is_running(workers);
        BOOST_TEST(running);
        auto sleeps = [&] { return std::filesystem::exists(marker + ".sleeps"); };
        const bool asleep = co_await eventually(sleeps);
        BOOST_TEST(asleep);
        const auto began = std::chrono::steady_clock::now();
        call->cancel.emit(asio::cancellation_type::terminal);
        const bool ended = co_await is_ended(call);
        BOOST_TEST(ended);
        BOOST_REQUIRE(call->problem);
        BOOST_TEST(call->problem->code() == errc::cancelled);
        BOOST_TEST((std::chrono::steady_clock::now() - began < 500ms), "the caller had to wait");
        const auto after = co_await pid_of(workers); // queued until the worker is free
        BOOST_TEST(after == before);
        BOOST_TEST(std::filesystem::exists(marker), "the Python code saw no skep.Cancelled");
        const auto status = co_await workers.status();
        BOOST_TEST(status.counters.cancelled == 1u);
        BOOST_TEST(status.counters.late_answers == 1u);
        BOOST_TEST(status.counters.workers_lost == 0u);
        const auto report = co_await workers.shutdown();
        BOOST_TEST(report.clean());
    });
}

BOOST_AUTO_TEST_CASE(cancelling_again_and_again_never_hits_another_call) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        pool workers(context.get_executor(), basic_pool());
        co_await workers.start();
        const auto before = co_await pid_of(workers);
        for (int i = 0; i < 50; ++i) {
            request what = request("sleep").arg("seconds", 1000);
            const auto call = begin_call(context, workers, std::move(what));
            co_await pause(std::chrono::microseconds(i * 200));
            call->cancel.emit(asio::cancellation_type::terminal);
            request next = request("echo").arg("value", i);
            const auto answer = co_await value_of(workers, std::move(next));
            BOOST_TEST(answer == i);
            BOOST_TEST(call->is_done());
        }
        const auto after = co_await pid_of(workers);
        BOOST_TEST(after == before);
        const auto report = co_await workers.shutdown();
        BOOST_TEST(report.clean());
    });
}

BOOST_AUTO_TEST_CASE(a_timeout_interrupts_like_a_cancel) {
    with_pool(basic_pool(), [](pool& workers) -> asio::awaitable<void> {
        const auto before = co_await pid_of(workers);
        request call = request("sleep").arg("seconds", 1000).timeout(100ms);
        const auto began = std::chrono::steady_clock::now();
        auto overdue = workers.execute(std::move(call));
        const auto e = co_await failure_of(std::move(overdue));
        BOOST_TEST(e.code() == errc::timeout);
        BOOST_TEST((std::chrono::steady_clock::now() - began >= 100ms));
        BOOST_TEST((std::chrono::steady_clock::now() - began < patience));
        const auto after = co_await pid_of(workers);
        BOOST_TEST(after == before);
    });
}

BOOST_AUTO_TEST_CASE(a_worker_that_holds_the_interpreter_lock_is_replaced_after_a_timeout) {
    with_pool(quick(basic_pool()), [](pool& workers) -> asio::awaitable<void> {
        const auto before = co_await pid_of(workers);
        request call = request("hold_gil").timeout(100ms);
        auto overdue = workers.execute(std::move(call));
        const auto e = co_await failure_of(std::move(overdue));
        BOOST_TEST(e.code() == errc::timeout);
        const auto after = co_await pid_of(workers);
        BOOST_TEST(after != before);
        const bool gone = co_await is_gone(before);
        BOOST_TEST(gone);
    });
}

/// A forked worker may be up before the end of the process before it is known. Then it is told nothing.
BOOST_AUTO_TEST_CASE(the_next_worker_knows_how_the_one_before_it_ended) {
    auto config = quick(basic_pool());
    config.restart.limit = 1000;
    with_pool(config, [&](pool& workers) -> asio::awaitable<void> {
        request first = request("heritage");
        const auto at_first = co_await value_of(workers, std::move(first));
        BOOST_TEST((at_first == json::array{"default/0", nullptr}), at_first);
        const json::array untold{"default/0", nullptr};
        json::value later = untold;
        const auto began = std::chrono::steady_clock::now();
        do {
            request crash = request("die").arg("number", SIGSEGV);
            auto crashing = workers.execute(std::move(crash));
            const auto e = co_await failure_of(std::move(crashing));
            BOOST_TEST(e.code() == errc::worker_lost);
            request next = request("heritage");
            later = co_await value_of(workers, std::move(next));
        } while (config.launch.preload && later == untold &&
                 std::chrono::steady_clock::now() - began < patience);
        BOOST_TEST((later == json::array{"default/0", "segfault"}), later);
    });
}

BOOST_AUTO_TEST_CASE(a_stopped_worker_is_found_by_its_heartbeat) {
    with_pool(with_fast_heartbeat(quick(basic_pool())), [](pool& workers) -> asio::awaitable<void> {
        const auto before = co_await pid_of(workers);
        ::kill(before, SIGSTOP);
        const bool replaced = co_await is_replaced(workers, before);
        BOOST_TEST(replaced);
        const bool gone = co_await is_gone(before);
        BOOST_TEST(gone, "the frozen process is still there");
        const auto status = co_await workers.status();
        BOOST_TEST(status.counters.missed_pings >= 2u);
        BOOST_TEST(status.counters.workers_lost == 1u);
        BOOST_TEST(contains(status.workers[0].last_failure, "no answer to 2 pings"));
    });
}

BOOST_AUTO_TEST_CASE(a_call_on_a_stopped_worker_is_lost_or_moves_on) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        pool workers(context.get_executor(), with_fast_heartbeat(quick(basic_pool())));
        co_await workers.start();
        for (const bool idempotent : {false, true}) {
            const auto before = co_await pid_of(workers);
            request what = request("sleep").arg("seconds", 1).idempotent(idempotent);
            const auto call = begin_call(context, workers, std::move(what));
            const bool running = co_await is_running(workers);
            BOOST_TEST(running);
            ::kill(before, SIGSTOP);
            const bool ended = co_await is_ended(call);
            BOOST_TEST(ended);
            BOOST_TEST(call->answer.has_value() == idempotent);
            if (call->problem) {
                BOOST_TEST(call->problem->code() == errc::worker_lost);
                BOOST_TEST(contains(call->problem->what(), "no answer to 2 pings"), call->problem->what());
            }
        }
        const auto report = co_await workers.shutdown();
        BOOST_TEST(report.clean());
    });
}

BOOST_AUTO_TEST_CASE(a_worker_busy_in_python_code_is_not_taken_for_dead) {
    auto config = with_fast_heartbeat(quick(basic_pool()));
    config.heartbeat.timeout = 1s;
    with_pool(config, [](pool& workers) -> asio::awaitable<void> {
        const auto before = co_await pid_of(workers);
        request call = request("spin").arg("seconds", 3);
        const auto answer = co_await value_of(workers, std::move(call));
        BOOST_TEST(answer == 3);
        const auto after = co_await pid_of(workers);
        BOOST_TEST(after == before);
    });
}

BOOST_AUTO_TEST_CASE(a_worker_killed_while_idle_is_replaced) {
    with_pool(quick(basic_pool()), [](pool& workers) -> asio::awaitable<void> {
        const auto before = co_await pid_of(workers);
        ::kill(before, SIGKILL);
        request call = request("pid").idempotent(true);
        const auto answer = co_await value_of(workers, std::move(call)); // whoever noticed first
        BOOST_TEST(answer.to_number<pid_t>() != before);
        const auto status = co_await workers.status();
        BOOST_TEST(status.counters.workers_lost == 1u);
        BOOST_TEST(status.counters.workers_started == 2u);
        BOOST_TEST(status.workers[0].id.generation == 2u);
    });
}

BOOST_AUTO_TEST_CASE(a_call_on_a_killed_worker_is_lost_unless_idempotent) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        pool workers(context.get_executor(), quick(basic_pool()));
        co_await workers.start();

        const auto first = co_await pid_of(workers);
        request strict = request("sleep").arg("seconds", 1000);
        const auto lost = begin_call(context, workers, std::move(strict));
        const bool running = co_await is_running(workers);
        BOOST_TEST(running);
        ::kill(first, SIGKILL);
        const bool lost_ended = co_await is_ended(lost);
        BOOST_TEST(lost_ended);
        BOOST_REQUIRE(lost->problem);
        BOOST_TEST(lost->problem->code() == errc::worker_lost);
        BOOST_TEST(lost->problem->info().status.signal() == SIGKILL);
        BOOST_TEST(lost->problem->info().pid == first);
        BOOST_TEST(lost->problem->info().attempts == 1);
        BOOST_TEST(contains(lost->problem->what(), "signal 9"));
        BOOST_TEST(contains(lost->problem->what(), "likely cause"));

        const auto second = co_await pid_of(workers);
        request again = request("sleep").arg("seconds", 0.5).idempotent(true);
        const auto moved = begin_call(context, workers, std::move(again));
        const bool running_again = co_await is_running(workers);
        BOOST_TEST(running_again);
        ::kill(second, SIGKILL);
        const bool moved_ended = co_await is_ended(moved);
        BOOST_TEST(moved_ended);
        BOOST_REQUIRE(moved->answer);
        BOOST_TEST(moved->answer->attempts == 2);
        BOOST_TEST(moved->answer->worker.generation == 3u);

        const auto report = co_await workers.shutdown();
        BOOST_TEST(report.clean());
    });
}

BOOST_AUTO_TEST_CASE(an_idempotent_call_that_kills_every_worker_is_given_up) {
    auto config = quick(basic_pool());
    config.retry.attempts = 3;
    with_pool(config, [](pool& workers) -> asio::awaitable<void> {
        request call = request("die").idempotent(true);
        auto deadly = workers.execute(std::move(call));
        const auto e = co_await failure_of(std::move(deadly));
        BOOST_TEST(e.code() == errc::worker_lost);
        BOOST_TEST(e.info().attempts == 3);
        const bool healed = co_await is_healed(workers);
        BOOST_TEST(healed);
        const auto status = co_await workers.status();
        BOOST_TEST(status.counters.workers_lost == 3u);
    });
}

BOOST_AUTO_TEST_CASE(what_a_worker_has_started_dies_with_it) {
    with_pool(quick(basic_pool()), [](pool& workers) -> asio::awaitable<void> {
        request call("grandchild");
        const auto child = co_await value_of(workers, std::move(call));
        const auto grandchild = child.to_number<pid_t>();
        BOOST_TEST(is_alive(grandchild));
        const auto worker = co_await pid_of(workers);
        ::kill(worker, SIGKILL);
        const bool gone = co_await is_gone(grandchild);
        BOOST_TEST(gone);
        const bool replaced = co_await is_replaced(workers, worker);
        BOOST_TEST(replaced);
    });
}

BOOST_AUTO_TEST_CASE(what_a_worker_has_started_dies_at_shutdown) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        pool workers(context.get_executor(), basic_pool());
        co_await workers.start();
        request call("grandchild");
        const auto child = co_await value_of(workers, std::move(call));
        const auto grandchild = child.to_number<pid_t>();
        BOOST_TEST(is_alive(grandchild));
        const auto report = co_await workers.shutdown();
        BOOST_REQUIRE_EQUAL(report.workers.size(), 1u);
        BOOST_TEST(report.workers[0].stage() == stop_stage::ask);
        BOOST_TEST(report.workers[0].state == worker_state::stopped);
        BOOST_TEST((report.took < patience), "whoever holds the output pipes must not hold up the shutdown");
        const bool gone = co_await is_gone(grandchild);
        BOOST_TEST(gone);
    });
}

BOOST_AUTO_TEST_CASE(a_crash_says_in_which_function) {
    const scratch_folder folder;
    const auto script = write_file(folder / "worker_with_a_long_name_that_fills_the_stack.py", R"(
import ctypes, sys, threading, time
import skep

worker = skep.Worker()

@worker.command
def work(depth):
    for each in ("first", "second"):
        threading.Thread(target=time.sleep, args=(600,), name=each, daemon=True).start()
    print("noise\n" * 2000, file=sys.stderr, flush=True)
    descend(depth)

def descend(depth):
    descend(depth - 1) if depth > 0 else read_nothing()

def read_nothing():
    ctypes.string_at(0)

if __name__ == "__main__":
    worker.run()
)");
    auto config = python_pool("");
    config.launch.args = {"-X", "faulthandler", script};
    config.log_level = log_level::warning;
    config.log_handler = capturing_handler();
    const log_capture log;
    with_pool(quick(config), [&](pool& workers) -> asio::awaitable<void> {
        auto ends = workers.events().subscribe<events::worker_terminated>();
        request crashing = request("work").arg("depth", 80).correlation_id("c-1");
        auto calling = workers.execute(std::move(crashing));
        const auto e = co_await failure_of(std::move(calling));
        BOOST_TEST(e.kind() == errc::worker_lost);
        auto ending = ends.next();
        const auto end = co_await std::move(ending);
        BOOST_REQUIRE(end);
        for (const auto& text : {e.info().output_tail, end->output_tail}) {
            BOOST_TEST(text.size() > 4096u);
            BOOST_TEST(text.size() < 18'000u, text.size());
            BOOST_TEST(contains(text, "\nFatal Python error: Segmentation fault\n"), text);
            BOOST_TEST(contains(text, "in read_nothing\n"), text);
            BOOST_TEST(contains(text, "in descend\n"), text);
            BOOST_TEST(contains(text, "in work\n"), text);
        }
        BOOST_TEST(contains(e.what(), "in read_nothing"), e.what());
        BOOST_REQUIRE_EQUAL(end->unanswered.named.size(), 1u);
        BOOST_TEST(end->unanswered.named[0].command == "work");
        BOOST_TEST(end->unanswered.named[0].correlation_id == "c-1");
        const bool healed = co_await is_healed(workers);
        BOOST_TEST(healed);
    });
    BOOST_TEST(log.count("its process ended; its calls: 'work' [c-1]\\nFatal Python error: ") == 1,
               log.text());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
