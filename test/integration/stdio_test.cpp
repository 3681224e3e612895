// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Workers that talk over stdin and stdout, behind something that forwards these or not.

#include "support/run.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

namespace skep::test {

namespace utf = boost::unit_test;

namespace {

std::string python_sdk() {
    return std::string(SKEP_TEST_DIR) + "/../lib/python";
}

pool_config stdio_pool(std::size_t workers = 1, const std::string& script = "integration/workers/basic.py") {
    auto config = quick(python_pool(script, workers));
    config.launch.preload = false;
    config.launch.transport = transport::stdio;
    return config;
}

/// Behind a program that starts the worker out of reach: without our environment, in a session of its own.
pool_config forwarded(pool_config config, std::vector<std::string> options = {}) {
    config.launch.environment["PYTHONPATH"] = python_sdk();
    config.launch.prefix = {SKEP_TEST_PYTHON,
                            std::string(SKEP_TEST_DIR) + "/integration/workers/forwarder.py"};
    config.launch.prefix.insert(config.launch.prefix.end(), options.begin(), options.end());
    config.launch.prefix.push_back("--");
    return config;
}

void check_mentions(const error& problem, const std::string& words) {
    BOOST_TEST(contains(problem.what(), words), words << " in: " << problem.what());
}

/// What every worker does, wherever it is.
asio::awaitable<void> use(pool& workers) {
    auto call = request("add").arg("a", 2).arg("b", 40);
    const auto sum = co_await value_of(workers, std::move(call));
    BOOST_TEST(sum == 42);

    call = request("reverse");
    std::vector<std::byte> large(3'000'000);
    large.front() = std::byte(7);
    call.attach(blob(large));
    const auto reversed = co_await workers.execute(std::move(call));
    std::reverse(large.begin(), large.end());
    BOOST_REQUIRE(reversed.attachments.size() == 1u);
    BOOST_TEST((reversed.attachments[0] == blob(large)));

    call = request("say").arg("text", "to stdout");
    co_await workers.execute(std::move(call));
    call = request("fail").arg("message", "as it should");
    const auto problem = co_await failure_of(workers.execute(std::move(call)));
    BOOST_TEST(problem.kind() == errc::remote_error);

    call = request("environment").arg("name", "SKEP_WORKER");
    const auto name = co_await value_of(workers, std::move(call));
    BOOST_TEST(contains(std::string(name.as_string()), "default/"));
    call = request("environment").arg("name", "SKEP_TOKEN");
    const auto token = co_await value_of(workers, std::move(call));
    BOOST_TEST(token.is_null());
}

} // namespace

BOOST_AUTO_TEST_SUITE(stdio)

BOOST_AUTO_TEST_CASE(calls_and_attachments_and_what_is_printed) {
    auto config = stdio_pool();
    std::string printed;
    config.output.handler = [&](const output_line& line) { printed += line.text; };
    with_pool(config, use);
    BOOST_TEST(contains(printed, "to stdout"));
}

BOOST_AUTO_TEST_CASE(a_stream) {
    with_pool(stdio_pool(1, "integration/workers/streams.py"), [](pool& workers) -> asio::awaitable<void> {
        auto call = request("count").arg("to", 1000);
        auto stream = co_await workers.stream(std::move(call));
        int expected = 0;
        while (const auto piece = co_await stream.next()) {
            BOOST_REQUIRE_EQUAL(piece->as<int>(), expected++);
        }
        BOOST_TEST(stream.result().as<int>() == 1000);
    });
}

BOOST_AUTO_TEST_CASE(a_stream_that_is_left_frees_its_worker) {
    with_pool(stdio_pool(1, "integration/workers/streams.py"), [](pool& workers) -> asio::awaitable<void> {
        {
            auto call = request("count").arg("to", 1'000'000'000);
            auto stream = co_await workers.stream(std::move(call));
            const auto first = co_await stream.next();
            BOOST_TEST(first->as<int>() == 0);
        }
        const auto cleaned = co_await workers.execute<int>("cleanups");
        BOOST_TEST(cleaned == 1);
    });
}

BOOST_AUTO_TEST_CASE(it_inherits_no_descriptor_and_is_not_measured) {
    const scratch_folder folder;
    const int lowest = ::open((folder / "file").c_str(), O_CREAT | O_RDWR, 0600); // inheritable
    BOOST_REQUIRE_EQUAL(lowest, 3);
    with_pool(stdio_pool(), [&](pool& workers) -> asio::awaitable<void> {
        auto call = request("descriptors");
        const auto open = co_await value_of(workers, std::move(call));
        std::size_t sockets = 0;
        for (const auto& [number, target] : open.as_object()) {
            sockets += target.as_string().starts_with("socket:") ? 1 : 0;
            BOOST_TEST(!target.as_string().starts_with(folder.path().string()), open);
        }
        BOOST_TEST(sockets == 2u, open); // one for each direction, of the same pair
        const auto status = co_await workers.status();
        BOOST_TEST(status.workers.at(0).resident_bytes == 0u);
    });
    ::close(lowest);
}

BOOST_AUTO_TEST_CASE(a_call_that_is_cancelled_ends_in_time_and_the_worker_hears_of_it) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        pool workers(context.get_executor(), forwarded(stdio_pool()));
        co_await workers.start();
        const auto far = co_await pid_of(workers);
        auto call = request("sleep").arg("seconds", 1000);
        const auto sleeping = begin_call(context, workers, std::move(call));
        auto is_busy = [&workers]() -> asio::awaitable<bool> {
            const auto status = co_await workers.status();
            co_return status.workers.at(0).load == 1;
        };
        const bool busy = co_await eventually(is_busy);
        BOOST_TEST(busy);
        sleeping->cancel.emit(asio::cancellation_type::terminal);
        const bool ended = co_await is_ended(sleeping);
        BOOST_TEST(ended);
        const auto next = co_await pid_of(workers); // it listens, although there is one channel only
        BOOST_TEST(next == far);
        co_await workers.shutdown();
    });
}

namespace {

pool_config lying_pool(std::vector<std::string> lie) {
    auto config = stdio_pool(1, "integration/workers/stdio_liar.py");
    config.launch.args.insert(config.launch.args.end(), lie.begin(), lie.end());
    config.stop.shutdown_grace = config.stop.term_grace = 100ms;
    return config;
}

/// Nothing in it acts on a terminal, but for the ends of its lines: no control of C0 or C1.
bool is_plain(std::string_view text) {
    unsigned char before = 0;
    return std::none_of(text.begin(), text.end(), [&before](unsigned char c) {
        const bool is_c1 = std::exchange(before, c) == 0xC2 && c < 0xA0;
        return (c < ' ' && c != '\n' && c != '\t') || c == 0x7F || is_c1;
    });
}

} // namespace

BOOST_AUTO_TEST_CASE(what_comes_instead_of_a_hello_is_told) {
    struct row {
        std::string lie;
        std::string says;
    };
    for (const auto& [lie, says] :
         std::vector<row>{{"garbage", "something printed to its stdout, over which only frames may go"},
                          {"greeting", R"(only frames may go: "Welcome to host")"},
                          {"title", R"(only frames may go: "\x1b]0;owned\x07\u009b2J\u202egreen\xff")"},
                          {"endless line", "only frames may go: \"xxxxxxxx"},
                          {"endless spaces", "only frames may go: \"        "},
                          {"half", "before it was ready"},
                          {"half and silence", "it did not say hello in time"},
                          {"length alone", "it did not say hello in time"},
                          {"huge", "it did not say hello in time"}}) {
        auto config = lying_pool({lie});
        if (contains(says, "in time")) {
            config.start.timeout = 2s;
        }
        const auto problem = start_failure(std::move(config));
        check_mentions(problem, says);
        BOOST_TEST(is_plain(problem.what()), problem.what());
    }
}

BOOST_AUTO_TEST_CASE(what_comes_instead_of_an_answer_costs_the_call_alone) {
    std::vector<std::string> lies{"garbage", "greeting",         "title", "endless line", "endless spaces",
                                  "half",    "half and silence", "huge"};
    for (int seed = 0; seed < 25; ++seed) {
        lies.push_back(std::to_string(seed));
    }
    for (const auto& lie : lies) {
        auto config = lying_pool({"--at-call", lie});
        config.cancel_grace = 50ms;
        config.restart.initial_backoff = 1ms;
        with_pool(config, [&](pool& workers) -> asio::awaitable<void> {
            for (int i = 0; i < 2; ++i) { // the next worker lies in the same way
                auto call = request("add").timeout(300ms);
                try {
                    const auto answer = co_await workers.execute(std::move(call));
                    BOOST_TEST(answer.value.is_null());
                } catch (const error& failure) {
                    const bool is_expected =
                        failure.kind() == errc::worker_lost || failure.kind() == errc::timeout ||
                        failure.kind() == errc::remote_error || failure.kind() == errc::poisonous_request ||
                        failure.kind() == errc::no_worker || failure.kind() == errc::queue_timeout;
                    BOOST_TEST(is_expected, lie << ": " << failure.what());
                    BOOST_TEST(is_plain(failure.what()), lie << ": " << failure.what());
                }
            }
        });
    }
}

BOOST_AUTO_TEST_SUITE(behind_a_prefix)

BOOST_AUTO_TEST_CASE(nothing_is_different) {
    auto config = forwarded(stdio_pool(2));
    std::string printed;
    config.output.handler = [&](const output_line& line) { printed += line.text; };
    with_pool(config, use);
    BOOST_TEST(contains(printed, "to stdout"));
}

BOOST_AUTO_TEST_CASE(over_sockets_too) {
    auto config = basic_pool();
    config.launch.prefix = {"nice", "-n", "1"};
    with_pool(config, [](pool& workers) -> asio::awaitable<void> {
        auto call = request("environment").arg("name", "SKEP_CONTROL_FD");
        const auto answer = co_await value_of(workers, std::move(call));
        BOOST_TEST(answer == "4");
        const auto status = co_await workers.status();
        BOOST_TEST(status.workers.at(0).resident_bytes > 0u);
    });
}

BOOST_AUTO_TEST_CASE(the_environment_goes_along_as_words) {
    const std::string hard = "a 'b' \"c\" $HOME `ls` \\ ;\n*";
    for (const bool by_shell : {false, true}) {
        std::vector<std::string> options;
        if (by_shell) {
            options = {"--shell", "yes"};
        }
        auto config = forwarded(stdio_pool(), options);
        config.launch.remote_shell = by_shell;
        config.launch.environment["HARD"] = hard;
        config.launch.slot_environment["DEVICE"] = {"7"};
        config.launch.args.push_back(hard);
        with_pool(config, [&](pool& workers) -> asio::awaitable<void> {
            const std::string all =
                "[os.environ['HARD'], sys.argv[1], os.environ['DEVICE'], os.environ['OMP_NUM_THREADS']]";
            auto call = request("evaluate").arg("expression", all);
            const auto seen = co_await value_of(workers, std::move(call));
            BOOST_TEST(seen == (json::array{hard, hard, "7", "1"}));
        });
    }
}

BOOST_AUTO_TEST_CASE(what_dies_in_the_middle_takes_its_worker_along) {
    auto config = forwarded(stdio_pool(), {"--dies-at", "die here"});
    with_pool(config, [](pool& workers) -> asio::awaitable<void> {
        const auto far = co_await pid_of(workers);
        auto call = request("echo").arg("value", "and now die here");
        const auto problem = co_await failure_of(workers.execute(std::move(call)));
        BOOST_TEST(problem.kind() == errc::worker_lost);
        check_mentions(problem, "exit code 255");
        const bool gone = co_await is_gone(far);
        BOOST_TEST(gone);
        const auto next = co_await pid_of(workers);
        BOOST_TEST(next != far);
    });
}

BOOST_AUTO_TEST_CASE(what_hangs_is_found_by_pings) {
    auto config = forwarded(stdio_pool(), {"--hangs-at", "hang here"});
    config.heartbeat.interval = 50ms;
    config.heartbeat.timeout = 200ms;
    config.heartbeat.misses = 2;
    with_pool(config, [](pool& workers) -> asio::awaitable<void> {
        const auto far = co_await pid_of(workers);
        auto call = request("echo").arg("value", "hang here").timeout(200ms);
        const auto problem = co_await failure_of(workers.execute(std::move(call)));
        BOOST_TEST(problem.kind() == errc::timeout);
        const bool gone = co_await is_gone(far);
        BOOST_TEST(gone);
        const auto next = co_await pid_of(workers);
        BOOST_TEST(next != far);
    });
}

BOOST_AUTO_TEST_CASE(what_hangs_from_the_start_is_given_up) {
    auto config = stdio_pool();
    config.launch.prefix = {"sh", "-c", "exec sleep 1000"};
    config.start.timeout = 300ms;
    check_mentions(start_failure(config), "it did not say hello in time");
}

BOOST_AUTO_TEST_CASE(what_prints_is_quoted) {
    const std::string greeting = "Welcome to \x1b[1mhost\x1b[0m!\nHave a nice day\n";
    check_mentions(start_failure(forwarded(stdio_pool(), {"--print", greeting})),
                   "something printed to its stdout, over which only frames may go: "
                   "\"Welcome to \\x1b[1mhost\\x1b[0m!\"");
}

BOOST_AUTO_TEST_CASE(even_if_it_then_ends) {
    auto config = stdio_pool();
    config.launch.prefix = {"sh", "-c", "echo hi"};
    check_mentions(start_failure(config), "only frames may go: \"hi\"");
}

BOOST_AUTO_TEST_CASE(what_does_not_exist_is_named) {
    auto config = stdio_pool();
    config.launch.prefix = {"no-such-program", "-T"};
    check_mentions(start_failure(config), "'no-such-program' was not found in PATH");
    check_mentions(start_failure(config), "launch.prefix");
}

BOOST_AUTO_TEST_SUITE_END()

namespace {

/// A server of ssh's that lets this user in, for the lifetime of this object.
class ssh_server {
public:
    ssh_server() : keeper_(::popen(command().c_str(), "w")) {
        BOOST_REQUIRE(keeper_ != nullptr);
        for (int i = 0; i < 2000 && !std::filesystem::exists(client_config()); ++i) {
            std::this_thread::sleep_for(10ms);
        }
        BOOST_REQUIRE_MESSAGE(std::filesystem::exists(client_config()), "the ssh server did not come up");
    }
    ~ssh_server() { ::pclose(keeper_); }
    ssh_server(const ssh_server&) = delete;
    ssh_server& operator=(const ssh_server&) = delete;

    std::string client_config() const { return folder_ / "ssh_config"; }

private:
    std::string command() const {
        return std::string(SKEP_TEST_PYTHON) + " " + SKEP_TEST_DIR + "/support/ssh_fixture " +
               folder_.path().string();
    }

    scratch_folder folder_;
    std::FILE* keeper_;
};

boost::test_tools::assertion_result has_ssh_server(utf::test_unit_id) {
    const bool there = std::system("PATH=$PATH:/usr/sbin; command -v sshd ssh ssh-keygen >/dev/null") == 0;
    boost::test_tools::assertion_result result(there);
    result.message() << "there is no sshd";
    return result;
}

pool_config over_ssh(const ssh_server& server, pool_config config) {
    config.launch.environment["PYTHONPATH"] = python_sdk();
    config.launch.prefix = {"ssh", "-F", server.client_config(), "-T", "elsewhere"};
    config.launch.remote_shell = true;
    return config;
}

} // namespace

BOOST_AUTO_TEST_SUITE(ssh, *utf::precondition(has_ssh_server))

BOOST_AUTO_TEST_CASE(workers_elsewhere) {
    const ssh_server server;
    auto config = over_ssh(server, stdio_pool(2));
    std::string printed;
    config.output.handler = [&](const output_line& line) { printed += line.text; };
    with_pool(config, use);
    BOOST_TEST(contains(printed, "to stdout"));
}

BOOST_AUTO_TEST_CASE(a_connection_that_breaks_is_replaced) {
    const ssh_server server;
    with_pool(over_ssh(server, stdio_pool()), [](pool& workers) -> asio::awaitable<void> {
        const auto far = co_await pid_of(workers);
        const auto status = co_await workers.status();
        BOOST_TEST(status.workers.at(0).pid != far);
        ::kill(status.workers.at(0).pid, SIGKILL);
        const bool gone = co_await is_gone(far);
        BOOST_TEST(gone);
        const auto next = co_await pid_of(workers);
        BOOST_TEST(next != far);
    });
}

BOOST_AUTO_TEST_CASE(a_worker_that_ends_is_replaced) {
    const ssh_server server;
    with_pool(over_ssh(server, stdio_pool()), [](pool& workers) -> asio::awaitable<void> {
        auto call = request("die");
        const auto problem = co_await failure_of(workers.execute(std::move(call)));
        BOOST_TEST(problem.kind() == errc::worker_lost);
        const auto next = co_await pid_of(workers);
        BOOST_TEST(next > 0);
    });
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
