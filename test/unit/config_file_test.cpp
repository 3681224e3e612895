// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Configurations read from files: errors with their place, relative paths, references to the environment.

#include "support/config.hpp"
#include "support/environment_variable.hpp"
#include "support/run.hpp"
#include "support/text.hpp"
#include <skep/pool_manager.hpp>

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

using namespace skep;
using namespace skep::test;

BOOST_AUTO_TEST_SUITE(config_file_test)

namespace {

namespace fs = std::filesystem;

/// A folder with a configuration file and a folder `sub`.
class config_folder {
public:
    explicit config_folder(const std::string& text) {
        write_file(file(), text);
        fs::create_directory(path() / "sub");
    }

    fs::path path() const { return folder_.path(); }
    std::string file() const { return folder_ / "config.json"; }
    pool_config pool() const { return pool_config::from_file(file()); }

    /// Returns the text of the error, without its head and the path of the file.
    std::string problem() const {
        const auto text = complaint([&] { pool(); });
        const auto head = "invalid configuration: " + file() + ": ";
        BOOST_REQUIRE_MESSAGE(text.starts_with(head), text);
        return text.substr(head.size());
    }

private:
    scratch_folder folder_;
};

/// A file of a pool with one more member.
config_folder folder_with(const std::string& member) {
    return config_folder(R"({"launch": {"program": "p"}, )" + member + "}");
}

config_folder folder_with_launch(const std::string& launch) {
    return config_folder(R"({"launch": )" + launch + "}");
}

} // namespace

BOOST_AUTO_TEST_CASE(a_file_is_read_as_its_json) {
    const auto folder = folder_with(R"("name": "blue", "request_timeout": "1.5s")");
    const auto config = folder.pool();
    BOOST_TEST(config.name == "blue");
    BOOST_TEST((config.request_timeout == std::chrono::milliseconds(1500)));
}

BOOST_AUTO_TEST_CASE(a_file_that_cannot_be_read_is_named_with_the_cause) {
    const auto head = std::string("invalid configuration: ");
    BOOST_TEST(complaint([] { pool_config::from_file("/no/such/file"); }) ==
               head + "/no/such/file: cannot be read: No such file or directory");
    BOOST_TEST(complaint([] { pool_config::from_file("/"); }) == head + "/: cannot be read: Is a directory");
    BOOST_TEST(complaint([] { manager_config::from_file(""); }) ==
               head + ": cannot be read: No such file or directory");
}

BOOST_AUTO_TEST_CASE(a_syntax_error_has_line_and_column) {
    BOOST_TEST(config_folder("{\"launch\":\n  {\"program\" \"x\"}}").problem() ==
               "line 2, column 14: is no JSON: syntax error");
    BOOST_TEST(config_folder("").problem() == "line 1, column 1: is no JSON: incomplete JSON");
    BOOST_TEST(config_folder("{}\n{}").problem() == "line 2, column 1: is no JSON: extra data");
    BOOST_TEST(config_folder("[]\n").problem() == "the document: must be a JSON object");
}

BOOST_AUTO_TEST_CASE(problems_name_the_file_once) {
    BOOST_TEST(folder_with(R"("queue": {"limit": -1})").problem() == "queue.limit = -1: must be 0..10000000");
    BOOST_TEST(folder_with(R"("queue": {"limit": -1, "timout": "5s"})").problem() ==
               "2 problems\n  queue.limit = -1: must be 0..10000000\n"
               "  queue.timout: is not a known key; did you mean queue.timeout?");
}

BOOST_AUTO_TEST_CASE(the_working_directory_is_the_folder_of_the_file) {
    const auto folder = folder_with_launch(R"({"program": "python3", "args": ["worker.py"]})");
    const auto launch = folder.pool().launch;
    BOOST_TEST(launch.working_directory == folder.path());
    BOOST_TEST(launch.program == "python3");
    BOOST_TEST(launch.args.at(0) == "worker.py");
}

BOOST_AUTO_TEST_CASE(a_relative_working_directory_counts_from_the_file) {
    const auto folder = folder_with_launch(R"({"program": "p", "working_directory": "sub"})");
    BOOST_TEST(folder.pool().launch.working_directory == folder.path() / "sub");
    BOOST_TEST(
        folder_with_launch(R"({"program": "p", "working_directory": "/"})").pool().launch.working_directory ==
        "/");
    const auto missing = folder_with_launch(R"({"program": "p", "working_directory": "none"})");
    BOOST_TEST(missing.problem() == "launch.working_directory = \"" + (missing.path() / "none").string() +
                                        "\": is not a directory");
}

BOOST_AUTO_TEST_CASE(a_relative_file_has_an_absolute_folder) {
    const auto folder = folder_with_launch(R"({"program": "bin/p"})");
    const auto relative = fs::relative(folder.file(), fs::current_path());
    const auto launch = pool_config::from_file(relative).launch;
    BOOST_TEST(launch.working_directory.is_absolute());
    BOOST_TEST(fs::equivalent(launch.working_directory, folder.path()));
}

BOOST_AUTO_TEST_CASE(a_program_with_a_slash_counts_from_the_file) {
    const auto inside = folder_with_launch(R"({"program": "bin/p", "working_directory": "sub"})");
    BOOST_TEST(inside.pool().launch.program == (inside.path() / "bin/p").string());
    BOOST_TEST(folder_with_launch(R"({"program": "/bin/p"})").pool().launch.program == "/bin/p");
}

BOOST_AUTO_TEST_CASE(of_a_prefixed_command_only_the_prefix_counts_from_the_file) {
    const auto folder = folder_with_launch(R"({"program": "bin/p", "prefix": ["./wrap", "a/b"]})");
    const auto launch = folder.pool().launch;
    BOOST_TEST(launch.prefix.at(0) == (folder.path() / "./wrap").string());
    BOOST_TEST(launch.prefix.at(1) == "a/b");
    BOOST_TEST(launch.program == "bin/p");
}

BOOST_AUTO_TEST_CASE(paths_of_pools_and_their_defaults_count_from_the_file) {
    const config_folder folder(R"({"defaults": {"launch": {"program": "bin/p", "working_directory": "sub"}},
        "pools": [{"name": "a"}, {"name": "b", "launch": {"working_directory": "."}}]})");
    const auto pools = manager_config::from_file(folder.file()).pools;
    BOOST_TEST(pools.at(0).launch.working_directory == folder.path() / "sub");
    BOOST_TEST(pools.at(1).launch.working_directory == folder.path() / ".");
    BOOST_TEST(pools.at(1).launch.program == (folder.path() / "bin/p").string());
}

BOOST_AUTO_TEST_CASE(problems_of_pools_have_their_file_and_path) {
    const config_folder folder(R"({"pools": [{"launch": {"program": "p", "working_directory": "none"}}]})");
    const auto text = complaint([&] { manager_config::from_file(folder.file()); });
    BOOST_TEST(text.starts_with("invalid configuration: " + folder.file() +
                                ": pools[0].launch.working_directory = "),
               text);
}

BOOST_AUTO_TEST_CASE(from_json_takes_paths_and_dollars_as_they_are) {
    const auto config =
        pool_config::from_json({{"launch", {{"program", "bin/p"}, {"args", {"${HOME}", "$$"}}}}});
    BOOST_TEST(config.launch.program == "bin/p");
    BOOST_TEST(config.launch.working_directory.empty());
    BOOST_TEST(config.launch.args.at(0) == "${HOME}");
    BOOST_TEST(config.launch.args.at(1) == "$$");
}

BOOST_AUTO_TEST_CASE(strings_refer_to_the_environment) {
    const variable set("SKEP_TEST_SET", "blue");
    const variable empty("SKEP_TEST_EMPTY", "");
    const variable unset("SKEP_TEST_UNSET", nullptr);
    const auto folder = folder_with_launch(R"({"program": "p", "args": [
        "${SKEP_TEST_SET}", "a-${SKEP_TEST_SET}-${SKEP_TEST_SET}.b", "[${SKEP_TEST_EMPTY}]",
        "${SKEP_TEST_EMPTY:-red}", "${SKEP_TEST_UNSET:-red}", "${SKEP_TEST_UNSET:-}", "${SKEP_TEST_SET:-red}",
        "${SKEP_TEST_UNSET:-a:-b $x}"],
        "environment": {"${SKEP_TEST_SET}": "${SKEP_TEST_SET}"}})");
    const auto launch = folder.pool().launch;
    const std::vector<std::string> expected = {"blue", "a-blue-blue.b", "[]",     "red", "red",
                                               "",     "blue",          "a:-b $x"};
    BOOST_TEST(launch.args == expected, boost::test_tools::per_element());
    BOOST_TEST(launch.environment.begin()->first == "${SKEP_TEST_SET}"); // a key is no reference
    BOOST_TEST(launch.environment.begin()->second.value() == "blue");
}

BOOST_AUTO_TEST_CASE(a_value_is_not_searched_for_references) {
    const variable outer("SKEP_TEST_SET", "${SKEP_TEST_UNSET} $$");
    const variable unset("SKEP_TEST_UNSET", nullptr);
    BOOST_TEST(
        folder_with_launch(R"({"program": "p", "args": ["${SKEP_TEST_SET}"]})").pool().launch.args.at(0) ==
        "${SKEP_TEST_UNSET} $$");
}

BOOST_AUTO_TEST_CASE(two_dollars_stand_for_one) {
    const auto launch =
        folder_with_launch(R"({"program": "p", "args": ["$${HOME}", "$$", "$", "a$b $1 {}", "$$$$x"]})")
            .pool()
            .launch;
    const std::vector<std::string> expected = {"${HOME}", "$", "$", "a$b $1 {}", "$$x"};
    BOOST_TEST(launch.args == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_variable_that_is_not_set_is_named_with_its_field) {
    const variable secret("SKEP_TEST_SET", "s3cret");
    const variable unset("SKEP_TEST_UNSET", nullptr);
    const auto folder = folder_with_launch(
        R"({"program": "p", "args": ["x", "${SKEP_TEST_UNSET}"],
            "environment": {"TOKEN": "${SKEP_TEST_SET}${SKEP_TEST_UNSET}"}})");
    BOOST_TEST(folder.problem() ==
               "2 problems\n"
               "  launch.args[1]: the environment variable SKEP_TEST_UNSET is not set; set it, or write a "
               "default: ${SKEP_TEST_UNSET:-default}\n"
               "  launch.environment.TOKEN: the environment variable SKEP_TEST_UNSET is not set; set it, or "
               "write a default: ${SKEP_TEST_UNSET:-default}");
}

BOOST_AUTO_TEST_CASE(a_bad_reference_is_refused_with_its_field) {
    for (const auto* const text : {"${", "${}", "${A", "${1A}", "${A B}", "${A-b}", "${A:?b}", "${:-b}",
                                   "${a.b}", "${A:-${B}}", "$${A} ${"}) {
        const auto text_of_error = folder_with(R"("name": ")" + std::string(text) + '"').problem();
        BOOST_TEST(text_of_error.starts_with("name: a reference is ${NAME} or ${NAME:-default}"), text);
        BOOST_TEST(contains(text_of_error, "write $$"), text);
    }
}

BOOST_AUTO_TEST_CASE(a_value_must_be_utf8) {
    const variable bad("SKEP_TEST_SET", "s3cret\xff");
    const auto text_of_error = folder_with(R"("name": "${SKEP_TEST_SET}")").problem();
    BOOST_TEST(text_of_error == "name: the value of the environment variable SKEP_TEST_SET is not UTF-8");
}

BOOST_AUTO_TEST_CASE(a_number_is_no_reference) {
    const variable four("SKEP_TEST_SET", "4");
    BOOST_TEST(folder_with(R"("workers": "${SKEP_TEST_SET}")").problem() ==
               "workers = \"4\": must be an integer");
    BOOST_TEST((folder_with(R"("request_timeout": "${SKEP_TEST_SET}s")").pool().request_timeout ==
                std::chrono::seconds(4)));
}

BOOST_AUTO_TEST_SUITE_END()
