// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Workers that do not come up, or not for long: start() tells why, the pool does not hammer, and it heals.

#include "support/environment_variable.hpp"
#include "support/run.hpp"

#include <boost/asio/detached.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>

#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace skep::test {

namespace {

namespace data = boost::unit_test::data;

/// A fault before the worker is ready, and what start() says about it.
struct start_fault {
    const char* name;
    std::vector<std::string> says;
};

std::ostream& operator<<(std::ostream& out, const start_fault& fault) {
    return out << fault.name;
}

const std::vector<start_fault> start_faults{
    {"exit0_before_hello", {"its process ended before it was ready", "exit code 0"}},
    {"exit1_before_hello",
     {"its process ended before it was ready", "exit code 1", "evil_worker: no such model"}},
    {"wrong_version", {"protocol version 99", "update the older side"}},
    {"wrong_token", {"its token is not the one"}},
    {"garbage_hello", {"frame"}},
    {"no_hello", {"did not say hello in time"}},
    {"hello_then_hang", {"on_start did not end in time"}},
    {"slow_start", {"did not say hello in time"}},
};

/// The error with which a pool's start() fails.
error failure_to_start(const pool_config& config) {
    std::optional<error> failure;
    run([&](asio::io_context& context) -> asio::awaitable<void> {
        pool workers(context.get_executor(), config);
        for (int i = 0; i < 2; ++i) { // start() may be repeated after a failure
            const auto began = std::chrono::steady_clock::now();
            auto starting = workers.start();
            failure = co_await failure_of(std::move(starting));
            const auto took = std::chrono::steady_clock::now() - began;
            BOOST_TEST((took < patience), "took " << took.count() / 1'000'000 << " ms");
            BOOST_TEST(failure->code() == errc::start_failed);
            BOOST_TEST(children().empty());
        }
        const auto status = co_await workers.status();
        BOOST_TEST((status.phase == pool_phase::created));
        request call("echo");
        auto calling = workers.execute(std::move(call));
        const auto refused = co_await failure_of(std::move(calling));
        BOOST_TEST(refused.code() == errc::start_failed);
    });
    BOOST_REQUIRE(failure);
    BOOST_TEST_MESSAGE(failure->what());
    return *failure;
}

void expect(const error& failure, const std::vector<std::string>& parts) {
    for (const auto& part : parts) {
        BOOST_TEST(contains(failure.what(), part), "'" << part << "' is missing in: " << failure.what());
    }
}

void fail_to_start(const start_fault& fault) {
    auto config = quick(evil_pool(fault.name, 2));
    config.launch.args.push_back("--delay=1000");
    config.start.timeout = 3s; // the process comes up in this time, even on a busy machine
    const bool hangs = fault.says.front().find("in time") != std::string::npos;
    if (!hangs) {
        config.start.timeout = patience;
    }
    expect(failure_to_start(config), fault.says);
}

pool_config program_pool(const std::string& program) {
    auto config = quick(basic_pool(2));
    config.launch.program = program;
    config.launch.args.clear();
    return config;
}

pool_config script_pool(const std::string& script) {
    auto config = quick(basic_pool(2));
    config.launch.args = {script};
    return config;
}

} // namespace

BOOST_AUTO_TEST_SUITE(start_fault_suite)

BOOST_DATA_TEST_CASE(start_names_the_cause, data::make(start_faults), fault) {
    fail_to_start(fault);
}

BOOST_AUTO_TEST_CASE(a_slow_start_within_the_time_is_none) {
    auto config = evil_pool("slow_start", 2);
    config.launch.args.push_back("--delay=0.3");
    with_pool(config, [](pool& workers) -> asio::awaitable<void> {
        const auto pid = co_await pid_of(workers);
        BOOST_TEST(pid > 0);
    });
}

BOOST_AUTO_TEST_CASE(one_bad_start_among_several_is_repaired) {
    for (const auto* name : {"exit1_before_hello", "wrong_token", "no_hello", "garbage_hello"}) {
        const scratch_folder folder;
        auto config = quick(evil_pool(name, 3));
        config.launch.args.push_back("--once=" + folder / "spoiled");
        config.min_ready = 1;
        config.start.timeout = 3s;
        with_pool(config, [&](pool& workers) -> asio::awaitable<void> {
            const bool healed = co_await is_healed(workers, 3);
            BOOST_TEST(healed, name);
            const auto status = co_await workers.status();
            BOOST_TEST(status.counters.start_failures == 1u, name);
            BOOST_TEST(status.counters.workers_started == 3u, name);
            BOOST_TEST(status.counters.workers_lost == 0u, name);
        });
    }
}

BOOST_AUTO_TEST_CASE(a_death_right_after_ready_lets_start_succeed_or_name_the_cause) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        int succeeded = 0;
        int failed = 0;
        for (int i = 0; i < 20; ++i) {
            pool workers(context.get_executor(), quick(evil_pool("abort_after_ready")));
            try {
                co_await workers.start();
                ++succeeded;
            } catch (const error& e) {
                ++failed;
                BOOST_TEST(e.code() == errc::start_failed);
                BOOST_TEST(contains(e.what(), "signal 6"), e.what());
            }
            co_await workers.shutdown();
        }
        BOOST_TEST_MESSAGE(succeeded << " succeeded, " << failed << " failed");
    });
}

BOOST_AUTO_TEST_CASE(a_crash_loop_is_slowed_down) {
    for (const auto* name : {"abort_after_ready", "exit0_after_ready"}) {
        run([&](asio::io_context& context) -> asio::awaitable<void> {
            auto config = quick(evil_pool(name));
            config.restart.initial_backoff = 100ms;
            config.restart.max_backoff = 10s;
            config.queue.timeout = 400ms;
            config.restart.limit = 1000; // only the backoff is to slow it down
            config.crash_barrier.poison_crashes = 0;
            pool workers(context.get_executor(), config);
            bool started = false;
            while (!started) { // the worker may be dead before start() looks
                try {
                    co_await workers.start();
                    started = true;
                } catch (const error& e) {
                    BOOST_TEST(e.code() == errc::start_failed);
                }
            }
            const auto at_first = co_await workers.status();
            const auto began = std::chrono::steady_clock::now();
            std::uint64_t calls = 0;
            while (std::chrono::steady_clock::now() - began < 1500ms) {
                request call = request("echo").arg("value", 1);
                auto calling = workers.execute(std::move(call));
                const auto e = co_await failure_of(std::move(calling));
                const bool expected = e.code() == errc::worker_lost || e.code() == errc::no_worker;
                BOOST_TEST(expected, e.what());
                ++calls;
            }
            const auto at_last = co_await workers.status();
            const auto starts = at_last.counters.workers_started - at_first.counters.workers_started;
            BOOST_TEST(starts >= 1u);
            BOOST_TEST(starts <= 5u, name); // after 100, 200, 400, 800 ms, each varied by a quarter
            BOOST_TEST(at_last.counters.failed - at_first.counters.failed == calls);
            const auto report = co_await workers.shutdown();
            BOOST_TEST(report.clean());
        });
    }
}

BOOST_AUTO_TEST_CASE(a_worker_that_dies_once_after_ready_is_replaced) {
    for (const auto* name : {"abort_after_ready", "exit0_after_ready"}) {
        const scratch_folder folder;
        auto config = quick(evil_pool(name, 2));
        config.min_ready = 1;
        config.launch.args.push_back("--once=" + folder / "spoiled");
        with_pool(config, [&](pool& workers) -> asio::awaitable<void> {
            auto has_died = [&]() -> asio::awaitable<bool> {
                const auto status = co_await workers.status();
                co_return status.counters.workers_lost == 1;
            };
            const bool died = co_await eventually(has_died);
            BOOST_TEST(died);
            const bool healed = co_await is_healed(workers, 2);
            BOOST_TEST(healed);
            request call = request("echo").arg("value", 1);
            const auto answer = co_await workers.execute(std::move(call));
            BOOST_TEST(answer.value == 1);
            const auto status = co_await workers.status();
            BOOST_TEST(status.counters.workers_lost == 1u, name);
            BOOST_TEST(status.counters.workers_started == 3u, name);
        });
    }
}

BOOST_AUTO_TEST_CASE(a_missing_program_is_named) {
    expect(failure_to_start(program_pool("/nonexistent/worker")), {"'/nonexistent/worker' does not exist"});
}

BOOST_AUTO_TEST_CASE(a_program_that_is_not_in_the_path_is_named) {
    expect(failure_to_start(program_pool("no-such-program-of-skep")),
           {"'no-such-program-of-skep' was not found in PATH"});
}

BOOST_AUTO_TEST_CASE(a_folder_is_no_program) {
    const scratch_folder folder;
    expect(failure_to_start(program_pool(folder.path().string())), {"is a directory"});
}

BOOST_AUTO_TEST_CASE(a_file_that_is_not_executable_is_no_program) {
    const scratch_folder folder;
    const auto file = write_file(folder / "worker", "#!/bin/sh\n", 0644);
    expect(failure_to_start(program_pool(file)), {"is not executable"});
}

BOOST_AUTO_TEST_CASE(a_bad_interpreter_line_is_explained) {
    const scratch_folder folder;
    const auto file = write_file(folder / "worker", "#!/nonexistent/python3\n");
    expect(failure_to_start(program_pool(file)),
           {"exec of '" + file + "' failed", "the interpreter in its first line"});
}

BOOST_AUTO_TEST_CASE(a_file_without_an_interpreter_line_is_explained) {
    const scratch_folder folder;
    const auto file = write_file(folder / "worker", "echo hello\n");
    expect(failure_to_start(program_pool(file)), {"exec of '" + file + "' failed", "no '#!' line"});
}

BOOST_AUTO_TEST_CASE(a_missing_script_shows_in_the_tail) {
    expect(failure_to_start(script_pool("/nonexistent/worker.py")),
           {"can't open file", "/nonexistent/worker.py", "exit code 2"});
}

BOOST_AUTO_TEST_CASE(a_syntax_error_shows_in_the_tail) {
    const scratch_folder folder;
    const auto script = write_file(folder / "worker.py", "import skep\nworker = = skep.Worker()\n");
    expect(failure_to_start(script_pool(script)), {"SyntaxError", "worker = = skep.Worker()", "exit code 1"});
}

BOOST_AUTO_TEST_CASE(a_script_that_never_runs_its_worker_is_explained) {
    const scratch_folder folder;
    const auto script = write_file(folder / "worker.py", "import skep\nworker = skep.Worker()\n");
    expect(failure_to_start(script_pool(script)),
           {"its process ended before it was ready", "worker.py ended without calling worker.run()"});
}

BOOST_AUTO_TEST_CASE(a_missing_python_package_is_named_with_the_remedy) {
    const scratch_folder folder;
    const variable sdk("SKEP_PYTHON_SDK", folder.path().c_str());
    const auto script = write_file(folder / "worker.py", "import skep\nskep.Worker().run()\n");
    expect(failure_to_start(script_pool(script)),
           {"Python did not find the package skep", "SKEP_PYTHON_SDK", "No module named 'skep'"});
}

BOOST_AUTO_TEST_CASE(a_start_hook_that_raises_shows_in_the_tail) {
    const scratch_folder folder;
    const auto script = write_file(folder / "worker.py", "import skep\nworker = skep.Worker()\n"
                                                         "@worker.on_start\ndef load():\n"
                                                         "    raise OSError('no model')\nworker.run()\n");
    expect(failure_to_start(script_pool(script)), {"OSError: no model", "exit code 1"});
}

/// A program that cannot be executed until release(): as on a dead network drive, exec waits for the file.
/// Here it waits for us to give back a lease.
class stuck_program {
public:
    explicit stuck_program(const std::string& path) : before_(std::signal(SIGIO, SIG_IGN)) {
        const std::ifstream script(std::string(SKEP_TEST_DIR) + "/integration/workers/basic.py");
        std::ofstream(path) << "#!" SKEP_TEST_PYTHON "\n" << script.rdbuf();
        ::chmod(path.c_str(), 0700);
        file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
        BOOST_REQUIRE_EQUAL(::fcntl(file_, F_SETLEASE, F_WRLCK), 0);
    }
    ~stuck_program() {
        release();
        std::signal(SIGIO, before_);
    }

    void release() {
        if (file_ >= 0) {
            ::close(std::exchange(file_, -1));
        }
    }

private:
    void (*before_)(int);
    int file_ = -1;
};

/// The guard is launched first, the worker second; for a pool with a template it is the nursery, which starts
/// the program.
bool is_launching_worker() {
    return children_and_guards() > 1;
}

pool_config stuck_pool(const std::string& program) {
    auto config = quick(basic_pool());
    config.launch.program = program;
    config.launch.args.clear();
    return config;
}

BOOST_AUTO_TEST_CASE(a_program_on_a_file_system_that_hangs_is_given_up_in_time) {
    const scratch_folder folder;
    const stuck_program program(folder / "worker.py");
    auto config = stuck_pool(folder / "worker.py");
    config.start.timeout = 300ms;
    expect(failure_to_start(config), {"its process could not be created in time"});
}

BOOST_AUTO_TEST_CASE(a_pool_whose_program_hangs_heals_when_the_file_system_is_back) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        const scratch_folder folder;
        stuck_program program(folder / "worker.py");
        auto config = stuck_pool(folder / "worker.py");
        config.start.timeout = 5s;
        pool workers(context.get_executor(), config);
        auto starting = workers.start();
        const auto e = co_await failure_of(std::move(starting));
        BOOST_TEST(e.code() == errc::start_failed);
        program.release();
        co_await workers.start();
        const auto pid = co_await pid_of(workers);
        BOOST_TEST(pid > 0);
        const auto report = co_await workers.shutdown();
        BOOST_TEST(report.clean());
    });
}

BOOST_AUTO_TEST_CASE(a_shutdown_does_not_wait_for_a_program_that_hangs) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        const scratch_folder folder;
        const stuck_program program(folder / "worker.py");
        auto config = stuck_pool(folder / "worker.py");
        config.workers = 3; // of which two wait for the first
        pool workers(context.get_executor(), config);
        std::optional<errc> outcome;
        auto start = [&]() -> asio::awaitable<void> {
            auto starting = workers.start();
            const auto e = co_await failure_of(std::move(starting));
            outcome = static_cast<errc>(e.code().value());
        };
        asio::co_spawn(context, start(), asio::detached);
        const bool launching = co_await eventually(is_launching_worker);
        BOOST_TEST(launching);
        const auto began = std::chrono::steady_clock::now();
        const auto report = co_await workers.shutdown();
        const auto took = std::chrono::steady_clock::now() - began;
        BOOST_TEST((took < patience), "took " << took.count() / 1'000'000 << " ms");
        BOOST_TEST(report.workers.size() == 3u);
        auto is_over = [&] { return outcome.has_value(); };
        const bool over = co_await eventually(is_over);
        BOOST_TEST(over);
        BOOST_TEST((outcome == errc::shutting_down));
    });
}

BOOST_AUTO_TEST_CASE(a_context_destroyed_meanwhile_does_not_wait_for_a_program_that_hangs) {
    const leak_audit audit;
    const scratch_folder folder;
    const stuck_program program(folder / "worker.py");
    const auto began = std::chrono::steady_clock::now();
    {
        asio::io_context context(1);
        pool workers(context.get_executor(), stuck_pool(folder / "worker.py"));
        asio::co_spawn(context, workers.start(), asio::detached);
        bool launching = false;
        while (!launching && std::chrono::steady_clock::now() < began + patience) {
            context.run_for(5ms);
            launching = is_launching_worker();
        }
        BOOST_TEST(launching);
    }
    BOOST_TEST((std::chrono::steady_clock::now() - began < patience));
}

BOOST_AUTO_TEST_CASE(a_working_directory_removed_meanwhile_is_named) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        std::optional<scratch_folder> folder(std::in_place);
        const auto path = folder->path().string();
        auto config = quick(basic_pool(2));
        config.launch.working_directory = path;
        pool workers(context.get_executor(), config);
        folder.reset();
        auto starting = workers.start();
        const auto e = co_await failure_of(std::move(starting));
        BOOST_TEST(e.code() == errc::start_failed);
        expect(e, {"chdir of '" + path + "' failed"});
        std::filesystem::create_directory(path);
        co_await workers.start();
        const auto pid = co_await pid_of(workers);
        BOOST_TEST(pid > 0);
        const auto report = co_await workers.shutdown();
        BOOST_TEST(report.clean());
        std::filesystem::remove(path);
    });
}

BOOST_AUTO_TEST_CASE(a_script_removed_while_the_pool_runs_leaves_what_is_there_and_heals) {
    const scratch_folder folder;
    const auto script = folder / "worker.py";
    const std::string original = std::string(SKEP_TEST_DIR) + "/integration/workers/basic.py";
    std::filesystem::copy_file(original, script);
    auto config = unforked(script_pool(script)); // a template goes on without its script
    with_pool(config, [&](pool& workers) -> asio::awaitable<void> {
        const bool complete = co_await is_healed(workers, 2);
        BOOST_TEST(complete);
        std::filesystem::remove(script);
        request deadly("die");
        auto dying = workers.execute(std::move(deadly));
        const auto e = co_await failure_of(std::move(dying));
        BOOST_TEST(e.code() == errc::worker_lost);
        auto has_failed = [&]() -> asio::awaitable<bool> {
            const auto status = co_await workers.status();
            co_return status.counters.start_failures >= 2;
        };
        const bool failing = co_await eventually(has_failed);
        BOOST_TEST(failing);
        const auto one_is_left = co_await pid_of(workers);
        BOOST_TEST(one_is_left > 0);
        std::filesystem::copy_file(original, script);
        const bool healed = co_await is_healed(workers, 2);
        BOOST_TEST(healed);
    });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
