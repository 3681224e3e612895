// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/remote_fields.hpp"
#include "support/config.hpp"
#include "support/config_fields.hpp"
#include "support/schema_check.hpp"
#include "support/text.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

/// The options of clients and nodes, and their JSON. The rules of nats_options: nats_options_test.

namespace skep::test {

namespace data = boost::unit_test::data;
namespace json = boost::json;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(remote_options_test)

namespace {

using path_set = std::set<std::string>;

template <class Visitor>
void visit_all(const remote_options& options, Visitor& visit) {
    visit_remote_fields(options, visit);
}
template <class Visitor>
void visit_all(const node_options& options, Visitor& visit) {
    visit_node_fields(options, visit);
}
template <class Visitor>
void visit_all(remote_options& options, Visitor& visit) {
    visit_remote_fields(options, visit);
}
template <class Visitor>
void visit_all(node_options& options, Visitor& visit) {
    visit_node_fields(options, visit);
}

template <class Options>
std::map<std::string, std::string> remote_values(const Options& options) {
    field_values visitor;
    visit_all(options, visitor);
    return std::move(visitor.all);
}

/// Every field differs from its default, except three of the ways to authenticate.
template <class Options>
Options with_password(duration step) {
    Options options;
    field_changer change(step);
    visit_all(options, change);
    auto& nats = options.nats;
    nats.servers = {"tls://a:1", "nats://[::1]:2"};
    nats.token.clear();
    nats.nkey_seed_file.clear();
    nats.creds_file.clear();
    return options;
}

template <class Options>
Options with_token(duration step) {
    auto options = with_password<Options>(step);
    options.nats.user.clear();
    options.nats.password.clear();
    options.nats.token = "s3cret";
    return options;
}

template <class Options>
path_set fields_like_default(const Options& options) {
    path_set result;
    const auto defaults = remote_values(Options());
    for (const auto& [path, value] : remote_values(options)) {
        const auto found = defaults.find(path); // the options of a command have no default
        if (found != defaults.end() && found->second == value) {
            result.insert(path);
        }
    }
    return result;
}

template <class Options>
void check_way_through_json(const Options& options) {
    const auto text = json::serialize(to_json(options));
    BOOST_TEST_CONTEXT(text) {
        const auto back = remote_values(Options::from_json(json::parse(text)));
        BOOST_TEST((back == remote_values(options)));
    }
}

template <class Options>
void check_fields_and_json() {
    BOOST_TEST((fields_like_default(with_password<Options>(1ms)) ==
                path_set{"nats.creds_file", "nats.nkey_seed_file", "nats.token"}));
    check_way_through_json(Options());
    for (const duration step : {duration(1ms), duration(1500us), duration(1ns)}) {
        check_way_through_json(with_password<Options>(step));
        check_way_through_json(with_token<Options>(step));
    }
}

std::string refusal_by_client(std::string_view text) {
    return complaint([&] { remote_options::from_json(json::parse(text)); });
}
std::string refusal_by_node(std::string_view text) {
    return complaint([&] { node_options::from_json(json::parse(text)); });
}

const std::string introduction = "invalid configuration: ";
const std::string node_rule = "must match [A-Za-z0-9][A-Za-z0-9_-]* and have at most 64 characters";
const std::string pool_rule = "must match [A-Za-z0-9][A-Za-z0-9_.-]* and have at most 64 characters";

/// A number or time, and its range.
struct remote_range {
    std::string group; ///< empty: none
    std::string key;
    long long low;
    long long high;
};

const std::vector<remote_range> ranges_of_both{
    {"", "drain_timeout_ms", 0, 86'400'000},
    {"link", "window", 64 << 10, 64 << 20},
    {"link", "all_windows", 64 << 10, 4LL << 30},
    {"limits", "json_depth", 4, 1000},
};
const std::vector<remote_range> ranges_of_clients{
    {"", "request_timeout_ms", 0, 86'400'000},
    {"queue", "limit", 0, 10'000'000},
    {"queue", "timeout_ms", 0, 86'400'000},
    {"retry", "attempts", 1, 100},
};
const std::vector<remote_range> ranges_of_nodes{
    {"", "beacon_interval_ms", 50, 60'000},
    {"", "queue_per_place", 0, 100},
    {"", "links", 1, 1'000'000},
    {"", "memory", 1 << 20, 1LL << 40},
};

template <class Options>
void check_ranges_of(const std::vector<remote_range>& all) {
    for (const auto& each : all) {
        const auto refusal_of = [&](long long value) {
            json::object document{{each.key, value}};
            if (!each.group.empty()) {
                document = {{each.group, std::move(document)}};
            }
            return complaint([&] { Options::from_json(document); });
        };
        const auto path = (each.group.empty() ? "" : each.group + ".") + each.key;
        BOOST_TEST_CONTEXT(path) {
            BOOST_TEST(refusal_of(each.low) == "");
            BOOST_TEST(refusal_of(each.high) == "");
            const auto rule = ": must be " + std::to_string(each.low) + ".." + std::to_string(each.high);
            for (const auto bad : {each.low - 1, each.high + 1}) {
                BOOST_TEST(refusal_of(bad) == introduction + path + " = " + std::to_string(bad) + rule);
            }
        }
    }
}

} // namespace

BOOST_AUTO_TEST_CASE(from_json_reads_the_fields_that_to_json_writes) {
    check_fields_and_json<remote_options>();
    check_fields_and_json<node_options>();
}

BOOST_AUTO_TEST_CASE(a_document_needs_no_member) {
    BOOST_TEST((remote_values(remote_options::from_json(json::object())) == remote_values(remote_options())));
    BOOST_TEST((remote_values(node_options::from_json(json::object())) == remote_values(node_options())));
    BOOST_TEST(refusal_by_client(R"({"$schema":"x"})") == "");
    BOOST_TEST(refusal_by_node(R"({"$schema":"x"})") == "");
}

BOOST_AUTO_TEST_CASE(a_document_is_an_object) {
    BOOST_TEST(refusal_by_client("[]") == introduction + "the document: must be a JSON object");
    BOOST_TEST(refusal_by_node("1") == introduction + "the document: must be a JSON object");
}

BOOST_AUTO_TEST_CASE(the_schemas_have_all_fields_with_their_defaults) {
    check_schema(to_json(remote_options()), remote_options::json_schema());
    check_schema(to_json(node_options()), node_options::json_schema());
    BOOST_TEST((remote_options::json_schema().at("$schema") ==
                json::value("https://json-schema.org/draft/2020-12/schema")));
    const json::value window =
        node_options::json_schema().at("properties").at("link").at("properties").at("window");
    BOOST_TEST(
        (window ==
         json::value{{"type", "integer"}, {"minimum", 65'536}, {"maximum", 64 << 20}, {"default", 2 << 20}}));
}

BOOST_AUTO_TEST_CASE(unknown_keys_are_refused) {
    BOOST_TEST(refusal_by_client(R"({"nats":{"server":[]}})") ==
               introduction + "nats.server: is not a known key; did you mean nats.servers?");
    BOOST_TEST(refusal_by_client(R"({"workers":3})") == introduction + "workers: is not a known key");
    BOOST_TEST(refusal_by_node(R"({"link":{"windows":3}})") ==
               introduction + "link.windows: is not a known key; did you mean link.window?");
}

BOOST_AUTO_TEST_CASE(numbers_and_times_have_ranges) {
    check_ranges_of<remote_options>(ranges_of_both);
    check_ranges_of<remote_options>(ranges_of_clients);
    check_ranges_of<node_options>(ranges_of_both);
    check_ranges_of<node_options>(ranges_of_nodes);
    node_options options;
    options.queue_per_place = std::numeric_limits<double>::quiet_NaN();
    BOOST_TEST(complaint([&] { options.validate(); }) ==
               introduction + "queue_per_place = nan: must be 0..100");
}

BOOST_AUTO_TEST_CASE(json_is_no_larger_than_a_frame) {
    const std::string text = R"({"limits":{"frame_bytes":2048,"json_bytes":2049}})";
    const auto refusal = introduction + "limits.json_bytes = 2049: must not exceed limits.frame_bytes";
    BOOST_TEST(refusal_by_client(text) == refusal);
    BOOST_TEST(refusal_by_node(text) == refusal);
}

BOOST_AUTO_TEST_CASE(names_keep_their_rules) {
    BOOST_TEST(refusal_by_client(R"({"domain":"a.b"})") == introduction + "domain = \"a.b\": " + node_rule);
    BOOST_TEST(refusal_by_node(R"({"domain":""})") == introduction + "domain = \"\": " + node_rule);
    BOOST_TEST(refusal_by_client(R"({"pool":"a b"})") == introduction + "2 problems\n  pool = \"a b\": " +
                                                             pool_rule + "\n  name = \"a b\": " + pool_rule);
    BOOST_TEST(refusal_by_client(R"({"name":"*"})") == introduction + "name = \"*\": " + pool_rule);
    BOOST_TEST(refusal_by_client(R"({"pool":"a.b"})") == "");
    BOOST_TEST(refusal_by_node(R"({"name":"a.b"})") == introduction + "name = \"a.b\": " + node_rule);
    BOOST_TEST(refusal_by_node(R"({"pools":["a.b","/"]})") ==
               introduction + "pools[1] = \"/\": " + pool_rule);
}

BOOST_AUTO_TEST_CASE(names_of_commands_are_text) {
    remote_options options;
    options.commands["a\xFF"];
    BOOST_TEST(contains(complaint([&] { options.validate(); }), "commands"));
}

BOOST_AUTO_TEST_CASE(the_rules_of_nats_hold_in_both) {
    const std::string text = R"({"nats":{"user":"me"}})";
    BOOST_TEST(refusal_by_client(text) == introduction + "nats.user = \"me\": needs a password");
    BOOST_TEST(refusal_by_node(text) == introduction + "nats.user = \"me\": needs a password");
}

BOOST_DATA_TEST_CASE(
    errors_show_no_secret,
    data::make({R"({"nats":{"password":12345}})", R"({"nats":{"token":12345}})",
                R"({"nats":{"password":["12345"]}})", R"({"nats":{"token":"12345","user":"me"}})",
                R"({"nats":{"password":"12345","ping_interval":1}})", R"({"nats":{"passwd":"12345"}})",
                R"({"nats":{"user":"me","password":"12345"},"x":1})",
                R"({"nats":{"servers":["nats://me:12345@a"]}})",
                R"({"nats":{"servers":"nats://me:12345@a"}})", R"({"nats":"nats://me:12345@a"})"}),
    text) {
    for (const auto& refusal : {refusal_by_client(text), refusal_by_node(text)}) {
        BOOST_TEST(!refusal.empty());
        BOOST_TEST(!contains(refusal, "12345"), refusal);
    }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
