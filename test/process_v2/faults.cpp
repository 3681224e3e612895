// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Why skep starts, awaits and signals its workers itself: what Boost.Process v2 does there, by version. The
// table in lib/process/README.md says the same; where a version behaves otherwise, this fails and the table
// wants a new look.

#define BOOST_TEST_MODULE process_v2
#include <boost/asio/io_context.hpp>
#include <boost/process/v2/environment.hpp>
#include <boost/process/v2/exit_code.hpp>
#include <boost/process/v2/process.hpp>
#include <boost/test/unit_test.hpp>
#include <boost/version.hpp>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace {

namespace asio = boost::asio;
namespace v2 = boost::process::v2;

constexpr bool is_before(int minor) {
    return BOOST_VERSION / 100 % 1000 < minor;
}

using words = std::vector<std::string>;

/// Whether this process has a child that nobody has collected. Waits for the end of it.
bool has_child() {
    siginfo_t info{};
    return ::waitid(P_ALL, 0, &info, WEXITED | WNOWAIT) == 0;
}

/// How a child ends that does what `script` says.
int native_status_of(const std::string& script) {
    asio::io_context context;
    v2::process child(context, "/bin/sh", words{"-c", script});
    child.wait();
    return child.native_exit_code();
}

} // namespace

// What skep uses.
BOOST_AUTO_TEST_CASE(an_entry_of_the_environment_is_split_at_its_first_equals_sign) {
    const v2::environment::key_value_pair_view entry("NAME=a=b");
    BOOST_TEST(entry.key().string() == "NAME");
    BOOST_TEST(entry.value().string() == "a=b");
}

BOOST_AUTO_TEST_CASE(an_exit_code_does_not_tell_an_exit_from_a_signal) {
    const int exited = native_status_of("exit 9");
    const int killed = native_status_of("kill -9 $$");
    BOOST_TEST(exited != killed);
    BOOST_TEST(v2::evaluate_exit_code(exited) == v2::evaluate_exit_code(killed));
}

BOOST_AUTO_TEST_CASE(the_look_up_counts_from_the_directory_of_the_moment) {
    std::array<char, 32> folder{"/tmp/skep-v2-XXXXXX"};
    BOOST_TEST_REQUIRE(::mkdtemp(folder.data()) != nullptr);
    const std::string program = std::string(folder.data()) + "/skep-here";
    ::close(::open(program.c_str(), O_CREAT | O_WRONLY, 0700));
    BOOST_TEST_REQUIRE(::chdir(folder.data()) == 0);
    const std::vector<v2::environment::key_value_pair> environment{"PATH=/nowhere::/nowhere"};
    BOOST_TEST(v2::environment::find_executable("skep-here", environment) == "skep-here");
    ::unlink(program.c_str());
    ::chdir("/");
    ::rmdir(folder.data());
}

BOOST_AUTO_TEST_CASE(a_process_that_is_destroyed_is_killed_and_waited_for) {
    pid_t pid = 0;
    {
        asio::io_context context;
        v2::process child(context, "/bin/sleep", words{"600"});
        pid = child.id();
    }
    BOOST_TEST(::kill(pid, 0) != 0);
    BOOST_TEST(errno == ESRCH);
}

BOOST_AUTO_TEST_CASE(of_two_waits_the_second_loses_the_status) {
    asio::io_context context;
    v2::process child(context, "/bin/sh", words{"-c", "exit 3"});
    std::vector<boost::system::error_code> results;
    const auto note = [&](const boost::system::error_code& ec, int) { results.push_back(ec); };
    child.async_wait(note);
    child.async_wait(note);
    context.run();
    BOOST_TEST_REQUIRE(results.size() == 2u);
    BOOST_TEST(!results[0]);
    BOOST_TEST(results[1].value() == ECHILD);
}

BOOST_AUTO_TEST_CASE(a_status_that_another_has_taken_is_an_exception) {
    asio::io_context context;
    v2::process child(context, "/bin/true", words{});
    ::waitpid(child.id(), nullptr, 0);
    BOOST_CHECK_THROW(child.running(), boost::system::system_error);
    child.detach();
}

BOOST_AUTO_TEST_CASE(a_launch_that_fails_leaves_a_zombie) {
    BOOST_TEST_REQUIRE(!has_child());
    asio::io_context context;
    BOOST_CHECK_THROW(v2::process(context, "/nowhere/program", words{}), boost::system::system_error);
    BOOST_TEST(has_child() == is_before(88));
    ::waitpid(-1, nullptr, WNOHANG);
}

BOOST_AUTO_TEST_CASE(a_descriptor_of_the_host_reaches_the_child) {
    const int held = ::open("/dev/null", O_RDONLY); // as a library opens it: no O_CLOEXEC
    BOOST_TEST_REQUIRE(held >= 0);
    const int three = ::fcntl(held, F_DUPFD, 3);
    ::dup2(held, 3);
    const int status = native_status_of("test -e /proc/$$/fd/3");
    BOOST_TEST((v2::evaluate_exit_code(status) == 0) == is_before(85));
    ::close(3);
    ::close(three);
}
