// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "support/config_ranges.hpp"
#include "support/schema_check.hpp"
#include <skep/pool_manager.hpp>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/test/unit_test.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

using namespace skep;
using namespace skep::test;
using namespace std::chrono_literals;
namespace json = boost::json;

BOOST_AUTO_TEST_SUITE(config_schema_test)

namespace {

/// That the file in lib is that schema.
void check_committed(const std::string& path, const json::object& wanted) {
    const auto committed = std::string(SKEP_TEST_DIR) + "/../lib/" + path;
    std::ifstream file(committed);
    const std::string found{std::istreambuf_iterator<char>(file), {}};
    boost::system::error_code ec;
    if (json::parse(found, ec) == json::value(wanted)) {
        return;
    }
    const auto renewed = std::filesystem::temp_directory_path() / std::filesystem::path(path).filename();
    std::ofstream(renewed) << json::serialize(wanted);
    BOOST_ERROR("it is not; renew it: python3 -m json.tool " << renewed << " " << committed);
}

/// The schema of the member at "group.key" or "key".
json::object schema_at(std::string_view path) {
    auto at = pool_config::json_schema();
    for (auto dot = path.find('.'); dot != std::string_view::npos; dot = path.find('.')) {
        at = json::object(at.at("properties").at(path.substr(0, dot)).as_object());
        path.remove_prefix(dot + 1);
    }
    return at.at("properties").at(path).as_object();
}

json::value text(std::string_view content) {
    return json::value(content);
}

} // namespace

BOOST_AUTO_TEST_CASE(the_committed_files_are_what_the_fields_make) {
    check_committed("core/pool_config.schema.json", pool_config::json_schema());
    check_committed("pool/manager_config.schema.json", manager_config::json_schema());
}

BOOST_AUTO_TEST_CASE(each_of_several_pools_may_have_its_program_from_the_defaults) {
    const auto schema = manager_config::json_schema();
    BOOST_TEST((schema.at("required") == json::array{"pools"}));
    const json::value pool{{"$ref", "#/$defs/pool"}};
    BOOST_TEST(schema.at("properties").at("pools").at("items") == pool);
    BOOST_TEST(schema.at("properties").at("defaults") == pool);
    BOOST_TEST(!schema.at("$defs").at("pool").as_object().contains("required"));
    BOOST_TEST(schema.at("properties").at("sessions").at("properties").at("quota").at("minimum") ==
               json::value(1));
}

BOOST_AUTO_TEST_CASE(it_is_a_schema_of_an_object_that_needs_a_program) {
    const auto schema = pool_config::json_schema();
    BOOST_TEST(schema.at("$schema") == text("https://json-schema.org/draft/2020-12/schema"));
    BOOST_TEST((schema.at("required") == json::array{"launch"}));
    BOOST_TEST((schema_at("launch").at("required") == json::array{"program"}));
    BOOST_TEST((schema_at("launch.program") == json::object{{"type", "string"}, {"minLength", 1}}));
    BOOST_TEST((schema_at("$schema") == json::object{{"type", "string"}}));
}

BOOST_AUTO_TEST_CASE(its_defaults_are_all_that_a_pool_can_be_told) {
    auto document = to_json(pool_config());
    document.at("launch").as_object().erase("program"); // has none
    check_schema(document, pool_config::json_schema());
}

BOOST_AUTO_TEST_CASE(its_ranges_are_those_of_validation) {
    for (const auto& field : ranges()) {
        BOOST_TEST_CONTEXT(field.path) {
            const auto schema = schema_at(json_path(field));
            const bool has_default = schema.contains("default"); // no default: the pool chooses the number
            BOOST_TEST((schema.at("type") ==
                        (has_default ? json::value("integer") : json::value{"integer", "null"})));
            BOOST_TEST(schema.at("minimum").to_number<long long>() == field.low);
            BOOST_TEST(schema.at("maximum").to_number<long long>() == field.high);
            BOOST_TEST((has_default ? schema.at("default").to_number<long long>() : -1) ==
                       field.get(pool_config()));
        }
    }
    BOOST_TEST((schema_at("restart.jitter") ==
                json::object{{"type", "number"}, {"minimum", 0.0}, {"maximum", 1.0}, {"default", 0.25}}));
}

BOOST_AUTO_TEST_CASE(durations_have_two_spellings_of_which_one_is_taken) {
    const auto schema = schema_at("start.batch_delay");
    BOOST_TEST(schema.at("type") == text("string"));
    BOOST_TEST(schema.at("pattern") == text("^[0-9]+(\\.[0-9]+)?(ns|us|ms|s|m|h|d)$"));
    BOOST_TEST(schema.at("description") == text("0s..1m"));
    BOOST_TEST(schema.at("default") == text("500ms"));
    BOOST_TEST((schema_at("start").at("dependentSchemas").at("batch_delay") ==
                json::value{{"properties", {{"batch_delay_ms", false}}}}));

    BOOST_TEST(schema_at("retry.backoff").at("items").at("type") == text("string"));
    BOOST_TEST(schema_at("retry.backoff").at("default").as_array().at(1) == text("100ms"));
    BOOST_TEST(schema_at("retry.backoff_ms").at("items").at("type") == text("integer"));
    BOOST_TEST(schema_at("retry.backoff_ms").at("minItems").to_number<int>() == 1);
}

BOOST_AUTO_TEST_CASE(enumerations_flags_texts_lists_and_maps) {
    BOOST_TEST((schema_at("schedule") ==
                json::object{{"enum", {"least_loaded", "round_robin", "lifo", "fifo", "pack"}},
                             {"default", "least_loaded"}}));
    BOOST_TEST((schema_at("heartbeat.enabled") == json::object{{"type", "boolean"}, {"default", true}}));
    BOOST_TEST(schema_at("name").at("pattern") == text("^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$"));
    BOOST_TEST(
        (schema_at("launch.args") ==
         json::object{{"type", "array"}, {"items", {{"type", "string"}}}, {"default", json::array()}}));
    BOOST_TEST(schema_at("launch.slot_args").at("items").at("items").at("type") == text("string"));
    BOOST_TEST((schema_at("launch.environment").at("additionalProperties").at("type") ==
                json::array{"string", "null"}));
    BOOST_TEST(schema_at("launch.slot_environment").at("additionalProperties").at("minItems") ==
               json::value(1));
}

BOOST_AUTO_TEST_SUITE_END()
