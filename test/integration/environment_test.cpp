// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// What a worker process is born with: variables, folder, descriptors, signals, group.

#include "support/environment_variable.hpp"
#include "support/run.hpp"

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <map>
#include <optional>
#include <unistd.h>

namespace skep::test {

namespace {

asio::awaitable<json::value> variable_of_worker(pool& workers, std::string name) {
    request call = request("environment").arg("name", json::string(name));
    auto value = co_await value_of(workers, std::move(call));
    co_return value;
}

/// What a program other than a worker prints, started the way workers are.
std::string output_of(std::string program, std::vector<std::string> args,
                      std::vector<std::vector<std::string>> slot_args = {}) {
    std::string output;
    run([&](asio::io_context& context) -> asio::awaitable<void> {
        pool_config config;
        config.launch.program = program;
        config.launch.args = args;
        config.launch.slot_args = slot_args;
        config.workers = 1;
        config.log_level = log_level::off;
        config.output.handler = [&](const output_line& line) { output.append(line.text).append("\n"); };
        pool workers(context.get_executor(), config);
        auto starting = workers.start();
        const auto e = co_await failure_of(std::move(starting));
        BOOST_TEST(e.code() == errc::start_failed);
    });
    return output;
}

bool has(const json::value& list, std::string_view item) {
    for (const auto& each : list.as_array()) {
        if (each.as_string() == item) {
            return true;
        }
    }
    return false;
}

pool_config probe_pool() {
    return python_pool("integration/workers/probe.py");
}

const std::vector<std::string> thread_limits{"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS",
                                             "NUMEXPR_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"};

} // namespace

BOOST_AUTO_TEST_SUITE(environment)

BOOST_AUTO_TEST_CASE(workers_learn_how_to_wait) {
    for (const auto mode : {wait_mode::adaptive, wait_mode::block}) {
        run([mode](asio::io_context& context) -> asio::awaitable<void> {
            auto config = basic_pool();
            config.wait = mode;
            pool workers(context, config);
            co_await workers.start();
            const auto value = co_await variable_of_worker(workers, "SKEP_WAIT");
            BOOST_TEST(value == (mode == wait_mode::block ? json::value("block") : json::value()));
            co_await workers.shutdown();
        });
    }
}

BOOST_AUTO_TEST_CASE(is_the_hosts_with_the_pools_laid_over) {
    const variable inherited("HIVE_INHERITED", "from host");
    const variable overridden("HIVE_OVERRIDDEN", "from host");
    auto config = basic_pool();
    config.launch.environment = {{"HIVE_OVERRIDDEN", "from pool"}, {"HIVE_NEW", "a=b c"}, {"HIVE_EMPTY", ""}};
    with_pool(config, [](pool& workers) -> asio::awaitable<void> {
        const auto inherited_value = co_await variable_of_worker(workers, "HIVE_INHERITED");
        BOOST_TEST(inherited_value == "from host");
        const auto overridden_value = co_await variable_of_worker(workers, "HIVE_OVERRIDDEN");
        BOOST_TEST(overridden_value == "from pool");
        const auto new_value = co_await variable_of_worker(workers, "HIVE_NEW");
        BOOST_TEST(new_value == "a=b c");
        const auto empty_value = co_await variable_of_worker(workers, "HIVE_EMPTY");
        BOOST_TEST(empty_value == "");
    });
}

BOOST_AUTO_TEST_CASE(may_differ_from_slot_to_slot) {
    auto config = basic_pool(3);
    config.schedule = scheduling::round_robin;
    config.launch.environment = {{"HIVE_DEVICE", "for all"}};
    config.launch.slot_environment = {{"HIVE_DEVICE", {"0", "1"}}};
    with_pool(config, [](pool& workers) -> asio::awaitable<void> {
        std::map<std::uint32_t, std::string> device_of;
        co_await workers.ready(3);
        for (int i = 0; i < 3; ++i) {
            request call = request("environment").arg("name", "HIVE_DEVICE");
            const auto answer = co_await workers.execute(std::move(call));
            device_of[answer.worker.slot] = answer.value.as_string().c_str();
        }
        BOOST_TEST((device_of == std::map<std::uint32_t, std::string>{{0, "0"}, {1, "1"}, {2, "0"}}));
    });
}

BOOST_AUTO_TEST_CASE(arguments_may_differ_from_slot_to_slot_too) {
    BOOST_TEST(output_of("sh", {"-c", "echo $0 $1"}, {{"--port", "1"}}) == "--port 1\n");
}

BOOST_AUTO_TEST_CASE(limits_numeric_libraries_to_one_thread) {
    const variable unset1("OMP_NUM_THREADS", nullptr);
    const variable unset2("OPENBLAS_NUM_THREADS", nullptr);
    const variable unset3("MKL_NUM_THREADS", nullptr);
    const variable unset4("NUMEXPR_NUM_THREADS", nullptr);
    const variable unset5("VECLIB_MAXIMUM_THREADS", nullptr);
    with_pool(basic_pool(), [](pool& workers) -> asio::awaitable<void> {
        for (const auto& name : thread_limits) {
            const auto value = co_await variable_of_worker(workers, name);
            BOOST_TEST(value == "1", name);
        }
    });
}

BOOST_AUTO_TEST_CASE(leaves_thread_limits_that_the_user_chose) {
    const variable host_chose("OMP_NUM_THREADS", "4");
    const variable both_chose("MKL_NUM_THREADS", "4");
    auto config = basic_pool();
    config.launch.environment = {{"MKL_NUM_THREADS", "3"}, {"OPENBLAS_NUM_THREADS", "2"}};
    with_pool(config, [](pool& workers) -> asio::awaitable<void> {
        const auto of_host = co_await variable_of_worker(workers, "OMP_NUM_THREADS");
        BOOST_TEST(of_host == "4");
        const auto of_both = co_await variable_of_worker(workers, "MKL_NUM_THREADS");
        BOOST_TEST(of_both == "3");
        const auto of_pool = co_await variable_of_worker(workers, "OPENBLAS_NUM_THREADS");
        BOOST_TEST(of_pool == "2");
    });
}

BOOST_AUTO_TEST_CASE(need_not_be_inherited) {
    const variable secret("HIVE_SECRET", "key");
    const variable language("LANG", "C.UTF-8");
    auto config = probe_pool();
    config.launch.inherit_environment = false;
    config.launch.environment = {{"HIVE_NEW", "1"}};
    with_pool(config, [](pool& workers) -> asio::awaitable<void> {
        request call("all_variables");
        const auto names = co_await value_of(workers, std::move(call));
        BOOST_TEST(!has(names, "HIVE_SECRET"));
        for (const auto* name : {"PATH", "HOME", "LANG", "HIVE_NEW", "OMP_NUM_THREADS"}) {
            BOOST_TEST(has(names, name), name);
        }
        for (const auto& name : names.as_array()) {
            const std::string text(name.as_string());
            const bool known = text == "PATH" || text == "HOME" || text == "LANG" || text == "HIVE_NEW" ||
                               text == "PYTHONPATH" || text == "LC_CTYPE" || text.find("SKEP_") == 0 ||
                               text.find("_THREADS") != std::string::npos;
            BOOST_TEST(known, text);
        }
    });
}

BOOST_AUTO_TEST_CASE(hides_the_token_from_user_code_and_its_children) {
    with_pool(probe_pool(), [](pool& workers) -> asio::awaitable<void> {
        for (const auto* command : {"all_variables", "variables_of_child"}) {
            request call(command);
            const auto names = co_await value_of(workers, std::move(call));
            BOOST_TEST(!has(names, "SKEP_TOKEN"), command);
        }
    });
}

BOOST_AUTO_TEST_CASE(does_not_hand_on_the_hosts_own_protocol) {
    const variable token("SKEP_TOKEN", "of the host's host");
    const variable descriptor("SKEP_DATA_FD", "77");
    with_pool(basic_pool(), [](pool& workers) -> asio::awaitable<void> {
        const auto value = co_await variable_of_worker(workers, "SKEP_DATA_FD");
        BOOST_TEST(value == "3");
    });
}

BOOST_AUTO_TEST_CASE(leaves_out_what_systemd_tells_the_host) {
    const variable notify("NOTIFY_SOCKET", "/run/systemd/notify");
    const variable store("FDSTORE", "3");
    const variable watchdog("WATCHDOG_USEC", "30000000");
    const variable watched("WATCHDOG_PID", "1");
    const variable listen("LISTEN_FDS", "1");
    const variable listener("LISTEN_PID", "1");
    const variable names("LISTEN_FDNAMES", "http");
    const variable of_user("LISTEN_ADDRESS", "0.0.0.0");
    auto config = basic_pool();
    config.launch.environment["WATCHDOG_USEC"] = "5";
    with_pool(config, [](pool& workers) -> asio::awaitable<void> {
        for (const auto* name :
             {"NOTIFY_SOCKET", "FDSTORE", "WATCHDOG_PID", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES"}) {
            const auto value = co_await variable_of_worker(workers, name);
            BOOST_TEST(value.is_null(), name);
        }
        const auto address = co_await variable_of_worker(workers, "LISTEN_ADDRESS");
        BOOST_TEST(address == "0.0.0.0");
        const auto of_pool = co_await variable_of_worker(workers, "WATCHDOG_USEC");
        BOOST_TEST(of_pool == "5");
    });
}

BOOST_AUTO_TEST_CASE(lacks_what_is_removed) {
    const variable inherited("HIVE_INHERITED", "from host");
    const variable python_path("PYTHONPATH", "/somewhere/of/the/user");
    auto config = basic_pool();
    for (const auto* name : {"HIVE_INHERITED", "HIVE_NEVER_THERE", "OMP_NUM_THREADS", "PYTHONPATH"}) {
        config.launch.environment[name] = std::nullopt;
    }
    with_pool(config, [](pool& workers) -> asio::awaitable<void> {
        for (const auto* name : {"HIVE_INHERITED", "HIVE_NEVER_THERE", "OMP_NUM_THREADS"}) {
            const auto value = co_await variable_of_worker(workers, name);
            BOOST_TEST(value.is_null(), name);
        }
        const auto limit = co_await variable_of_worker(workers, "MKL_NUM_THREADS");
        BOOST_TEST(limit == "1");
        const auto path = co_await variable_of_worker(workers, "PYTHONPATH");
        BOOST_TEST(!contains(std::string(path.as_string()), "/somewhere/of/the/user"));
    });
}

BOOST_AUTO_TEST_CASE(lacks_what_is_removed_elsewhere) {
    auto config = basic_pool();
    config.launch.preload = false;
    config.launch.transport = transport::stdio;
    config.launch.prefix = {"sh", "-c", "export HIVE_OVER_THERE=1; exec \"$@\"", "sh"};
    config.launch.environment = {{"HIVE_OVER_THERE", std::nullopt},
                                 {"-u", "an odd name"},
                                 {"PYTHONPATH", std::string(SKEP_TEST_DIR) + "/../lib/python"}};
    with_pool(config, [](pool& workers) -> asio::awaitable<void> {
        const auto removed = co_await variable_of_worker(workers, "HIVE_OVER_THERE");
        BOOST_TEST(removed.is_null());
        const auto odd = co_await variable_of_worker(workers, "-u");
        BOOST_TEST(odd == "an odd name");
    });
}

BOOST_AUTO_TEST_CASE(finds_the_python_sdk_by_itself) {
    const variable path("PYTHONPATH", nullptr);
    const variable sdk("SKEP_PYTHON_SDK", nullptr);
    auto config = probe_pool();
    config.launch.inherit_environment = false;
    with_pool(config, [](pool& workers) -> asio::awaitable<void> {
        request call("path_of_sdk");
        const auto folder = co_await value_of(workers, std::move(call));
        const auto path = std::filesystem::path(std::string(folder.as_string()));
        BOOST_TEST(path.filename() == "skep");
        BOOST_TEST(std::filesystem::exists(path / "worker.py"));
    });
}

BOOST_AUTO_TEST_CASE(keeps_the_users_python_path) {
    const variable path("PYTHONPATH", "/somewhere/of/the/user");
    with_pool(basic_pool(), [](pool& workers) -> asio::awaitable<void> {
        const auto value = co_await variable_of_worker(workers, "PYTHONPATH");
        BOOST_TEST(contains(std::string(value.as_string()), ":/somewhere/of/the/user"));
    });
}

BOOST_AUTO_TEST_CASE(has_the_folder_it_was_given) {
    const scratch_folder folder;
    const auto here = std::filesystem::current_path();
    auto config = basic_pool();
    with_pool(config, [&](pool& workers) -> asio::awaitable<void> {
        request call("directory");
        const auto value = co_await value_of(workers, std::move(call));
        BOOST_TEST(std::string(value.as_string()) == here.string());
    });
    config.launch.working_directory = folder.path();
    with_pool(config, [&](pool& workers) -> asio::awaitable<void> {
        request call("directory");
        const auto value = co_await value_of(workers, std::move(call));
        BOOST_TEST(std::string(value.as_string()) == folder.path().string());
    });
}

BOOST_AUTO_TEST_CASE(has_no_descriptors_but_0_to_4) {
    std::vector<int> opened;
    for (int i = 0; i < 20; ++i) {
        opened.push_back(::open("/dev/zero", O_RDONLY)); // lacks O_CLOEXEC, as in many a host
    }
    opened.push_back(::fcntl(opened.front(), F_DUPFD, 500));
    const auto numbers = output_of("/bin/sh", {"-c", "i=0; while [ $i -lt 600 ]; do [ -e /proc/$$/fd/$i ] && "
                                                     "echo -n \"$i \"; i=$((i+1)); done"});
    BOOST_TEST(numbers == "0 1 2 3 4 \n");
    with_pool(basic_pool(), [](pool& workers) -> asio::awaitable<void> {
        request call("descriptors");
        const auto value = co_await value_of(workers, std::move(call));
        for (const auto& entry : value.as_object()) {
            BOOST_TEST(entry.value() != "/dev/zero", entry.key());
        }
        BOOST_TEST(value.as_object().at("0") == "/dev/null");
    });
    for (const int fd : opened) {
        ::close(fd);
    }
}

BOOST_AUTO_TEST_CASE(has_no_ignored_and_no_blocked_signals) {
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    struct sigaction pipe_before {};
    struct sigaction usr1_before {};
    ::sigaction(SIGPIPE, &ignore, &pipe_before);
    ::sigaction(SIGUSR1, &ignore, &usr1_before);
    sigset_t some;
    sigset_t mask_before;
    ::sigemptyset(&some);
    ::sigaddset(&some, SIGTERM);
    ::sigaddset(&some, SIGUSR2);
    ::sigaddset(&some, SIGCHLD);
    ::sigaddset(&some, SIGRTMIN + 3);
    ::pthread_sigmask(SIG_BLOCK, &some, &mask_before);
    const auto lines = output_of("grep", {"-E", "Sig(Ign|Blk)", "/proc/self/status"});
    ::pthread_sigmask(SIG_SETMASK, &mask_before, nullptr);
    ::sigaction(SIGPIPE, &pipe_before, nullptr);
    ::sigaction(SIGUSR1, &usr1_before, nullptr);
    BOOST_TEST(lines == "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
}

BOOST_AUTO_TEST_CASE(goes_by_the_path_of_its_program) {
    const std::vector<std::string> look{"-c", "tr '\\0' '\\n' </proc/$$/cmdline | head -n 1"};
    const auto found = output_of("sh", look);
    BOOST_TEST((found.starts_with("/") && found.ends_with("/sh\n")), found);
    const scratch_folder folder;
    std::filesystem::create_symlink("/bin/sh", folder / "link");
    BOOST_TEST(output_of(folder / "link", look) == folder / "link" + "\n");
}

BOOST_AUTO_TEST_CASE(is_a_session_and_a_process_group_of_its_own) {
    with_pool(basic_pool(2), [](pool& workers) -> asio::awaitable<void> {
        const auto status = co_await workers.status();
        BOOST_TEST(status.workers.size() == 2u);
        for (const auto& worker : status.workers) {
            BOOST_TEST(::getpgid(worker.pid) == worker.pid);
            BOOST_TEST(::getsid(worker.pid) == worker.pid);
        }
    });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
