// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// What a worker has of the process around it: what that had when the pool was made, on no matter which
// thread.

#include "support/environment_variable.hpp"
#include "support/in_a_child.hpp"
#include "support/run.hpp"
#include "support/working_directory.hpp"

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <functional>
#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

namespace skep::test {

namespace {

namespace fs = std::filesystem;

const std::string script = std::string(SKEP_TEST_DIR) + "/integration/workers/surroundings.py";

pool_config surroundings_pool() {
    return python_pool("integration/workers/surroundings.py");
}

asio::awaitable<json::object> surroundings_of(pool& workers) {
    request call("surroundings");
    const auto answer = co_await value_of(workers, std::move(call));
    co_return answer.as_object();
}

asio::awaitable<json::object> variables_of(pool& workers) {
    request call("variables");
    const auto answer = co_await value_of(workers, std::move(call));
    co_return answer.as_object();
}

/// What the worker tells of a pool that is made here and runs in a thread of its own, after `meanwhile()`
/// here and `prepare()` there; the second time by its replacement, which must have the same.
json::object seen_by_worker(
    const pool_config& config, const std::function<void()>& meanwhile,
    const std::function<void()>& prepare = [] {}) {
    const leak_audit audit;
    json::object seen;
    asio::io_context context;
    pool workers(context, config);
    meanwhile();
    auto look = [&]() -> asio::awaitable<void> {
        co_await workers.start();
        seen = co_await surroundings_of(workers);
        request deadly("die");
        auto dying = workers.execute(std::move(deadly));
        co_await failure_of(std::move(dying));
        const auto later = co_await surroundings_of(workers);
        BOOST_TEST((later == seen));
        co_await workers.shutdown();
    };
    std::exception_ptr problem;
    asio::co_spawn(context, look, [&](std::exception_ptr error) { problem = error; });
    std::thread([&] {
        prepare();
        context.run_for(5min);
    }).join();
    BOOST_TEST(context.stopped());
    if (problem) {
        std::rethrow_exception(problem);
    }
    return seen;
}

json::array allowed_cpus() {
    json::array cpus;
    cpu_set_t mask;
    BOOST_REQUIRE_EQUAL(::sched_getaffinity(::getpid(), sizeof mask, &mask), 0);
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (CPU_ISSET(cpu, &mask)) {
            cpus.emplace_back(cpu);
        }
    }
    return cpus;
}

void pin_to_one_cpu() {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(::sched_getcpu(), &one);
    ::sched_setaffinity(0, sizeof one, &one);
}

/// What root alone may do is not tested for others.
void check_permission(long result, const char* what) {
    if (result != 0) {
        BOOST_TEST_MESSAGE("not permitted here: " << what);
    }
}

} // namespace

BOOST_AUTO_TEST_SUITE(surroundings)

BOOST_AUTO_TEST_CASE(the_directory_is_that_of_the_pools_making) {
    const scratch_folder folder;
    fs::create_directories(folder.path() / "bin");
    fs::copy_file(script, folder / "who.py");
    fs::create_symlink(SKEP_TEST_PYTHON, folder / "bin/python");
    const working_directory made_in(folder.path());
    auto config = surroundings_pool();
    config.launch.program = "bin/python";
    config.launch.args = {"who.py"};
    const auto seen = seen_by_worker(config, [] { fs::current_path("/"); });
    BOOST_TEST(seen.at("directory") == json::string(folder.path().string()));
    BOOST_TEST(seen.at("argv0") == json::string(folder / "bin/python"));
    config.launch.working_directory = "bin";
    config.launch.args = {"../who.py"};
    fs::current_path(folder.path());
    const auto below = seen_by_worker(config, [] { fs::current_path("/"); });
    BOOST_TEST(below.at("directory") == json::string(folder / "bin"));
}

BOOST_AUTO_TEST_CASE(a_directory_that_was_deleted_before_is_no_obstacle) {
    const auto here = fs::current_path();
    const int code = in_a_child([&] {
        {
            const scratch_folder folder;
            fs::current_path(folder.path());
        }
        asio::io_context context;
        int result = 1;
        auto live = [&]() -> asio::awaitable<void> {
            pool workers(context.get_executor(), basic_pool());
            co_await workers.start();
            co_await workers.shutdown();
            auto config = basic_pool();
            config.launch.program = "bin/python3";
            pool nowhere(context.get_executor(), config);
            auto starting = nowhere.start();
            const auto e = co_await failure_of(std::move(starting));
            result =
                contains(e.what(), "counts from the host's working directory, which was deleted") ? 0 : 2;
        };
        asio::co_spawn(context, live, [](std::exception_ptr) {});
        context.run();
        return result;
    });
    BOOST_TEST(code == 0);
}

BOOST_AUTO_TEST_CASE(variables_and_path_are_those_of_the_pools_making) {
    const scratch_folder folder;
    fs::create_symlink(SKEP_TEST_PYTHON, folder / "interpreter-of-test");
    std::string path = folder.path().string() + ":" + std::getenv("PATH");
    const variable made_with("PATH", path.c_str());
    auto config = surroundings_pool();
    config.launch.program = "interpreter-of-test";
    run([&](asio::io_context& context) -> asio::awaitable<void> {
        pool workers(context.get_executor(), config);
        const variable later("HIVE_LATER", "1");
        const variable other_path("PATH", "/nowhere");
        const variable other_sdk("SKEP_PYTHON_SDK", "/nowhere");
        const variable other_guard("SKEP_GUARD", "/nowhere");
        co_await workers.start();
        const auto seen = co_await variables_of(workers);
        BOOST_TEST(!seen.contains("HIVE_LATER"));
        BOOST_TEST(seen.at("PATH") == json::string(path));
        const auto process = co_await surroundings_of(workers);
        BOOST_TEST(process.at("argv0") == json::string(folder / "interpreter-of-test"));
        co_await workers.shutdown();
    });
}

/// glibc moves and frees the environment as it grows: whoever reads it on another thread meanwhile reads
/// freed memory.
BOOST_AUTO_TEST_CASE(variables_may_be_set_while_workers_start) {
    auto config = surroundings_pool();
    config.workers = 6;
    run([&](asio::io_context& context) -> asio::awaitable<void> {
        pool workers(context.get_executor(), config);
        std::atomic<bool> stop = false;
        std::thread setter([&] {
            for (int i = 0; !stop; i = (i + 1) % 2000) {
                const auto name = "HIVE_NOISE_" + std::to_string(i);
                ::setenv(name.c_str(), std::string(static_cast<std::size_t>(i), 'x').c_str(), 1);
                if (i % 3 == 0) {
                    ::unsetenv(name.c_str());
                }
            }
        });
        std::exception_ptr problem;
        try {
            co_await workers.start();
            co_await workers.ready(6);
        } catch (...) {
            problem = std::current_exception();
        }
        stop = true;
        setter.join();
        for (int i = 0; i < 2000; ++i) {
            ::unsetenv(("HIVE_NOISE_" + std::to_string(i)).c_str());
        }
        BOOST_TEST(!problem);
        const auto seen = co_await variables_of(workers);
        for (const auto& [name, value] : seen) {
            BOOST_TEST(!name.starts_with("HIVE_NOISE_"), name);
        }
        co_await workers.shutdown();
    });
}

// Of the thread that starts the first worker.
BOOST_AUTO_TEST_CASE(a_threads_cpus_and_priorities_are_its_own) {
    const auto plain = seen_by_worker(surroundings_pool(), [] {});
    BOOST_TEST((plain.at("cpus").as_array() == allowed_cpus()));
    BOOST_TEST(plain.at("policy") == SCHED_OTHER);
    BOOST_TEST(plain.at("niceness") == ::getpriority(PRIO_PROCESS, static_cast<id_t>(::getpid())));
    const auto seen = seen_by_worker(
        surroundings_pool(), [] {},
        [] {
            pin_to_one_cpu();
            constexpr int lowest = 7 | 2 << 13; // of IOPRIO_CLASS_BE
            check_permission(::syscall(SYS_ioprio_set, 1, 0, lowest), "ioprio_set");
            check_permission(::prctl(PR_SET_TIMERSLACK, 7'000'000UL), "PR_SET_TIMERSLACK");
            ::personality(ADDR_NO_RANDOMIZE);
            unsigned long node = 1;
            check_permission(::syscall(SYS_set_mempolicy, MPOL_BIND, &node, 64), "set_mempolicy");
            check_permission(::setpriority(PRIO_PROCESS, 0, -5), "a negative niceness");
        });
    BOOST_TEST((seen == plain));
    const auto real_time = seen_by_worker(
        surroundings_pool(), [] {},
        [] {
            const sched_param low{1};
            check_permission(::sched_setscheduler(0, SCHED_FIFO, &low), "SCHED_FIFO");
        });
    BOOST_TEST((real_time == plain));
}

BOOST_AUTO_TEST_CASE(a_pinned_thread_makes_a_pool_of_the_usual_size) {
    const auto workers_of_a_pool = [] {
        pool_config config = basic_pool();
        config.workers.reset();
        config.min_ready = 1;
        asio::io_context context;
        pool workers(context, config);
        std::size_t count = 0;
        auto look = [&]() -> asio::awaitable<void> {
            const auto status = co_await workers.status();
            count = status.desired;
        };
        asio::co_spawn(context, look, [](std::exception_ptr) {});
        context.run();
        return count;
    };
    const auto usual = workers_of_a_pool();
    std::size_t pinned = 0;
    std::thread([&] {
        pin_to_one_cpu();
        pinned = workers_of_a_pool();
    }).join();
    BOOST_TEST(pinned == usual);
}

// As with taskset, nice and chrt before the host.
BOOST_AUTO_TEST_CASE(what_the_process_was_started_with_holds_for_workers) {
    const int code = in_a_child([] {
        pin_to_one_cpu();
        ::setpriority(PRIO_PROCESS, 0, 3);
        const sched_param none{};
        ::sched_setscheduler(0, SCHED_BATCH, &none);
        const auto seen = seen_by_worker(surroundings_pool(), [] {});
        if (seen.at("cpus").as_array() != allowed_cpus() || allowed_cpus().size() != 1) {
            return 1;
        }
        return seen.at("niceness") != 3 ? 2 : seen.at("policy") != SCHED_BATCH ? 3 : 0;
    });
    BOOST_TEST(code == 0);
}

BOOST_AUTO_TEST_CASE(umask_and_limits_are_those_of_the_pools_making) {
    ::rlimit files{};
    ::rlimit core{};
    ::getrlimit(RLIMIT_NOFILE, &files);
    ::getrlimit(RLIMIT_CORE, &core);
    const auto umask_before = ::umask(027);
    const auto seen = seen_by_worker(surroundings_pool(), [&] {
        ::umask(0);
        const ::rlimit fewer{files.rlim_cur / 2, files.rlim_max};
        ::setrlimit(RLIMIT_NOFILE, &fewer);
        const ::rlimit other{core.rlim_cur == 0 ? core.rlim_max : 0, core.rlim_max};
        ::setrlimit(RLIMIT_CORE, &other);
    });
    ::umask(umask_before);
    ::setrlimit(RLIMIT_NOFILE, &files);
    ::setrlimit(RLIMIT_CORE, &core);
    BOOST_TEST(seen.at("umask") == "0027");
    BOOST_TEST(seen.at("files").at(0).to_number<::rlim_t>() == files.rlim_cur);
    BOOST_TEST(seen.at("files").at(1).to_number<::rlim_t>() == files.rlim_max);
    const auto soft = seen.at("core").at(0).to_number<std::int64_t>(); // -1: no limit
    BOOST_TEST(static_cast<::rlim_t>(soft) == core.rlim_cur);
}

BOOST_AUTO_TEST_CASE(a_host_that_may_write_no_files_is_told_so) {
    const int code = in_a_child([] {
        const ::rlimit none{0, 0};
        ::setrlimit(RLIMIT_FSIZE, &none);
        asio::io_context context;
        int result = 1;
        auto live = [&]() -> asio::awaitable<void> {
            pool workers(context.get_executor(), basic_pool());
            auto starting = workers.start();
            const auto e = co_await failure_of(std::move(starting));
            result = contains(e.what(), "raise 'ulimit -f'") ? 0 : 2;
        };
        asio::co_spawn(context, live, [](std::exception_ptr) {});
        context.run();
        return result;
    });
    BOOST_TEST(code == 0);
}

BOOST_AUTO_TEST_CASE(what_only_operators_set_is_inherited) {
    const int code = in_a_child([] {
        write_file("/proc/self/oom_score_adj", "333");
        ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        const auto seen = seen_by_worker(surroundings_pool(), [] {});
        const auto& of_rights = seen.at("capabilities").as_array();
        int problem = seen.at("oom_score") != "333" ? 1 : of_rights.at(3) != "1" ? 2 : 0;
        std::ifstream own("/proc/self/cgroup");
        const std::string group{std::istreambuf_iterator<char>(own), {}};
        problem = seen.at("cgroup") != json::string(group) ? 3 : problem;
        for (const auto& [name, space] : seen.at("namespaces").as_object()) {
            const auto here = fs::read_symlink("/proc/self/ns/" + std::string(name)).string();
            problem = space != json::string(here) ? 4 : problem;
        }
        return seen.at("user").at(0) != ::getuid() ? 5 : problem;
    });
    BOOST_TEST(code == 0);
}

BOOST_AUTO_TEST_CASE(the_guard_holds_no_directory) {
    with_pool(surroundings_pool(), [](pool& workers) -> asio::awaitable<void> {
        co_await surroundings_of(workers);
        for (const auto guard : guards()) {
            std::error_code ec;
            const auto held = fs::read_symlink("/proc/" + std::to_string(guard) + "/cwd", ec);
            check_permission(ec.value(), "a look into the guard");
            BOOST_TEST((ec || held.string() == "/"), held);
        }
        BOOST_TEST(guards().size() == (surroundings_pool().launch.preload ? 2u : 1u)); // and the nursery
    });
}

BOOST_AUTO_TEST_CASE(no_terminal_stops_a_worker_that_asks_for_a_password) {
    const int code = in_a_child([] {
        const int master = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
        if (master < 0 || ::grantpt(master) != 0 || ::unlockpt(master) != 0 || ::setsid() < 0) {
            return 1;
        }
        const int terminal = ::open(::ptsname(master), O_RDWR | O_CLOEXEC);
        if (::ioctl(terminal, TIOCSCTTY, 0) != 0 || ::tcgetpgrp(terminal) != ::getpgrp()) {
            return 2;
        }
        int result = 3;
        asio::io_context context;
        auto live = [&]() -> asio::awaitable<void> {
            pool workers(context.get_executor(), surroundings_pool());
            co_await workers.start();
            const auto seen = co_await surroundings_of(workers);
            const bool is_apart =
                seen.at("session").as_bool() && seen.at("group").as_bool() && seen.at("terminal") == "0";
            request asking("read_terminal");
            const auto answer = co_await value_of(workers, std::move(asking));
            const auto report = co_await workers.shutdown();
            result = !is_apart ? 4 : answer != "OSError" ? 5 : !report.clean() ? 6 : 0;
        };
        asio::co_spawn(context, live, [](std::exception_ptr) {});
        context.run();
        return result;
    });
    BOOST_TEST(code == 0);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
