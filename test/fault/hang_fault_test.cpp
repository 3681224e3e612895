// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// What hangs: a launch, the child before its exec, a worker that would not be killed with its group.

#include "pool/pool_core.hpp"
#include "process/local_context.hpp"
#include "process/process_runtime.hpp"
#include "support/run.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>

#include <condition_variable>
#include <csignal>
#include <fstream>
#include <mutex>
#include <sys/resource.h>
#include <sys/wait.h>

namespace skep::test {

namespace {

namespace fs = std::filesystem;

/// A file system that does not answer, as the spawner sees it.
class dead_file_system {
public:
    launch_fault step() {
        return [this](launch_step) {
            std::unique_lock lock(mutex_);
            ++waiting_;
            changed_.wait(lock, [this] { return answers_; });
            return 0;
        };
    }

    void answer() {
        const std::lock_guard lock(mutex_);
        answers_ = true;
        changed_.notify_all();
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool answers_ = false;
    int waiting_ = 0;
};

/// Stops every child of this process as soon as it is there, some of them before their exec.
class stopper {
public:
    stopper() : thread_([this] { run(); }) {}
    ~stopper() {
        stop_ = true;
        thread_.join();
    }
    stopper(const stopper&) = delete;
    stopper& operator=(const stopper&) = delete;

    int before_exec() const { return before_exec_; }

private:
    void run() {
        const auto own = fs::read_symlink("/proc/self/exe");
        while (!stop_) {
            for (const auto& task : fs::directory_iterator("/proc/self/task")) {
                std::ifstream file(task.path() / "children");
                for (pid_t child = 0; file >> child;) {
                    if (!seen_.insert(child).second) {
                        continue;
                    }
                    ::kill(child, SIGSTOP);
                    std::error_code ec;
                    before_exec_ +=
                        fs::read_symlink("/proc/" + std::to_string(child) + "/exe", ec) == own ? 1 : 0;
                }
            }
        }
    }

    std::set<pid_t> seen_;
    std::atomic<bool> stop_{false};
    std::atomic<int> before_exec_{0};
    std::thread thread_;
};

} // namespace

BOOST_AUTO_TEST_SUITE(hang_fault)

BOOST_AUTO_TEST_CASE(a_launch_that_hangs_holds_nobody_up) {
    dead_file_system files;
    auto config = quick(basic_pool(2));
    config.start.timeout = 200ms;
    run([&](asio::io_context& context) -> asio::awaitable<void> {
        const auto began = std::chrono::steady_clock::now();
        {
            auto make_runtime = [&](const pool_context& found, const pool_config& of, output_handler sink) {
                return make_process_runtime(found, of, std::move(sink), files.step());
            };
            pool workers = make_pool(std::make_shared<pool_core>(make_local_context(context.get_executor()),
                                                                 config, make_runtime));
            auto starting = workers.start();
            const auto e = co_await failure_of(std::move(starting));
            BOOST_TEST(e.code() == errc::start_failed);
            BOOST_TEST(contains(e.what(), "does the file system"), e.what());
            co_await workers.shutdown();
        }
        BOOST_TEST((std::chrono::steady_clock::now() - began < patience));
        BOOST_TEST(threads() == 2u); // it cannot be ended, only let go
        files.answer();
        auto ended = [] { return threads() == 1 && guards().empty() && children().empty(); };
        const bool all_ended = co_await eventually(ended);
        BOOST_TEST(all_ended);
    });
}

BOOST_AUTO_TEST_CASE(a_child_stopped_before_its_exec_holds_nobody_up) {
    auto config = quick(basic_pool());
    config.start.timeout = 300ms;
    run([&](asio::io_context& context) -> asio::awaitable<void> {
        int caught = 0;
        for (int i = 0; i < 60 && caught < 2; ++i) {
            const auto began = std::chrono::steady_clock::now();
            const stopper trouble;
            pool workers(context.get_executor(), config);
            auto starting = workers.start();
            const auto e = co_await failure_of(std::move(starting));
            BOOST_TEST(e.code() == errc::start_failed);
            const auto report = co_await workers.shutdown();
            BOOST_TEST(report.clean());
            BOOST_TEST((std::chrono::steady_clock::now() - began < patience));
            caught += trouble.before_exec();
        }
        BOOST_TEST(caught > 0);
        BOOST_TEST_MESSAGE(caught << " children were stopped before their exec");
    });
}

// It would be out of reach of what is sent to its own; the kernel keeps sessions apart.
BOOST_AUTO_TEST_CASE(a_worker_cannot_join_its_hosts_group) {
    with_pool(basic_pool(), [](pool& workers) -> asio::awaitable<void> {
        request joining("join_host");
        const auto outcome = co_await value_of(workers, std::move(joining));
        BOOST_TEST(outcome == "PermissionError");
        const auto pid = co_await pid_of(workers);
        BOOST_TEST(::getpgid(pid) == pid);
    });
}

BOOST_AUTO_TEST_CASE(a_limit_of_processes_is_named) {
    std::array<int, 2> pipe{};
    BOOST_REQUIRE_EQUAL(::pipe2(pipe.data(), O_CLOEXEC), 0);
    const pid_t host = ::fork();
    if (host == 0) { // as a user whom the limit binds
        ::dup2(pipe[1], 1);
        const ::rlimit few{0, 0};
        [[maybe_unused]] const bool lowered = ::setrlimit(RLIMIT_NPROC, &few) == 0 && ::setuid(65534) == 0;
        asio::io_context context;
        pool workers(context.get_executor(), basic_pool());
        asio::co_spawn(context, workers.start(), [](std::exception_ptr problem) {
            try {
                std::rethrow_exception(problem);
            } catch (const std::exception& e) {
                [[maybe_unused]] const auto written = ::write(1, e.what(), std::strlen(e.what()));
            }
        });
        context.run();
        ::_exit(0);
    }
    ::close(pipe[1]);
    std::string text(4096, ' ');
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, ::read(pipe[0], text.data(), text.size()))));
    ::close(pipe[0]);
    ::waitpid(host, nullptr, 0);
    BOOST_TEST(contains(text, "ulimit -u"), text);
    BOOST_TEST(contains(text, "limit of processes"), text);
}

BOOST_AUTO_TEST_CASE(a_guard_that_does_not_come_up_is_named) {
    for (const auto* const program : {"/bin/true", "/no/such/guard", ""}) {
        ::setenv("SKEP_GUARD", program, 1);
        run([](asio::io_context& context) -> asio::awaitable<void> {
            pool workers(context.get_executor(), basic_pool());
            auto starting = workers.start();
            const auto e = co_await failure_of(std::move(starting));
            BOOST_TEST(contains(e.what(), "guard"), e.what());
        });
    }
    ::unsetenv("SKEP_GUARD");
}

BOOST_AUTO_TEST_CASE(a_working_directory_that_was_deleted_is_named) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        auto folder = std::make_optional<scratch_folder>();
        auto config = basic_pool();
        config.launch.working_directory = folder->path();
        pool workers(context.get_executor(), config);
        folder.reset();
        auto starting = workers.start();
        const auto e = co_await failure_of(std::move(starting));
        BOOST_TEST(contains(e.what(), "launch.working_directory"), e.what());
        BOOST_TEST(!contains(e.what(), "interpreter"), e.what());
    });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
