// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Workers that resist being stopped, and those that end before they are: which stages it went through, and
// the verdict.

#include "support/run.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>

#include <algorithm>
#include <csignal>

namespace skep::test {

namespace {

namespace data = boost::unit_test::data;

struct stop_fault {
    const char* name;
    std::vector<stop_stage> stages;
    worker_state state;
    exit_status status;
};

std::ostream& operator<<(std::ostream& out, const stop_fault& fault) {
    return out << (*fault.name != '\0' ? fault.name : "none");
}

const std::vector<stop_fault> stop_faults{
    {"", {stop_stage::ask}, worker_state::stopped, exit_status::exited(0)},
    {"slow_stop", {stop_stage::ask}, worker_state::stopped, exit_status::exited(0)},
    {"ignore_shutdown",
     {stop_stage::ask, stop_stage::terminate},
     worker_state::stopped,
     exit_status::exited(0)},
    {"exit5_on_term", {stop_stage::ask, stop_stage::terminate}, worker_state::failed, exit_status::exited(5)},
    {"ignore_term",
     {stop_stage::ask, stop_stage::terminate, stop_stage::kill},
     worker_state::killed,
     exit_status::signalled(SIGKILL)},
};

pool_config short_stop_sequence(pool_config config, duration shutdown_grace) {
    config.stop.shutdown_grace = shutdown_grace;
    config.stop.term_grace = 150ms;
    return config;
}

void stop(const stop_fault& fault) {
    const bool complies = fault.stages.size() == 1;
    auto config = short_stop_sequence(evil_pool(fault.name), complies ? patience : 100ms);
    config.launch.args.push_back("--delay=0.1");
    if (fault.state == worker_state::stopped || fault.state == worker_state::failed) {
        config.stop.term_grace = patience;
    }
    run([&](asio::io_context& context) -> asio::awaitable<void> {
        pool workers(context.get_executor(), config);
        co_await workers.start();
        const auto report = co_await workers.shutdown();
        BOOST_REQUIRE_EQUAL(report.workers.size(), 1u);
        const auto& exit = report.workers.front();
        BOOST_TEST(exit.state == fault.state);
        BOOST_TEST((exit.status == fault.status), to_string(exit.status));
        std::vector<stop_stage> stages;
        for (const auto& each : exit.stages) {
            stages.push_back(each.stage);
        }
        BOOST_TEST((stages == fault.stages));
        BOOST_TEST(exit.stage() == fault.stages.back());
        if (exit.stages.size() > 1) {
            BOOST_TEST((exit.stages[1].after >= config.stop.shutdown_grace));
        }
        if (exit.stages.size() > 2) {
            BOOST_TEST((exit.stages[2].after >= config.stop.shutdown_grace + config.stop.term_grace));
        }
        BOOST_TEST(report.clean());
        BOOST_TEST(
            (report.took < config.stop.shutdown_grace + config.stop.term_grace + config.stop.reap_timeout));
        BOOST_TEST(!is_alive(exit.pid));
    });
}

/// Shuts a pool of two down while one of them drains a call, ends the other meanwhile with `finish(pid)`, and
/// returns how that one ended. `prepare(pool)` says which one it is.
template <class Prepare, class Finish>
worker_exit end_during_drain(pool_config config, Prepare prepare, Finish finish) {
    config.stop.drain_timeout = patience; // as long as that call may take
    config.schedule = scheduling::fifo;   // it goes to the other worker
    worker_exit result;
    run([&](asio::io_context& context) -> asio::awaitable<void> {
        pool workers(context.get_executor(), config);
        co_await workers.start();
        const worker_id chosen = co_await prepare(workers);
        request what = request("sleep").arg("seconds", 1.5);
        const auto drained = begin_call(context, workers, std::move(what));
        std::optional<shutdown_report> report;
        asio::co_spawn(context, workers.shutdown(),
                       [&report](std::exception_ptr, shutdown_report done) { report = std::move(done); });
        pid_t pid = 0;
        auto is_stopping = [&]() -> asio::awaitable<bool> {
            const auto status = co_await workers.status();
            for (const auto& each : status.workers) {
                pid = each.id == chosen ? each.pid : pid;
            }
            const bool draining = status.phase == pool_phase::stopping && status.in_flight == 1;
            co_return draining;
        };
        const bool stopping = co_await eventually(is_stopping);
        BOOST_TEST(stopping);
        finish(pid);
        auto is_reported = [&report] { return report.has_value(); };
        const bool reported = co_await eventually(is_reported);
        BOOST_REQUIRE(reported);
        BOOST_TEST(drained->answer.has_value());
        BOOST_TEST(report->workers.size() == 2u);
        const auto found = std::find_if(report->workers.begin(), report->workers.end(),
                                        [&](const worker_exit& exit) { return exit.id == chosen; });
        BOOST_REQUIRE((found != report->workers.end()));
        result = *found;
    });
    return result;
}

/// How a worker ends that leaves with `status` though nobody asked it to.
worker_exit leave_with(int status) {
    auto prepare = [status](pool& workers) -> asio::awaitable<worker_id> {
        request call = request("leave_later").arg("seconds", 0.5).arg("status", status);
        const auto answer = co_await workers.execute(std::move(call));
        co_return answer.worker;
    };
    auto nothing = [](pid_t) {};
    return end_during_drain(python_pool("integration/workers/probe.py", 2), prepare, nothing);
}

/// How a worker ends that gets a signal from somebody else.
worker_exit signal_with(int number) {
    auto prepare = [](pool& workers) -> asio::awaitable<worker_id> {
        request call("pid");
        const auto answer = co_await workers.execute(std::move(call));
        co_return answer.worker;
    };
    auto send = [number](pid_t pid) { ::kill(pid, number); };
    return end_during_drain(evil_pool("", 2), prepare, send);
}

} // namespace

BOOST_AUTO_TEST_SUITE(stop_fault_suite)

BOOST_DATA_TEST_CASE(goes_through_the_stages_it_needs, data::make(stop_faults), fault) {
    stop(fault);
}

BOOST_AUTO_TEST_CASE(a_worker_that_leaves_with_0_is_finished) {
    const auto exit = leave_with(0);
    BOOST_TEST(exit.state == worker_state::finished);
    BOOST_TEST(exit.stage() == stop_stage::none);
    BOOST_TEST(exit.status.success());
}

BOOST_AUTO_TEST_CASE(a_worker_that_leaves_with_3_has_failed) {
    const auto exit = leave_with(3);
    BOOST_TEST(exit.state == worker_state::failed);
    BOOST_TEST(exit.stage() == stop_stage::none);
    BOOST_TEST(exit.status.code() == 3);
}

BOOST_AUTO_TEST_CASE(a_worker_that_crashes_has_failed) {
    const auto exit = signal_with(SIGSEGV);
    BOOST_TEST(exit.state == worker_state::failed);
    BOOST_TEST(exit.stage() == stop_stage::none);
    BOOST_TEST(exit.status.signal() == SIGSEGV);
}

BOOST_AUTO_TEST_CASE(a_worker_killed_by_others_has_failed) {
    const auto exit = signal_with(SIGKILL);
    BOOST_TEST(exit.state == worker_state::failed); // killed is what we had to force
    BOOST_TEST(exit.stage() == stop_stage::none);
    BOOST_TEST(exit.status.signal() == SIGKILL);
}

BOOST_AUTO_TEST_CASE(a_worker_interrupted_by_others_is_stopped) {
    for (const int number : {SIGTERM, SIGINT}) {
        const auto exit = signal_with(number);
        BOOST_TEST(exit.state == worker_state::stopped);
        BOOST_TEST(exit.stage() == stop_stage::none);
    }
}

BOOST_AUTO_TEST_CASE(resistance_of_one_does_not_hold_up_the_others) {
    const scratch_folder folder;
    auto config = short_stop_sequence(evil_pool("ignore_term", 4), 300ms);
    config.launch.args.push_back("--once=" + folder / "resists");
    config.stop.shutdown_grace = 2s; // enough for the others
    run([&](asio::io_context& context) -> asio::awaitable<void> {
        pool workers(context.get_executor(), config);
        co_await workers.start();
        const auto report = co_await workers.shutdown();
        BOOST_TEST(report.workers.size() == 4u);
        const auto killed = std::count_if(report.workers.begin(), report.workers.end(), [](const auto& exit) {
            return exit.state == worker_state::killed;
        });
        BOOST_TEST(killed == 1);
        BOOST_TEST(report.clean());
        BOOST_TEST((report.took < config.stop.shutdown_grace + config.stop.term_grace + 2s));
    });
}

BOOST_AUTO_TEST_CASE(a_frozen_worker_is_let_run_so_that_it_can_obey) {
    auto config = short_stop_sequence(basic_pool(), 100ms);
    config.stop.term_grace = patience;
    run([&](asio::io_context& context) -> asio::awaitable<void> {
        pool workers(context.get_executor(), config);
        co_await workers.start();
        const auto pid = co_await pid_of(workers);
        ::kill(pid, SIGSTOP);
        const auto report = co_await workers.shutdown();
        BOOST_REQUIRE_EQUAL(report.workers.size(), 1u);
        BOOST_TEST(report.workers[0].state == worker_state::stopped);
        BOOST_TEST(report.workers[0].stage() == stop_stage::terminate);
    });
}

BOOST_AUTO_TEST_CASE(a_grandchild_that_ignores_everything_dies_too) {
    auto config = short_stop_sequence(evil_pool("spawn_grandchild"), patience);
    run([&](asio::io_context& context) -> asio::awaitable<void> {
        pool workers(context.get_executor(), config);
        co_await workers.start();
        request call("grandchild");
        const json::value child = co_await value_of(workers, std::move(call));
        const auto grandchild = child.to_number<pid_t>();
        BOOST_TEST(is_alive(grandchild));
        const auto report = co_await workers.shutdown();
        BOOST_REQUIRE_EQUAL(report.workers.size(), 1u);
        BOOST_TEST(report.workers[0].state == worker_state::stopped);
        auto is_gone = [grandchild] { return !is_alive(grandchild); };
        const bool gone = co_await eventually(is_gone);
        BOOST_TEST(gone);
    });
}

BOOST_AUTO_TEST_CASE(a_pool_may_be_shut_down_while_it_starts_and_heals) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        for (const int wait_ms : {0, 5, 20, 60, 100}) {
            pool workers(context.get_executor(), quick(evil_pool("abort_after_ready", 3)));
            bool start_ended = false;
            asio::co_spawn(context, workers.start(), [&](std::exception_ptr) { start_ended = true; });
            co_await pause(std::chrono::milliseconds(wait_ms));
            const auto report = co_await workers.shutdown();
            BOOST_TEST(report.clean());
            auto has_ended = [&start_ended] { return start_ended; };
            const bool ended = co_await eventually(has_ended);
            BOOST_TEST(ended);
            BOOST_TEST(children().empty());
        }
    });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
