// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/launch_command.hpp"

#include <boost/test/unit_test.hpp>

namespace skep::test {

BOOST_AUTO_TEST_SUITE(launch_commands)

namespace {

using words = std::vector<std::string>;

launch_options launched(words prefix, transport kind = transport::stdio) {
    launch_options launch;
    launch.program = "python3";
    launch.args = {"worker.py", "two words"};
    launch.prefix = std::move(prefix);
    launch.transport = kind;
    return launch;
}

const words environment{"SKEP_PROTOCOL=1", "GREETING=it's me"};

} // namespace

BOOST_AUTO_TEST_CASE(without_a_prefix_it_is_the_program) {
    const words expected{"python3", "worker.py", "two words"};
    for (const auto kind : {transport::socket, transport::stdio}) {
        const auto launch = launched({}, kind);
        BOOST_TEST(!is_forwarded(launch));
        BOOST_TEST((launch_command(launch, environment) == expected));
    }
}

BOOST_AUTO_TEST_CASE(over_sockets_a_prefix_passes_the_environment_on) {
    const auto launch = launched({"nice", "-n", "1"}, transport::socket);
    const words expected{"nice", "-n", "1", "python3", "worker.py", "two words"};
    BOOST_TEST(!is_forwarded(launch));
    BOOST_TEST((launch_command(launch, environment) == expected));
}

BOOST_AUTO_TEST_CASE(over_stdio_the_environment_follows_the_prefix) {
    const auto launch = launched({"docker", "run", "-i", "my image"});
    const words expected{"docker",           "run",     "-i",        "my image", "env", "SKEP_PROTOCOL=1",
                         "GREETING=it's me", "python3", "worker.py", "two words"};
    BOOST_TEST(is_forwarded(launch));
    BOOST_TEST((launch_command(launch, environment) == expected));
}

BOOST_AUTO_TEST_CASE(for_a_remote_shell_what_follows_the_prefix_is_quoted) {
    auto launch = launched({"ssh", "-T", "my host"});
    launch.remote_shell = true;
    const words expected{
        "ssh",     "-T",        "my host",    "env", "SKEP_PROTOCOL=1", "'GREETING=it'\\''s me'",
        "python3", "worker.py", "'two words'"};
    BOOST_TEST((launch_command(launch, environment) == expected));
}

BOOST_AUTO_TEST_CASE(words_as_a_shell_reads_them) {
    struct row {
        std::string_view word;
        std::string_view quoted;
    };
    for (const auto& row : std::vector<row>{{"", "''"},
                                            {"plain", "plain"},
                                            {"A=b:c,d@e%f+g/h-i_j.k", "A=b:c,d@e%f+g/h-i_j.k"},
                                            {"two words", "'two words'"},
                                            {"~", "'~'"},
                                            {"$HOME", "'$HOME'"},
                                            {"`ls`", "'`ls`'"},
                                            {"a\nb", "'a\nb'"},
                                            {"a;b&c|d<e>f(g)*?[]{}#!\\\"", "'a;b&c|d<e>f(g)*?[]{}#!\\\"'"},
                                            {"'", "''\\'''"},
                                            {"\xc3\xbc", "'\xc3\xbc'"}}) {
        BOOST_TEST(quoted_for_shell(row.word) == row.quoted);
    }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
