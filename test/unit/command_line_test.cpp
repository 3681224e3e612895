// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// How the program `skep` reads its command line, and how it lays out a status.

#include "command/admin_address.hpp"
#include "command/call_arguments.hpp"
#include "command/dev_line.hpp"
#include "command/folder_watch.hpp"
#include "command/node_table.hpp"
#include "command/status_table.hpp"
#include "command/usage_error.hpp"
#include "command/words.hpp"
#include "support/fake_runtime.hpp"
#include "support/text.hpp"

#include <boost/json/parse.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace skep::test {

BOOST_AUTO_TEST_SUITE(command_line)

namespace {

/// The complaint about what `read` reads; empty without one.
template <class Read>
std::string complaint(Read read) {
    try {
        read();
        return "";
    } catch (const usage_error& problem) {
        return problem.what();
    }
}

} // namespace

BOOST_AUTO_TEST_CASE(words_are_operands_or_options) {
    const auto parsed = parse_words({"a", "--json", "-C", "folder", "--count=3", "-", "--", "--json"},
                                    {{"--json"}, {"-C", true}, {"--count", true}});
    BOOST_TEST(parsed.operands == (std::vector<std::string>{"a", "-", "--json"}));
    BOOST_TEST(parsed.has("--json"));
    BOOST_TEST(parsed.options.at("-C") == "folder");
    BOOST_TEST(parsed.options.at("--count") == "3");
    const std::pair<std::vector<std::string>, const char*> wrong[] = {
        {{"--jsn"}, "unknown option --jsn"},
        {{"--json=1"}, "--json takes no value"},
        {{"-C"}, "-C needs a value"},
        {{"--json", "--json"}, "--json is given twice"}};
    for (const auto& [words, rule] : wrong) {
        BOOST_TEST(complaint([&] { parse_words(words, {{"--json"}, {"-C", true}}); }) == rule);
    }
}

BOOST_AUTO_TEST_CASE(urls_of_admin_ports) {
    for (const auto* text : {"http://localhost:8090/", "http://localhost:8090", "localhost:8090"}) {
        BOOST_TEST(parse_admin_url(text).authority() == "localhost:8090", text);
    }
    const auto v6 = parse_admin_url("http://[::1]:80/");
    BOOST_TEST(v6.host == "::1");
    BOOST_TEST(v6.authority() == "[::1]:80");
    const std::pair<const char*, const char*> wrong[] = {{"https://localhost:8090", "the scheme is http"},
                                                         {"localhost", "http://HOST:PORT"},
                                                         {"http://localhost:8090/x", "no path"},
                                                         {"http://localhost:0", "http://HOST:PORT"},
                                                         {"http://localhost:99999", "http://HOST:PORT"},
                                                         {"http://:80", "http://HOST:PORT"},
                                                         {"http://a b:80", "http://HOST:PORT"},
                                                         {"http://::1:80", "http://HOST:PORT"},
                                                         {"http://a\r\nx:80", "http://HOST:PORT"}};
    for (const auto& [text, rule] : wrong) {
        check_mentions(complaint([text = text] { parse_admin_url(text); }), rule);
    }
    const auto secret = complaint([] { parse_admin_url("http://0123456789abcdef@localhost:80"); });
    BOOST_TEST(secret.find("0123") == secret.npos);
    check_mentions(secret, "SKEP_ADMIN_TOKEN");
}

BOOST_AUTO_TEST_CASE(targets_are_pools_and_workers) {
    const auto pool = parse_admin_target("a.b-1");
    BOOST_TEST(pool.pool == "a.b-1");
    BOOST_TEST(!pool.slot);
    const auto slot = parse_admin_target("a/3");
    BOOST_TEST((slot.slot == 3u && !slot.generation));
    const auto worker = parse_admin_target("a/3#17");
    BOOST_TEST((worker.slot == 3u && worker.generation == 17u));
    for (const auto* text : {"", "/", "a/", "a/x", "a/1#", "a/1#x", "a/-1", "../x", "a/1/2", "a b", "a?b"}) {
        BOOST_TEST(!complaint([text] { parse_admin_target(text); }).empty(), text);
    }
}

BOOST_AUTO_TEST_CASE(arguments_of_calls) {
    const auto named =
        call_arguments({"text=hello", "top=3", "labels=[\"a\"]", "zip=\"01\"", "empty=", "x=a=b"});
    BOOST_TEST(named == boost::json::parse(
                            R"({"text":"hello","top":3,"labels":["a"],"zip":"01","empty":"","x":"a=b"})")
                            .as_object());
    BOOST_TEST(call_arguments({}).empty());
    BOOST_TEST(call_arguments({R"({"a": 1})"}).at("a") == 1);
    check_mentions(complaint([] { call_arguments({"{a: 1}"}); }), "no JSON object");
    check_mentions(complaint([] { call_arguments({"a"}); }), "NAME=VALUE");
    check_mentions(complaint([] { call_arguments({"=1"}); }), "NAME=VALUE");
    check_mentions(complaint([] { call_arguments({"a=1", "a=2"}); }), "two values for \"a\"");
}

BOOST_AUTO_TEST_CASE(columns_are_as_wide_as_their_cells) {
    BOOST_TEST(align({{"A", "LONG", "Z"}, {"four", "b", ""}}) == "A     LONG  Z\nfour  b     \n");
    BOOST_TEST(align({}) == "");
}

BOOST_AUTO_TEST_CASE(a_status_is_two_tables) {
    const auto document = boost::json::parse(R"({"pools": [{"status": {"name": "models", "phase": "running",
        "suspended": true, "live": 1, "desired": 2, "queued": 3, "in_flight": 1,
        "counters": {"succeeded": 10, "failed": 2, "crashes": 1},
        "workers": [{"id": "models/0#1", "state": "busy", "health": "healthy", "pid": 7, "load": 1,
                     "capacity": 1, "completed": 10, "errors": 2, "resident_bytes": 2097152,
                     "uptime_ms": 7200000, "calls": [{"command": "predict\u001b", "running_ms": 1500}]},
                    {"id": "models/1#4", "state": "pending", "pid": 0, "last_failure": "killed"}]},
        "calls": {"run_time": {"p50_ms": 1.5, "p99_ms": 2500}}}]})");
    BOOST_TEST(status_table(document) ==
               "POOL    PHASE               WORKERS  QUEUED  RUNNING  OK  FAILED  CRASHES  P50     P99\n"
               "models  running, suspended  1/2      3       1        10  2       1        1.5 ms  2.5 s\n"
               "\n"
               "WORKER      STATE    HEALTH   PID  LOAD  CALLS  ERRORS  MEMORY  UPTIME  NOW\n"
               "models/0#1  busy     healthy  7    1/1   10     2       2 MiB   2 h     predict\\x1b 1.5 s\n"
               "models/1#4  pending  -        0    -/-   -      -       0 KiB   0 ms    killed\n");
}

BOOST_AUTO_TEST_CASE(a_status_with_nodes_has_a_table_of_them) {
    const auto document = boost::json::parse(R"({"pools": [{"status": {"name": "far", "phase": "running",
        "live": 1, "desired": 1, "remote": {"nodes": [
            {"name": "a", "state": "linked", "calls": 3, "places": 8, "own_calls": 2, "round_trip_ms": 0.5,
             "ejections": 0}, {"name": "b", "state": "silent"}]}}}]})");
    BOOST_TEST(contains(status_table(document), "UPTIME  NOW\n"
                                                "\n"
                                                "NODE  POOL  STATE   LOAD  OWN  ROUND TRIP  EJECTIONS\n"
                                                "a     far   linked  3/8   2    0.5 ms      0\n"
                                                "b     far   silent  -/-   -    -           -\n"));
}

BOOST_AUTO_TEST_CASE(a_status_of_another_form_is_no_error) {
    for (const auto* text :
         {"1", "{}", R"({"pools": 1})", R"({"pools": [1, {"status": {"workers": [2]}}]})"}) {
        BOOST_TEST(status_table(boost::json::parse(text)).starts_with("POOL"), text);
    }
}

BOOST_AUTO_TEST_CASE(nodes_and_their_pools) {
    std::vector<heard_node> nodes(3);
    nodes[0].beacon.node = "gpu-1";
    nodes[0].beacon.epoch = "0123456789";
    nodes[0].round_trip = std::chrono::microseconds(1250);
    nodes[0].beacon.pools = {{"a", {3, 2, 4, true}}, {"b", {0, 0, 0, false}}};
    nodes[1].beacon.node = "gpu-2";
    nodes[1].beacon.epoch = "\n";
    nodes[1].beacon.is_draining = true;
    nodes[1].beacon.pools = {{"a", {1, 0, 4, true}}};
    nodes[2].beacon.node = "gpu-3";
    nodes[2].beacon.epoch = "1";
    BOOST_TEST(node_table(nodes) == "NODE   EPOCH     ROUND TRIP  POOL  LOAD  QUEUED  STATE\n"
                                    "gpu-1  01234567  1.2 ms      a     3/4   2       serves\n"
                                    "gpu-1  01234567  1.2 ms      b     0/0   0       cannot serve\n"
                                    "gpu-2  \\n        -           a     1/4   0       drains\n"
                                    "gpu-3  1         -\n");
    nodes.resize(2);
    const auto document = boost::json::parse(R"({"nodes": [
        {"node": "gpu-1", "epoch": "0123456789", "draining": false, "round_trip_ms": 1.25, "pools": {
            "a": {"places": 4, "in_flight": 3, "queued": 2, "can_serve": true},
            "b": {"places": 0, "in_flight": 0, "queued": 0, "can_serve": false}}},
        {"node": "gpu-2", "epoch": "\n", "draining": true, "round_trip_ms": null, "pools": {
            "a": {"places": 4, "in_flight": 1, "queued": 0, "can_serve": true}}}]})");
    BOOST_TEST(boost::json::value(node_document(nodes)) == document);
}

BOOST_AUTO_TEST_CASE(lines_of_a_developer) {
    const auto named = parse_dev_line("  models/predict  text=hello   top=3\r");
    BOOST_TEST(named.pool == "models");
    BOOST_TEST(named.command == "predict");
    BOOST_TEST(named.arguments == boost::json::parse(R"({"text": "hello", "top": 3})").as_object());
    const auto whole = parse_dev_line(R"(predict {"text": "a b"})");
    BOOST_TEST(whole.pool == "");
    BOOST_TEST(whole.arguments.at("text") == "a b");
    BOOST_TEST(parse_dev_line("stop").arguments.empty());
    check_mentions(complaint([] { parse_dev_line("models/"); }), "a command is missing");
    check_mentions(complaint([] { parse_dev_line("predict {text}"); }), "no JSON object");
    check_mentions(complaint([] { parse_dev_line("predict hello"); }), "NAME=VALUE");
    for (const auto* line : {"title text=\"the bee sees\"", "title text=\"a b=c\"", "title text=the bee"}) {
        check_mentions(complaint([line] { parse_dev_line(line); }), "a value with spaces needs");
    }
    BOOST_TEST(parse_dev_line("title text=\"bee\"").arguments.at("text") == "bee");
}

BOOST_AUTO_TEST_CASE(changes_of_files) {
    const auto now = std::filesystem::file_time_type::clock::now();
    const auto later = now + std::chrono::seconds(1);
    BOOST_TEST(changed_files({{"a", now}, {"b", now}}, {{"a", now}, {"b", now}}).empty());
    BOOST_TEST(changed_files({{"a", now}, {"b", now}}, {{"a", later}, {"c", now}}) ==
               (std::vector<std::string>{"a", "c", "b"}));
}

BOOST_AUTO_TEST_CASE(files_of_folders) {
    namespace fs = std::filesystem;
    const auto folder = fs::temp_directory_path() / ("skep-watch-" + std::to_string(::getpid()));
    for (const auto* path : {"a.py", "below/b.py", ".hidden/c.py", "__pycache__/d.py", "below/.e.py",
                             "below/worker.log", "service.json"}) {
        fs::create_directories((folder / path).parent_path());
        std::ofstream(folder / path) << "x";
    }
    const auto files = list_files({folder, "/no/such/folder"}, folder / "service.json");
    BOOST_TEST(files.size() == 3u);
    BOOST_TEST(files.contains((folder / "service.json").string()));
    BOOST_TEST(files.contains((folder / "a.py").string()));
    BOOST_TEST(files.contains((folder / "below/b.py").string()));
    fs::remove_all(folder);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
