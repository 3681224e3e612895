// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/node_name.hpp"
#include "wire/node_beacon.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <limits>
#include <string>

namespace skep::test {

using namespace std::chrono_literals;
namespace data = boost::unit_test::data;

BOOST_AUTO_TEST_SUITE(node_beacon_test)

namespace {

constexpr auto golden = R"({"v":1,"node":"gpu-1","epoch":"7f\"","interval_ms":1500,"draining":true,"pools":{)"
                        R"("a":{"places":4,"in_flight":3,"queued":2,"can_serve":true},)"
                        R"("b":{"places":0,"in_flight":0,"queued":0,"can_serve":false}}})";

node_beacon example() {
    node_beacon beacon;
    beacon.node = "gpu-1";
    beacon.epoch = "7f\"";
    beacon.interval = 1500ms;
    beacon.is_draining = true;
    beacon.pools.emplace("a", load_view{3, 2, 4, true});
    beacon.pools.emplace("b", load_view{});
    return beacon;
}

/// A beacon with some members, and what is necessary.
std::string beacon_with(const std::string& members) {
    return R"({"v":1,"node":"n","epoch":"e","interval_ms":1000,)" + members + "}";
}

std::string beacon_with_pool(const std::string& load) {
    return beacon_with(R"("pools":{"a":)" + load + "}");
}

std::string beacon_of(const std::string& name) {
    return R"({"v":1,"node":")" + name + R"(","epoch":"e","interval_ms":1000})";
}

duration interval_told_as(const std::string& number) {
    const auto beacon = decode_beacon(R"({"v":1,"node":"n","epoch":"e","interval_ms":)" + number + "}");
    return beacon ? beacon->interval : duration::zero();
}

} // namespace

BOOST_AUTO_TEST_CASE(a_beacon_has_this_text) {
    BOOST_TEST(encode_beacon(example()) == golden);
}

BOOST_AUTO_TEST_CASE(a_decoded_beacon_is_the_encoded_one) {
    const auto beacon = decode_beacon(golden);
    BOOST_REQUIRE(beacon.has_value());
    BOOST_TEST(beacon->node == "gpu-1");
    BOOST_TEST(beacon->epoch == "7f\"");
    BOOST_TEST((beacon->interval == 1500ms));
    BOOST_TEST(beacon->is_draining);
    BOOST_REQUIRE(beacon->pools.size() == 2u);
    const auto& load = beacon->pools.at("a");
    BOOST_TEST(load.places == 4u);
    BOOST_TEST(load.in_flight == 3u);
    BOOST_TEST(load.queued == 2u);
    BOOST_TEST(load.can_serve);
    BOOST_TEST(!beacon->pools.at("b").can_serve);
    BOOST_TEST(encode_beacon(*beacon) == golden);
}

BOOST_AUTO_TEST_CASE(the_last_of_too_many_pools_are_left_out) {
    auto beacon = example();
    for (int i = 1000; i < 1200; ++i) {
        beacon.pools.emplace("pool-" + std::to_string(i), load_view{0, 0, 1, true});
    }
    const auto text = encode_beacon(beacon);
    BOOST_TEST(text.size() <= node_beacon::most_bytes);
    BOOST_TEST(text.size() > node_beacon::most_bytes - 100);
    const auto decoded = decode_beacon(text);
    BOOST_REQUIRE(decoded.has_value());
    BOOST_TEST(decoded->pools.size() < beacon.pools.size());
    auto expected = beacon.pools.begin();
    for (const auto& each : decoded->pools) {
        BOOST_TEST(each.first == (expected++)->first);
    }
}

BOOST_AUTO_TEST_CASE(a_beacon_may_have_the_most_bytes_and_no_more) {
    const auto with_epoch = [](std::size_t bytes) {
        return R"({"v":1,"node":"n","interval_ms":1000,"epoch":")" + std::string(bytes, 'e') + R"("})";
    };
    const auto around = with_epoch(0).size();
    BOOST_TEST(decode_beacon(with_epoch(node_beacon::most_bytes - around)).has_value());
    BOOST_TEST(!decode_beacon(with_epoch(node_beacon::most_bytes - around + 1)).has_value());
    BOOST_TEST(!decode_beacon(with_epoch(5000)).has_value());
    BOOST_TEST(!decode_beacon(std::string(5000, ' ')).has_value());
}

BOOST_AUTO_TEST_CASE(unknown_members_are_ignored) {
    BOOST_TEST(decode_beacon(beacon_with(R"("new":[{"a":1},null],"other":-1.5)")).has_value());
    const auto beacon = decode_beacon(beacon_with_pool(
        R"({"gpus":[1,2],"places":1,"in_flight":0,"queued":0,"can_serve":true,"model":"m"})"));
    BOOST_REQUIRE(beacon.has_value());
    BOOST_TEST(beacon->pools.at("a").places == 1u);
}

BOOST_AUTO_TEST_CASE(members_may_be_missing) {
    const auto beacon = decode_beacon(beacon_of("n"));
    BOOST_REQUIRE(beacon.has_value());
    BOOST_TEST(!beacon->is_draining);
    BOOST_TEST(beacon->pools.empty());
}

BOOST_AUTO_TEST_CASE(large_numbers_count_as_the_largest) {
    const auto beacon = decode_beacon(beacon_with_pool(
        R"({"places":4294967296,"in_flight":18446744073709551615,"queued":4294967295,"can_serve":true})"));
    BOOST_REQUIRE(beacon.has_value());
    const auto& load = beacon->pools.at("a");
    BOOST_TEST(load.places == std::numeric_limits<std::uint32_t>::max());
    BOOST_TEST(load.in_flight == std::numeric_limits<std::uint32_t>::max());
    BOOST_TEST(load.queued == std::numeric_limits<std::uint32_t>::max());
}

BOOST_AUTO_TEST_CASE(an_interval_is_a_millisecond_to_a_minute) {
    BOOST_TEST((interval_told_as("0") == 1ms));
    BOOST_TEST((interval_told_as("-2147483648") == 1ms));
    BOOST_TEST((interval_told_as("60000") == 1min));
    BOOST_TEST((interval_told_as("2147483647") == 1min));
    BOOST_TEST((interval_told_as("2147483648") == 0ms), "is no beacon");
}

BOOST_AUTO_TEST_CASE(names_of_nodes) {
    const std::string longest(64, 'a');
    for (const std::string name : {"a", "Z", "0", "a_b-c", longest.c_str()}) {
        BOOST_TEST(is_node_name(name), name);
        BOOST_TEST(decode_beacon(beacon_of(name)).has_value(), name);
    }
    const auto too_long = longest + "a";
    for (const std::string name : {"", "-a", "_a", "a.b", "a*", ">", "a b", "\xC3\xA4", too_long.c_str()}) {
        BOOST_TEST(!is_node_name(name), name);
        BOOST_TEST(!decode_beacon(beacon_of(name)).has_value(), name);
    }
    BOOST_TEST(!is_node_name(std::string("a\0", 2)));
}

BOOST_DATA_TEST_CASE(
    other_texts_are_no_beacon,
    data::make<std::string>(
        {"", " ", "beacon", "[]", "null", "1", R"("v")", "{}", golden + std::string("}"),
         std::string(golden).substr(0, 40), std::string("\0", 1), "\xff\xfe",
         // versions
         R"({"node":"n","epoch":"e","interval_ms":1000})",
         R"({"v":0,"node":"n","epoch":"e","interval_ms":1000})",
         R"({"v":2,"node":"n","epoch":"e","interval_ms":1000})",
         R"({"v":-1,"node":"n","epoch":"e","interval_ms":1000})",
         R"({"v":1.5,"node":"n","epoch":"e","interval_ms":1000})",
         R"({"v":"1","node":"n","epoch":"e","interval_ms":1000})",
         R"({"v":null,"node":"n","epoch":"e","interval_ms":1000})",
         R"({"v":[1],"node":"n","epoch":"e","interval_ms":1000})",
         // the node and its epoch
         R"({"v":1,"epoch":"e","interval_ms":1000})", R"({"v":1,"node":1,"epoch":"e","interval_ms":1000})",
         R"({"v":1,"node":{},"epoch":"e","interval_ms":1000})", R"({"v":1,"node":"n","interval_ms":1000})",
         R"({"v":1,"node":"n","epoch":"","interval_ms":1000})",
         R"({"v":1,"node":"n","epoch":7,"interval_ms":1000})",
         R"({"v":1,"node":"n","node":"n","epoch":"e","interval_ms":1000})",
         "{\"v\":1,\"node\":\"n\",\"epoch\":\"\xff\",\"interval_ms\":1000}",
         // the interval
         R"({"v":1,"node":"n","epoch":"e"})", R"({"v":1,"node":"n","epoch":"e","interval_ms":"1000"})",
         R"({"v":1,"node":"n","epoch":"e","interval_ms":0.5})",
         R"({"v":1,"node":"n","epoch":"e","interval_ms":1e300})",
         R"({"v":1,"node":"n","epoch":"e","interval_ms":99999999999999999999})",
         R"({"v":1,"node":"n","epoch":"e","interval_ms":null})",
         // the rest
         beacon_with(R"("draining":1)"), beacon_with(R"("draining":"true")"), beacon_with(R"("pools":[])"),
         beacon_with(R"("pools":null)"), beacon_with(R"("pools":"a")"), beacon_with_pool("{}"),
         beacon_with_pool("[]"), beacon_with_pool("4"),
         beacon_with_pool(R"({"in_flight":0,"queued":0,"can_serve":true})"),
         beacon_with_pool(R"({"places":1,"queued":0,"can_serve":true})"),
         beacon_with_pool(R"({"places":1,"in_flight":0,"can_serve":true})"),
         beacon_with_pool(R"({"places":1,"in_flight":0,"queued":0})"),
         beacon_with_pool(R"({"places":-1,"in_flight":0,"queued":0,"can_serve":true})"),
         beacon_with_pool(R"({"places":1.5,"in_flight":0,"queued":0,"can_serve":true})"),
         beacon_with_pool(R"({"places":"1","in_flight":0,"queued":0,"can_serve":true})"),
         beacon_with_pool(R"({"places":1,"in_flight":0,"queued":0,"can_serve":1})"),
         beacon_with(R"("deep":[[[[[[[[[]]]]]]]]])")}),
    text) {
    BOOST_TEST(!decode_beacon(text).has_value());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
