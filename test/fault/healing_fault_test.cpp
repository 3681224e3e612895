// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Real workers that get ill, and how soon the pool is well again.

#include "support/run.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>

namespace skep::test {

namespace {

pool_config frail_pool(std::size_t workers = 1) {
    return quick(python_pool("integration/workers/frail.py", workers));
}

void write(const std::string& file, const std::string& text) {
    std::ofstream(file) << text;
}

/// Waits until the worker of slot 0 is ready and of that generation or a later one.
asio::awaitable<bool> is_replaced(pool& workers, std::uint64_t generation = 2) {
    auto fresh = [&]() -> asio::awaitable<bool> {
        const auto status = co_await workers.status();
        const auto& first = status.workers.at(0);
        const bool is_fresh = first.id.generation >= generation && first.state == worker_state::ready;
        co_return is_fresh;
    };
    const bool replaced = co_await eventually(fresh);
    co_return replaced;
}

/// Prints how long it took since `began`.
void report(const std::string& what, std::chrono::steady_clock::time_point began) {
    const auto took = std::chrono::steady_clock::now() - began;
    BOOST_TEST_MESSAGE(what << ": " << took / 1ms << " ms");
    BOOST_TEST((took < patience), what);
}

pool_config alert(pool_config config) {
    config.heartbeat.interval = 100ms;
    config.heartbeat.timeout = 300ms;
    return config;
}

/// How long the test of recycling under load takes; more by hand: SKEP_TEST_SECONDS=60.
int load_seconds() {
    const char* const given = std::getenv("SKEP_TEST_SECONDS");
    return given != nullptr ? std::atoi(given) : 4;
}

} // namespace

BOOST_AUTO_TEST_SUITE(healing)

BOOST_DATA_TEST_CASE(a_frozen_worker_is_replaced, boost::unit_test::data::make({"idle", "busy"}), when) {
    const bool busy = std::string(when) == "busy";
    run([&](asio::io_context& context) -> asio::awaitable<void> {
        pool workers(context.get_executor(), alert(frail_pool()));
        co_await workers.start();
        const auto pid = co_await pid_of(workers);
        std::shared_ptr<background_call> call;
        if (busy) {
            call = begin_call(context, workers, request("spin"));
            co_await pause(100ms);
        }
        const auto began = std::chrono::steady_clock::now();
        ::kill(pid, SIGSTOP);
        const bool replaced = co_await is_replaced(workers);
        BOOST_TEST(replaced);
        report(std::string("frozen while ") + when, began);
        auto has_ended = [&] { return !busy || call->is_done(); };
        const bool ended = co_await eventually(has_ended);
        BOOST_TEST(ended);
        BOOST_TEST((!busy || call->problem->code() == errc::worker_lost));
        auto is_gone = [pid] { return !is_alive(pid); };
        const bool gone = co_await eventually(is_gone);
        BOOST_TEST(gone);
        const auto report = co_await workers.shutdown();
        BOOST_TEST(report.clean());
    });
}

BOOST_AUTO_TEST_CASE(one_that_freezes_while_it_starts_is_replaced) {
    const scratch_folder folder;
    auto config = unforked(frail_pool(2)); // while a template loads its script, other starts wait
    config.min_ready = 1;
    config.start.timeout = 3s;
    config.launch.environment = {{"STARTS", "frozen"}, {"ILLNESS", folder / "seen"}};
    config.health_check.enabled = false;
    const auto began = std::chrono::steady_clock::now();
    with_pool(config, [&](pool& workers) -> asio::awaitable<void> {
        const bool healed = co_await is_healed(workers, 2);
        BOOST_TEST(healed);
        report("frozen during start-up, with a start.timeout of 3 s", began);
    });
}

BOOST_AUTO_TEST_CASE(a_script_that_crashes_at_import_fails_start_with_its_traceback) {
    const scratch_folder folder;
    write(folder / "worker.py", "import json\nimport model_that_is_not_there\n");
    run([&](asio::io_context& context) -> asio::awaitable<void> {
        auto config = quick(pool_config::python(folder / "worker.py", SKEP_TEST_PYTHON));
        config.log_level = log_level::off;
        config.output.handler = [](const output_line&) {};
        pool workers(context.get_executor(), config);
        const auto began = std::chrono::steady_clock::now();
        auto starting = workers.start();
        const auto e = co_await failure_of(std::move(starting));
        BOOST_TEST(e.code() == errc::start_failed);
        BOOST_TEST(contains(e.what(), "ModuleNotFoundError"), e.what());
        BOOST_TEST(contains(e.what(), "line 2"), e.what());
        report("start() of a script that crashes at import", began);
    });
}

BOOST_AUTO_TEST_CASE(a_script_that_breaks_later_makes_the_pool_unavailable_until_it_is_mended) {
    const scratch_folder folder;
    const std::string good = "import skep\nworker = skep.Worker()\n"
                             "@worker.command\ndef echo(value):\n    return value\nworker.run()\n";
    write(folder / "worker.py", good);
    auto config = quick(pool_config::python(folder / "worker.py", SKEP_TEST_PYTHON));
    config.workers = 2;
    config.log_level = log_level::off;
    config.output.handler = [](const output_line&) {};
    config.restart.limit = 6;
    config.restart.open_time = 500ms;
    with_pool(config, [&](pool& workers) -> asio::awaitable<void> {
        write(folder / "worker.py", "raise RuntimeError('deployed by mistake')\n");
        for (const auto child : children()) {
            ::kill(child, SIGKILL);
        }
        std::string cause;
        auto is_unavailable = [&]() -> asio::awaitable<bool> {
            request call = request("echo").arg("value", 1);
            auto calling = workers.execute(std::move(call));
            const auto e = co_await failure_of(std::move(calling));
            cause = e.what();
            co_return e.code() == errc::unavailable;
        };
        const auto began = std::chrono::steady_clock::now();
        const bool unavailable = co_await eventually(is_unavailable);
        BOOST_TEST(unavailable);
        BOOST_TEST(contains(cause, "deployed by mistake"), cause);
        report("unavailable", began);
        co_await pause(1500ms); // trials go on, and fail
        const auto status = co_await workers.status();
        BOOST_TEST((status.breaker != circuit_state::closed));
        BOOST_TEST(status.counters.start_failures < 15u);

        write(folder / "worker.py", good);
        const auto mended = std::chrono::steady_clock::now();
        const bool healed = co_await is_healed(workers, 2);
        BOOST_TEST(healed);
        report("recovered after it was mended", mended);
        request call = request("echo").arg("value", 7);
        const auto value = co_await value_of(workers, std::move(call));
        BOOST_TEST(value == json::value(7));
    });
}

BOOST_AUTO_TEST_CASE(recycling_under_load_loses_nothing_and_idles_nobody) {
    constexpr std::size_t size = 3;
    auto config = frail_pool(size);
    config.recycle.calls = 20;
    config.recycle.jitter = 0;
    run([&](asio::io_context& context) -> asio::awaitable<void> {
        pool workers(context.get_executor(), config);
        co_await workers.start();
        std::vector<std::shared_ptr<background_call>> calls;
        std::size_t fewest = size;
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(load_seconds());
        while (std::chrono::steady_clock::now() < end) {
            calls.push_back(begin_call(context, workers, request("echo").arg("value", 1)));
            co_await pause(20ms);
            const auto status = co_await workers.status();
            std::size_t serving = 0;
            for (const auto& each : status.workers) {
                const bool up = each.state == worker_state::ready || each.state == worker_state::busy;
                serving += up && !each.retiring ? 1 : 0;
            }
            fewest = std::min(fewest, serving);
        }
        auto all_done = [&] {
            return std::all_of(calls.begin(), calls.end(), [](const auto& each) { return each->is_done(); });
        };
        const bool done = co_await eventually(all_done);
        BOOST_TEST(done);
        for (const auto& each : calls) {
            BOOST_TEST(each->answer.has_value(), (each->problem ? each->problem->what() : "no answer"));
        }
        BOOST_TEST(fewest >= size - 1);
        // How many that takes is up to the machine: those that are used up take calls until their successors
        // are up.
        auto all_are_fresh = [&workers]() -> asio::awaitable<bool> {
            const auto seen = co_await workers.status();
            co_return std::all_of(seen.workers.begin(), seen.workers.end(),
                                  [](const worker_status& each) { return each.completed < 20; });
        };
        const bool fresh = co_await eventually(all_are_fresh);
        BOOST_TEST(fresh);
        const auto status = co_await workers.status();
        BOOST_TEST(status.counters.workers_recycled > 0u);
        BOOST_TEST(status.counters.workers_lost == 0u);
        BOOST_TEST_MESSAGE(calls.size()
                           << " calls, " << status.counters.workers_recycled << " recycled, never fewer than "
                           << fewest << " of " << size << " ready");
        const auto report = co_await workers.shutdown();
        BOOST_TEST(report.clean());
    });
}

BOOST_AUTO_TEST_CASE(a_worker_that_leaks_is_recycled_by_its_own_memory) {
    auto config = frail_pool(2);
    config.recycle.soft_memory = 80u << 20;
    config.recycle.memory_interval = 50ms;
    const auto least = config.launch.preload ? 0u : 4u << 20; // the template's does not count
    with_pool(config, [&](pool& workers) -> asio::awaitable<void> {
        request small = request("grow").arg("mebibytes", 1);
        co_await value_of(workers, std::move(small));
        co_await pause(300ms);
        const auto before = co_await workers.status();
        BOOST_TEST(before.counters.workers_recycled == 0u);
        for (const auto& each : before.workers) {
            BOOST_TEST(each.resident_bytes > least);
            BOOST_TEST(each.resident_bytes < 80u << 20);
        }
        request big = request("grow").arg("mebibytes", 100);
        co_await value_of(workers, std::move(big));
        auto recycled = [&]() -> asio::awaitable<bool> {
            const auto status = co_await workers.status();
            co_return status.counters.workers_recycled == 1;
        };
        const bool done = co_await eventually(recycled);
        BOOST_TEST(done);
    });
}

BOOST_AUTO_TEST_CASE(a_call_that_drives_workers_beyond_both_limits_is_told_of_the_hard_one_and_refused) {
    auto config = frail_pool(2);
    config.recycle.soft_memory = 80u << 20;
    config.recycle.hard_memory = 160u << 20;
    config.recycle.memory_interval = 50ms;
    with_pool(config, [&](pool& workers) -> asio::awaitable<void> {
        const auto hoard = request("hoard").arg("first", 100).arg("then", 100);
        for (const auto code : {errc::worker_lost, errc::poisonous_request, errc::poisonous_request}) {
            request call = hoard;
            auto calling = workers.execute(std::move(call));
            const auto e = co_await failure_of(std::move(calling));
            const std::string text = e.what();
            BOOST_TEST(e.kind() == code, text);
            BOOST_TEST(!contains(text, "soft limit"), text);
            BOOST_TEST(!contains(text, "idempotent"), text);
            BOOST_TEST((code != errc::worker_lost || contains(text, "its hard limit is 167772160")), text);
        }
        auto both_are_replaced = [&]() -> asio::awaitable<bool> {
            const auto status = co_await workers.status();
            co_return status.counters.workers_replaced == 2;
        };
        const bool replaced = co_await eventually(both_are_replaced);
        BOOST_TEST(replaced);
        request other = request("echo").arg("value", 1);
        co_await value_of(workers, std::move(other));
    });
}

BOOST_AUTO_TEST_CASE(a_zombie_is_replaced_and_its_stacks_are_kept) {
    auto config = quick(basic_pool());
    for (const auto* command : {"hold_gil", "spin"}) {
        with_pool(config, [&](pool& workers) -> asio::awaitable<void> {
            request call = request(command).timeout(300ms);
            if (std::string(command) == "spin") {
                call.arg("seconds", 600);
            }
            auto calling = workers.execute(std::move(call));
            const auto e = co_await failure_of(std::move(calling));
            BOOST_TEST(e.code() == errc::timeout);
            if (std::string(command) == "spin") { // which the SDK can interrupt
                co_return;
            }
            const bool replaced = co_await is_replaced(workers);
            BOOST_TEST(replaced);
            auto has_stacks = [&]() -> asio::awaitable<bool> {
                const auto status = co_await workers.status();
                co_return status.last_failure && !status.last_failure->stacks.empty();
            };
            const bool kept = co_await eventually(has_stacks);
            BOOST_TEST(kept);
            const auto status = co_await workers.status();
            BOOST_TEST(contains(status.last_failure->stacks, "in hold_gil"), status.last_failure->stacks);
        });
    }
}

BOOST_AUTO_TEST_CASE(an_input_that_segfaults_is_refused_as_poison) {
    with_pool(frail_pool(2), [&](pool& workers) -> asio::awaitable<void> {
        for (int i = 0; i < 2; ++i) {
            request call = request("crash").arg("value", "bad").idempotent(true);
            auto calling = workers.execute(std::move(call));
            const auto e = co_await failure_of(std::move(calling));
            BOOST_TEST(e.code() == errc::poisonous_request, e.what());
        }
        const bool healed = co_await is_healed(workers, 2);
        BOOST_TEST(healed);
        const auto status = co_await workers.status();
        BOOST_TEST(status.counters.crashes == 2u);
        BOOST_TEST(status.counters.poisonous == 2u);
    });
}

BOOST_AUTO_TEST_CASE(a_failing_health_check_replaces_and_a_passing_one_restores) {
    const scratch_folder folder;
    auto config = frail_pool();
    config.launch.environment = {{"ILLNESS", folder / "ill"}};
    config.health_check.interval = 50ms;
    config.health_check.retry_interval = 100ms;
    with_pool(config, [&](pool& workers) -> asio::awaitable<void> {
        auto is_in = [&](worker_state state) {
            return [&workers, state]() -> asio::awaitable<bool> {
                const auto status = co_await workers.status();
                co_return status.workers.at(0).state == state;
            };
        };
        write(folder / "ill", "");
        const bool degraded = co_await eventually(is_in(worker_state::degraded));
        BOOST_TEST(degraded);
        std::filesystem::remove(folder / "ill");
        const bool restored = co_await eventually(is_in(worker_state::ready));
        BOOST_TEST(restored);
        write(folder / "ill", "");
        const bool replaced = co_await is_replaced(workers);
        BOOST_TEST(replaced);
        auto is_told = [&]() -> asio::awaitable<bool> {
            const auto status = co_await workers.status();
            co_return contains(status.workers.at(0).last_failure, "unhealthy_worker_terminated");
        };
        const bool told = co_await eventually(is_told);
        BOOST_TEST(told);
        const auto status = co_await workers.status();
        BOOST_TEST(status.counters.unhealthy_workers_terminated >= 1u);
        std::filesystem::remove(folder / "ill");
        const bool healed = co_await is_healed(workers);
        BOOST_TEST(healed);
    });
}

BOOST_AUTO_TEST_CASE(a_user_may_probe_and_ping_a_worker_and_learn_how_it_ended) {
    with_pool(frail_pool(), [](pool& workers) -> asio::awaitable<void> {
        const auto before = co_await workers.status();
        const auto id = before.workers.at(0).id;
        auto probing = workers.probe(id);
        const probe_result found = co_await std::move(probing);
        BOOST_TEST(found.passed, found.complaint);
        BOOST_TEST(found.value == true);
        auto probing_all = workers.probe();
        const std::vector<probe_result> of_all = co_await std::move(probing_all);
        BOOST_TEST(of_all.size() == 1u);
        auto pinging = workers.ping(id);
        const duration round_trip = co_await std::move(pinging);
        BOOST_TEST((round_trip > 0ns));
        kill(before.workers.at(0).pid, SIGKILL);
        auto waiting = workers.ended(id);
        const worker_exit end = co_await std::move(waiting);
        BOOST_TEST(end.status.signal() == SIGKILL);
        BOOST_TEST(end.pid == before.workers.at(0).pid);
        const bool healed = co_await is_healed(workers);
        BOOST_TEST(healed);
    });
}

BOOST_AUTO_TEST_CASE(a_zombie_is_found_under_steady_load) {
    const scratch_folder folder;
    auto config = frail_pool();
    config.launch.environment = {{"ILLNESS", folder / "ill"}};
    config.health_check.interval = 200ms;
    config.health_check.retry_interval = 50ms;
    config.queue.timeout = patience;
    with_pool(config, [&](pool& workers) -> asio::awaitable<void> {
        write(folder / "ill", "");
        int failed = 0;
        auto is_terminated = [&]() -> asio::awaitable<bool> {
            for (int i = 0; i < 10; ++i) {
                request call = request("stumble").arg("value", i).queue_timeout(patience);
                try {
                    co_await value_of(workers, std::move(call));
                } catch (const error&) {
                    ++failed;
                }
            }
            const auto status = co_await workers.status();
            co_return status.counters.unhealthy_workers_terminated > 0;
        };
        const bool terminated = co_await eventually(is_terminated);
        BOOST_TEST(terminated);
        BOOST_TEST(failed > 0);
        std::filesystem::remove(folder / "ill");
        const bool healed = co_await is_healed(workers);
        BOOST_TEST(healed);
    });
}

BOOST_AUTO_TEST_CASE(suspension_keeps_the_process_and_its_memory) {
    with_pool(frail_pool(), [&](pool& workers) -> asio::awaitable<void> {
        const auto pid = co_await pid_of(workers);
        request grow = request("grow").arg("mebibytes", 1);
        co_await value_of(workers, std::move(grow));
        co_await workers.suspend();
        const auto status = co_await workers.status();
        BOOST_TEST((status.workers.at(0).state == worker_state::suspended));
        co_await workers.resume();
        request again = request("grow").arg("mebibytes", 1);
        const auto count = co_await value_of(workers, std::move(again));
        BOOST_TEST(count == json::value(2));
        const auto same = co_await pid_of(workers);
        BOOST_TEST(same == pid);
    });
}

BOOST_AUTO_TEST_CASE(a_rolling_restart_under_load) {
    run([&](asio::io_context& context) -> asio::awaitable<void> {
        pool workers(context.get_executor(), frail_pool(3));
        co_await workers.start();
        std::vector<std::shared_ptr<background_call>> calls;
        for (int i = 0; i < 200; ++i) {
            calls.push_back(begin_call(context, workers, request("echo").arg("value", i)));
        }
        co_await workers.rolling_restart();
        auto all_answered = [&] {
            return std::all_of(calls.begin(), calls.end(),
                               [](const auto& each) { return each->answer.has_value(); });
        };
        const bool done = co_await eventually(all_answered);
        BOOST_TEST(done);
        const auto status = co_await workers.status();
        BOOST_TEST(status.counters.workers_recycled == 3u);
        BOOST_TEST(status.workers.size() == 3u);
        const auto report = co_await workers.shutdown();
        BOOST_TEST(report.clean());
    });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
