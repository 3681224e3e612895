// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// The error texts that the guides quote are those that users get.

#include "support/environment_variable.hpp"
#include "support/run.hpp"

#include <boost/json/parse.hpp>

#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>

namespace skep::test {

namespace {

constexpr const char* core_guide = "core/README.md";
constexpr const char* pool_guide = "pool/README.md";
constexpr const char* python_guide = "python/README.md";

std::string text_of_guide(const std::string& guide) {
    std::ifstream file(std::string(SKEP_TEST_DIR) + "/../lib/" + guide);
    BOOST_REQUIRE(file);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// The blocks of that language in the section of the guide under `heading`.
std::vector<std::string> blocks(const std::string& guide, const std::string& heading,
                                const std::string& language) {
    const auto text = text_of_guide(guide);
    const auto begin = text.find("\n## " + heading + "\n");
    BOOST_REQUIRE_MESSAGE(begin != std::string::npos, guide << " has no section '" << heading << "'");
    const auto section = text.substr(begin, text.find("\n## ", begin + 1) - begin);
    const auto opening = "\n```" + language + "\n";
    std::vector<std::string> found;
    for (auto at = section.find(opening); at != std::string::npos; at = section.find(opening, at)) {
        at += opening.size();
        found.push_back(section.substr(at, section.find("```", at) - at));
    }
    return found;
}

/// The output of faulthandler without the threads and the frames of the SDK.
std::string without_sdk(std::string text) {
    text = std::regex_replace(text, std::regex("\n +\n"), "\n\n");
    text = std::regex_replace(text, std::regex("\n+    Thread 0x[^\n]*(\n      File [^\n]*)+"), "");
    return std::regex_replace(text, std::regex("(      File \"[^\"\n]*/skep/[^\n]*\n)+"), "      ...\n");
}

/// What differs from run to run made equal.
std::string stable(std::string text) {
    text = without_sdk(std::move(text));
    text = std::regex_replace(text, std::regex("0x[0-9a-f]+"), "0xN");
    text = std::regex_replace(text, std::regex("forecast/[0-9]#[0-9]"), "forecast/N#N");
    text = std::regex_replace(text, std::regex("pid [0-9]+"), "pid N");
    return std::regex_replace(text, std::regex("File \".*/"), "File \"");
}

/// Fails the test unless it is quoted, as a block or as a line of one.
void check_quoted(const std::string& text) {
    for (const auto& block : blocks(core_guide, "When it fails", "text")) {
        if (('\n' + stable(block)).find('\n' + stable(text) + '\n') != std::string::npos) {
            return;
        }
    }
    BOOST_ERROR("not in the guide: " << text);
}

pool_config forecast(const std::string& script) {
    auto config = pool_config::python(script, SKEP_TEST_PYTHON);
    config.name = "forecast";
    config.workers = 2;
    config.log_level = log_level::off;
    config.output.handler = [](const output_line&) {};
    return config;
}

std::string failure_to_start(const pool_config& config) {
    std::string text;
    run([&](asio::io_context& context) -> asio::awaitable<void> {
        pool workers(context.get_executor(), config);
        auto starting = workers.start();
        const auto e = co_await failure_of(std::move(starting));
        text = e.what();
    });
    return text;
}

std::string failure_of_call(const std::string& script, const request& what) {
    std::string text;
    with_pool(forecast(script), [&](pool& workers) -> asio::awaitable<void> {
        auto call = what;
        auto failing = workers.execute(std::move(call));
        const auto e = co_await failure_of(std::move(failing));
        text = e.what();
    });
    return text;
}

/// The worker of the guide, with more commands.
std::string worker_script(const scratch_folder& folder, const std::string& more = "") {
    auto script = blocks(python_guide, "Write a worker", "python").at(0);
    script.insert(script.rfind("if __name__"), more);
    return write_file(folder / "worker.py", script);
}

} // namespace

BOOST_AUTO_TEST_SUITE(readme_texts)

BOOST_AUTO_TEST_CASE(the_interpreter_is_missing) {
    auto config = forecast("worker.py");
    config.launch.program = "python3.99";
    check_quoted(failure_to_start(config));
}

BOOST_AUTO_TEST_CASE(the_script_has_a_syntax_error) {
    const scratch_folder folder;
    const auto script =
        write_file(folder / "worker.py", "import skep\n\nworker = skep.Worker()\n\n@worker.command\n"
                                         "def greet(name)\n    return name\n");
    check_quoted(failure_to_start(forecast(script)));
}

BOOST_AUTO_TEST_CASE(an_unknown_command_and_wrong_arguments) {
    const scratch_folder folder;
    const auto script = worker_script(folder);
    check_quoted(failure_of_call(script, request("predct").arg("text", "x")));
    check_quoted(failure_of_call(script, request("predict").arg("txt", "x")));
}

BOOST_AUTO_TEST_CASE(the_workers_code_raised_an_error_for_the_caller) {
    const scratch_folder folder;
    const auto script =
        worker_script(folder, "@worker.command\ndef thumbnail():\n"
                              "    raise skep.Error('bad_image', 'not an image', data={'size': 3})\n");
    check_quoted(failure_of_call(script, request("thumbnail")));
}

BOOST_AUTO_TEST_CASE(a_crash_in_native_code) {
    const scratch_folder folder;
    const auto script =
        worker_script(folder, "import os\n@worker.command\ndef crash():\n"
                              "    print('predicting for session user-42')\n    os.abort()\n");
    check_quoted(failure_of_call(script, request("crash")));
}

BOOST_AUTO_TEST_CASE(every_quotation_is_checked) {
    BOOST_TEST(blocks(core_guide, "When it fails", "text").size() == 5u); // by the cases above
}

BOOST_AUTO_TEST_CASE(a_configuration_that_breaks_a_rule) {
    const std::string text = "invalid configuration: queue.limit = -1: must be 0..10000000";
    BOOST_TEST(contains(text_of_guide(pool_guide), text));
    try {
        pool_config::from_json(json::parse(R"({"launch": {"program": "x"}, "queue": {"limit": -1}})"));
        BOOST_ERROR("accepted");
    } catch (const error& e) {
        BOOST_TEST(e.what() == text);
    }
}

BOOST_AUTO_TEST_CASE(the_configuration_in_json) {
    const variable token("MODEL_TOKEN", "s3cret");
    const variable model("MODEL", nullptr);
    const variable timeout("QUEUE_TIMEOUT", nullptr);
    const scratch_folder folder;
    const auto file = write_file(folder / "pool.json", blocks(pool_guide, "Configuration", "json").at(0));
    const auto config = pool_config::from_file(file);
    BOOST_TEST(config.launch.environment.at("MODEL_TOKEN").value() == "s3cret");
    BOOST_TEST(config.launch.environment.at("MODEL").value() == "small");
    BOOST_TEST(config.launch.working_directory == folder.path());
    BOOST_TEST((config.workers == 2u));
    BOOST_TEST((config.request_timeout == 500ms));
    BOOST_TEST((config.queue.timeout == 1500ms));
}

BOOST_AUTO_TEST_CASE(a_misspelt_key_of_a_configuration) {
    const std::string text = "queue.timout: is not a known key; did you mean queue.timeout?";
    BOOST_TEST(contains(text_of_guide(pool_guide), text));
    const auto document = json::parse(R"({"launch": {"program": "x"}, "queue": {"timout": "1s"}})");
    BOOST_CHECK_EXCEPTION(pool_config::from_json(document), error,
                          [&](const error& e) { return e.info().detail == text; });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
