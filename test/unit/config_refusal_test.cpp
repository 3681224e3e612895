// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "support/config_ranges.hpp"
#include "support/text.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace skep;
using namespace skep::test;
using namespace std::chrono_literals;
namespace data = boost::unit_test::data;
namespace json = boost::json;

BOOST_AUTO_TEST_SUITE(config_refusal_test)

BOOST_DATA_TEST_CASE(unknown_keys_of_groups_are_rejected_by_path,
                     data::make({"launch", "start", "queue", "heartbeat", "stop", "restart", "limits",
                                 "output"}),
                     group) {
    for (const std::string key : {"limt", "", "timeuot", "handler", "nested.key"}) {
        const std::string path = std::string(group) + "." + key;
        const auto document = json::object{{"launch", {{"program", "p"}}}};
        auto changed = document;
        if (changed[group].is_null()) {
            changed[group].emplace_object();
        }
        changed[group].as_object()[key] = 1;
        const auto problem = complaint_of_json(changed);
        BOOST_TEST(contains(problem, path + ": is not a known key"), problem);
    }
}

BOOST_AUTO_TEST_CASE(unknown_keys_at_the_top_are_rejected) {
    for (const std::string key :
         {"wokers", "request_timout", "timeout_ms", "custom_scheduler", "", "Name", "queue.limit"}) {
        const auto problem = complaint_of_json(json::object{{"launch", {{"program", "p"}}}, {key, 1}});
        BOOST_TEST(contains(problem, " " + key + ": is not a known key"), problem);
    }
    // A group that stands behind it is read all the same.
    BOOST_TEST(contains(complaint_of_text(R"({"queue":{"limt":1},"launch":{"program":"p"}})"), "queue.limt"));
    BOOST_TEST(contains(complaint_of_text(R"({"launch":{"program":"p","limit":1},"queue":{"limit":1}})"),
                        "launch.limit"));
}

BOOST_DATA_TEST_CASE(json_that_is_no_object_is_rejected, data::make({"null", "1", "[]", R"("x")", "true"}),
                     text) {
    BOOST_TEST(contains(complaint_of_text(std::string_view(text)), "object"));
}

BOOST_AUTO_TEST_CASE(wrong_types_in_json) {
    struct row {
        std::string path;
        json::value bad;
    };
    std::vector<row> table;
    for (const auto* const path : {"name", "launch.program", "launch.transport", "launch.working_directory",
                                   "schedule", "log_level", "log_format"}) {
        for (const auto& bad : {json::value(1), json::value(nullptr), json::value(true),
                                json::value(json::array{"x"}), json::value(json::object())}) {
            table.push_back({path, bad});
        }
    }
    for (const auto* const path :
         {"launch.inherit_environment", "launch.remote_shell", "heartbeat.enabled", "heartbeat.dependent"}) {
        for (const auto& bad : {json::value(1), json::value("true"), json::value(nullptr)}) {
            table.push_back({path, bad});
        }
    }
    for (const auto* const path :
         {"launch", "start", "queue", "heartbeat", "stop", "restart", "limits", "output"}) {
        for (const auto& bad :
             {json::value(1), json::value("x"), json::value(nullptr), json::value(json::array())}) {
            table.push_back({path, bad});
        }
    }
    for (const auto& bad :
         {json::value("x"), json::value(json::object()), json::value(json::array{"x", 1})}) {
        table.push_back({"launch.args", bad});
    }
    for (const auto& bad : {json::value("0.5"), json::value(true), json::value(nullptr)}) {
        table.push_back({"restart.jitter", bad});
    }
    for (const auto& [path, bad] : table) {
        const auto problem = complaint_of_json(with(path, bad));
        BOOST_TEST(contains(problem, path), path << " = " << json::serialize(bad) << ": " << problem);
    }
}

BOOST_AUTO_TEST_CASE(values_of_the_environment_are_never_shown) {
    const std::string nul("s3cret\0", 7);
    for (const auto& [name, value] : std::vector<std::pair<std::string, std::string>>{
             {"", "s3cret"}, {"A=B", "s3cret"}, {"SKEP_X", "s3cret"}, {"A", nul}}) {
        auto config = runnable();
        config.launch.environment = {{"GOOD", "s3cret"}, {name, value}};
        const auto problem = complaint(config);
        BOOST_TEST(!problem.empty());
        BOOST_TEST(!contains(problem, "s3cret"), problem);
    }
    for (const auto* const environment :
         {R"("A=s3cret")", R"(["A=s3cret"])", R"({"A":["s3cret"]})", R"({"A":{"s3cret":1}})",
          R"({"SKEP_A":"s3cret"})", R"({"":"s3cret"})", R"({"A":"s3cret\u0000"})",
          R"({"B":"s3cret","A":5433537})", R"({"A":false,"B":"s3cret"})",
          R"({"SKEP_A":null,"B":"s3cret"})"}) {
        const auto problem =
            complaint_of_text(R"({"launch":{"program":"p","environment":)" + std::string(environment) + "}}");
        BOOST_TEST(contains(problem, "launch.environment"), problem);
        BOOST_TEST(!contains(problem, "s3cret"), problem);
        BOOST_TEST(!contains(problem, "5433537"), problem);
    }
    auto config = runnable();
    config.launch.environment = {{"KEY", "s3cret"}};
    config.queue.limit = 99'999'999;
    BOOST_TEST(!contains(complaint(config), "s3cret"));
}

BOOST_AUTO_TEST_CASE(wrong_types_of_what_differs_from_slot_to_slot) {
    const std::string secret = "hunter2";
    for (const auto& value : {json::value(secret), json::value(json::array{secret}),
                              json::value(json::object{{"DEVICE", secret}}),
                              json::value(json::object{{"DEVICE", json::array{secret, 1}}})}) {
        const auto problem = complaint_of_json(with("launch.slot_environment", value));
        BOOST_TEST(contains(problem, "launch.slot_environment"), problem);
        BOOST_TEST(contains(problem, "string"), problem);
        BOOST_TEST(!contains(problem, secret), problem);
    }
    for (const auto& value : {json::value("x"), json::value(json::array{"x"}), json::value(json::object()),
                              json::value(json::array{json::array{1}})}) {
        const auto problem = complaint_of_json(with("launch.slot_args", value));
        BOOST_TEST(contains(problem, "launch.slot_args"), problem);
    }
}

BOOST_AUTO_TEST_SUITE_END()
