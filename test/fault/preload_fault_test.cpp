// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Templates that fail as they fork: the next workers come from a new template, or start as programs of their
// own, and events tell why.

#include "support/run.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>

#include <csignal>
#include <fstream>
#include <memory>

namespace skep::test {

namespace {

namespace data = boost::unit_test::data;

/// A fault of a template, in the words of ailing_template.py.
struct template_fault {
    const char* illness;
    const char* reason; ///< in the event about the end of the template
};

std::ostream& operator<<(std::ostream& out, const template_fault& fault) {
    return out << fault.illness;
}

const std::vector<template_fault> sudden_faults{
    {"template killed", "the template has"},
    {"template crashed", "the template has"},
    {"template no_memory", "has"},
    {"template no_descriptors", "Too many open files"},
    {"template no_processes", "Resource temporarily unavailable"},
};

/// The template does not answer.
const std::vector<std::string> silent_faults{"template stopped", "template frozen", "between stopped",
                                             "between frozen",   "worker stopped",  "worker frozen"};

/// Faults of one fork: the template stays.
const std::vector<template_fault> passing_faults{
    {"between killed", "the process that forks the worker has ended"},
    {"between no_memory", "the process that forks the worker has ended"},
    {"between no_descriptors", "Too many open files"},
    {"between no_processes", "Resource temporarily unavailable"},
    {"worker killed", "the worker has ended at once"},
};

/// A pool of two workers whose templates can be made ill.
class ailing_pool {
public:
    explicit ailing_pool(asio::io_context& context, duration start_timeout = patience)
        : workers(context.get_executor(), config(start_timeout)),
          ends_(workers.events().listen<events::template_ended>(
              context.get_executor(), [this](const auto& event) { told_ += event.reason + "\n"; })),
          failures_(workers.events().listen<events::worker_terminated>(
              context.get_executor(), [this](const auto& event) { told_ += event.reason + "\n"; })) {}

    void fall_ill(const std::string& illness) const { write_file(folder_ / "illness.txt", illness); }
    void recover() const { std::filesystem::remove(folder_ / "illness.txt"); }

    /// The process that has fallen ill.
    pid_t ill_process() const {
        pid_t pid = 0;
        std::ifstream(folder_ / "illness.pid") >> pid;
        return pid;
    }

    asio::awaitable<void> stop_template() {
        const auto status = co_await template_of(workers);
        ::kill(status.pid, SIGSTOP);
        write_file(folder_ / "illness.pid", std::to_string(status.pid));
    }

    /// So that the pool needs another one.
    asio::awaitable<void> lose_worker() {
        const auto pid = co_await pid_of(workers);
        ::kill(pid, SIGKILL);
        const bool gone = co_await is_gone(pid);
        BOOST_TEST(gone);
    }

    asio::awaitable<void> await_recovery() {
        const bool healed = co_await is_healed(workers, 2);
        BOOST_TEST(healed, told_);
    }

    asio::awaitable<void> expect_told(const std::string& reason) {
        auto is_told = [&] { return contains(told_, reason); };
        const bool told = co_await eventually(is_told);
        BOOST_TEST(told, "expected: " << reason << "; told: " << told_);
    }

    /// Needs another worker, is told the reason of a failure, and recovers.
    asio::awaitable<template_status> suffer(const std::string& reason) {
        co_await lose_worker();
        co_await expect_told(reason);
        co_await await_recovery();
        const auto after = co_await template_of(workers);
        co_return after;
    }

private:
    pool_config config(duration start_timeout) const {
        auto result = quick(python_pool("fault/ailing_template.py", 2));
        result.launch.args.push_back(folder_ / "illness.txt");
        result.launch.preload = true;
        result.start.timeout = start_timeout;
        return result;
    }

    const scratch_folder folder_;
    std::string told_; ///< by events, a line each

public:
    pool workers;

private:
    subscription ends_;
    subscription failures_;
};

/// Runs `body(pool)`, a coroutine, with an ailing_pool that has started, and shuts the pool down.
template <class Body>
void with_ailing_pool(Body body) {
    run([&](asio::io_context& context) -> asio::awaitable<void> {
        ailing_pool pool(context);
        co_await pool.workers.start();
        co_await body(pool);
        const auto report = co_await pool.workers.shutdown();
        BOOST_TEST(report.clean());
    });
}

} // namespace

BOOST_AUTO_TEST_SUITE(preload_fault)

BOOST_DATA_TEST_CASE(of_a_template_leads_to_another_one, data::make(sudden_faults), fault) {
    with_ailing_pool([&](ailing_pool& pool) -> asio::awaitable<void> {
        pool.fall_ill(std::string(fault.illness) + " once");
        const auto after = co_await pool.suffer(fault.reason);
        BOOST_TEST((after.state == template_state::ready));
        BOOST_TEST(after.templates == 2u);
        BOOST_TEST(after.forks == 3u);
    });
}

BOOST_DATA_TEST_CASE(of_each_template_leads_to_programs, data::make(sudden_faults), fault) {
    with_ailing_pool([&](ailing_pool& pool) -> asio::awaitable<void> {
        pool.fall_ill(fault.illness);
        const auto after = co_await pool.suffer(fault.reason);
        BOOST_TEST((after.state == template_state::refused));
        BOOST_TEST(after.templates == 2u);
        BOOST_TEST(after.forks == 2u);
        BOOST_REQUIRE(after.objections.size() == 1u);
        BOOST_TEST(contains(after.objections[0], "two templates have ended within restart.window"));
        BOOST_TEST(contains(after.objections[0], fault.reason), after.objections[0]);
        pool.recover();
        co_await pool.workers.rolling_restart();
        const auto anew = co_await template_of(pool.workers);
        BOOST_TEST((anew.state == template_state::ready));
        BOOST_TEST(anew.forks == 4u);
    });
}

BOOST_DATA_TEST_CASE(of_one_fork_leaves_the_template, data::make(passing_faults), fault) {
    with_ailing_pool([&](ailing_pool& pool) -> asio::awaitable<void> {
        const auto before = co_await template_of(pool.workers);
        pool.fall_ill(std::string(fault.illness) + " once");
        const auto after = co_await pool.suffer(fault.reason);
        BOOST_TEST(after.pid == before.pid);
        BOOST_TEST(after.forks == 3u);
        const bool has_ended = co_await is_gone(pool.ill_process());
        BOOST_TEST(has_ended);
    });
}

BOOST_DATA_TEST_CASE(of_each_fork_leads_to_programs, data::make(passing_faults), fault) {
    with_ailing_pool([&](ailing_pool& pool) -> asio::awaitable<void> {
        pool.fall_ill(fault.illness);
        const auto after = co_await pool.suffer(fault.reason);
        BOOST_TEST((after.state == template_state::refused));
        BOOST_REQUIRE(after.objections.size() == 1u);
        BOOST_TEST(contains(after.objections[0], fault.reason), after.objections[0]);
    });
}

/// At a time, because each takes as long as start.timeout.
BOOST_AUTO_TEST_CASE(that_is_silent_leads_to_another_template_in_time) {
    std::vector<pid_t> silent;
    run([&](asio::io_context& context) -> asio::awaitable<void> {
        std::vector<std::unique_ptr<ailing_pool>> pools;
        for (const auto& fault : silent_faults) {
            pools.push_back(std::make_unique<ailing_pool>(context, 10s));
            auto& pool = *pools.back();
            co_await pool.workers.start();
            pool.fall_ill(fault + " once");
            co_await pool.lose_worker();
        }
        pools.push_back(std::make_unique<ailing_pool>(context, 10s));
        auto& stopped_between_forks = *pools.back();
        co_await stopped_between_forks.workers.start();
        co_await stopped_between_forks.stop_template();
        co_await stopped_between_forks.lose_worker();
        for (std::size_t i = 0; i < pools.size(); ++i) {
            auto& pool = *pools[i];
            BOOST_TEST_CONTEXT(i) {
                co_await pool.expect_told("the template has not answered");
                co_await pool.await_recovery();
                const auto after = co_await template_of(pool.workers);
                BOOST_TEST((after.state == template_state::ready));
                BOOST_TEST(after.templates == 2u);
                BOOST_TEST(after.forks == 3u);
                silent.push_back(pool.ill_process());
                const auto report = co_await pool.workers.shutdown();
                BOOST_TEST(report.clean());
            }
        }
    });
    for (const auto pid : silent) {
        BOOST_TEST(!is_alive(pid));
    }
}

BOOST_AUTO_TEST_CASE(a_stopped_template_ends_with_its_pool) {
    pid_t stopped = 0;
    with_ailing_pool([&](ailing_pool& pool) -> asio::awaitable<void> {
        co_await pool.stop_template();
        stopped = pool.ill_process();
    });
    BOOST_TEST(!is_alive(stopped));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
