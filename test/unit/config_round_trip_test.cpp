// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "support/config.hpp"
#include "support/config_fields.hpp"
#include "support/text.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/test/unit_test.hpp>

#include <set>
#include <string>
#include <vector>

using namespace skep;
using namespace skep::test;
using namespace std::chrono_literals;
namespace json = boost::json;

BOOST_AUTO_TEST_SUITE(config_round_trip_test)

namespace {

/// Every field differs from its default, but for those that rules forbid to: see both functions below.
pool_config changed(duration step) {
    pool_config config;
    field_changer change(step);
    visit_fields(config, change);
    config.workers = config.scaling.initial = 5;
    config.scaling.max = 9;
    return config;
}

pool_config changed_at_home(duration step) {
    auto config = changed(step);
    config.launch.transport = transport::socket;
    config.launch.remote_shell = false;
    config.launch.prefix = {"nice"};
    return config;
}

pool_config changed_elsewhere(duration step) {
    auto config = changed(step);
    config.recycle.soft_memory = config.recycle.hard_memory = 0;
    config.launch.preload = false;
    return config;
}

void check_round_trip(const pool_config& config) {
    const auto text = json::serialize(to_json(config));
    BOOST_TEST_CONTEXT(text) {
        const auto back = values_of(pool_config::from_json(json::parse(text)));
        for (const auto& [path, value] : values_of(config)) {
            BOOST_TEST(back.at(path) == value, path << ": " << back.at(path) << " was " << value);
        }
    }
}

std::set<std::string> fields_at_default(const pool_config& config) {
    std::set<std::string> result;
    const auto defaults = values_of(pool_config());
    for (const auto& [path, value] : values_of(config)) {
        const auto found = defaults.find(path); // there is none for a command's options
        if (found != defaults.end() && found->second == value) {
            result.insert(path);
        }
    }
    return result;
}

} // namespace

BOOST_AUTO_TEST_CASE(these_configurations_differ_from_the_default_in_every_field) {
    BOOST_TEST((fields_at_default(changed_at_home(1ms)) ==
                std::set<std::string>{"launch.remote_shell", "launch.transport"}));
    BOOST_TEST((fields_at_default(changed_elsewhere(1ms)) ==
                std::set<std::string>{"launch.preload", "recycle.hard_memory", "recycle.soft_memory"}));
}

BOOST_AUTO_TEST_CASE(from_json_reads_what_to_json_writes) {
    check_round_trip(runnable());
    for (const duration step : {duration(1ms), duration(1500us), duration(1ns)}) {
        check_round_trip(changed_at_home(step));
        check_round_trip(changed_elsewhere(step));
    }
}

BOOST_AUTO_TEST_CASE(the_effective_configuration_has_every_field) {
    const auto document = to_json(runnable());
    BOOST_TEST(document.at("name").as_string() == "default");
    BOOST_TEST(document.at("schedule").as_string() == "least_loaded");
    BOOST_TEST(document.at("queue").as_object().at("limit").to_number<int>() == 1000);
    BOOST_TEST(document.at("scaling").as_object().at("up").as_double() == 0.8);
    BOOST_TEST(document.at("launch").as_object().at("inherit_environment").as_bool());
    BOOST_TEST(document.at("launch").as_object().at("args").as_array().empty());
    BOOST_TEST((document.at("retry").as_object().at("backoff_ms") == json::array{0, 100, 200, 400, 800}));
}

BOOST_AUTO_TEST_CASE(durations_are_in_milliseconds_unless_that_would_round_them) {
    auto config = runnable();
    config.queue.timeout = 1500us;
    config.retry.backoff = {1s, 1us};
    const auto document = to_json(config);
    BOOST_TEST(document.at("request_timeout_ms").to_number<int>() == 60'000);
    BOOST_TEST(!document.contains("request_timeout"));
    BOOST_TEST(document.at("queue").as_object().at("timeout").as_string() == "1500us");
    BOOST_TEST(!document.at("queue").as_object().contains("timeout_ms"));
    BOOST_TEST((document.at("retry").as_object().at("backoff") == json::array{"1s", "1us"}));
    BOOST_TEST(!document.at("retry").as_object().contains("backoff_ms"));
}

BOOST_AUTO_TEST_CASE(environments_are_written_whole_for_they_are_read_again) {
    auto config = runnable();
    config.launch.environment = {{"KEY", "s3cret"}, {"GONE", std::nullopt}};
    config.launch.slot_environment = {{"DEVICE", {"0", "1"}}};
    const auto launch = to_json(config).at("launch").as_object();
    BOOST_TEST((launch.at("environment") == json::value{{"KEY", "s3cret"}, {"GONE", nullptr}}));
    BOOST_TEST((launch.at("slot_environment") == json::value{{"DEVICE", {"0", "1"}}}));
}

BOOST_AUTO_TEST_CASE(what_is_no_value_of_an_enumeration_is_written_and_refused_by_its_number) {
    auto config = runnable();
    config.schedule = static_cast<scheduling>(17);
    const auto document = to_json(config);
    BOOST_TEST(document.at("schedule").to_number<int>() == 17);
    BOOST_TEST(contains(complaint_of_json(document), "schedule = 17: must be a string"));
}

BOOST_AUTO_TEST_SUITE_END()
