// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Spans as OTLP's JSON has them.

#include "otlp/spans_json.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/test/unit_test.hpp>

namespace skep::test {

namespace json = boost::json;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(spans_json)

namespace {

events::span bare_span() {
    events::span span;
    span.pool = "p";
    span.what = "predict";
    span.kind = "client";
    span.trace_id = "4bf92f3577b34da6a3ce929d0e0e4736";
    span.span_id = "00f067aa0ba902b7";
    span.start_time = std::chrono::system_clock::time_point(1'700'000'000s);
    span.time = 1500us;
    span.outcome = "ok";
    return span;
}

json::object shown(const events::span& span) {
    const auto body = json::parse(to_otlp({span}, {}));
    return body.at("resourceSpans").at(0).at("scopeSpans").at(0).at("spans").at(0).as_object();
}

} // namespace

BOOST_AUTO_TEST_CASE(a_request_names_the_service) {
    otlp_options about;
    about.service_name = "classifier";
    about.resource = {{"service.version", "1.2"}};
    const auto expected = json::parse(R"({"resourceSpans":[{
        "resource":{"attributes":[{"key":"service.name","value":{"stringValue":"classifier"}},
                                  {"key":"service.version","value":{"stringValue":"1.2"}}]},
        "scopeSpans":[{"scope":{"name":"skep"},"spans":[]}]}]})");
    BOOST_TEST(json::parse(to_otlp({}, about)) == expected);
}

BOOST_AUTO_TEST_CASE(a_bare_span) {
    const auto expected = json::parse(R"({"traceId":"4bf92f3577b34da6a3ce929d0e0e4736",
        "spanId":"00f067aa0ba902b7","name":"predict","kind":3,
        "startTimeUnixNano":"1700000000000000000","endTimeUnixNano":"1700000000001500000",
        "attributes":[{"key":"skep.pool","value":{"stringValue":"p"}}]})");
    BOOST_TEST(shown(bare_span()) == expected);
}

BOOST_AUTO_TEST_CASE(what_else_it_can_have) {
    auto span = bare_span();
    span.worker = {"p", 1, 2};
    span.node = "gpu-7";
    span.parent_id = "1111111111111111";
    span.outcome = "timeout";
    span.correlation_id = "c";
    span.attributes = {{"attempts", 2}, {"queue_ms", 1.5}, {"cold", true}, {"nothing", nullptr}};
    const auto found = shown(span);
    BOOST_TEST(found.at("parentSpanId") == "1111111111111111");
    BOOST_TEST(found.at("status") == (json::object{{"code", 2}, {"message", "timeout"}}));
    const auto expected = json::parse(R"([{"key":"skep.pool","value":{"stringValue":"p"}},
        {"key":"skep.worker","value":{"stringValue":"p/1#2"}},
        {"key":"skep.node","value":{"stringValue":"gpu-7"}},
        {"key":"skep.correlation_id","value":{"stringValue":"c"}},
        {"key":"skep.attempts","value":{"intValue":"2"}},
        {"key":"skep.queue_ms","value":{"doubleValue":1.5}},
        {"key":"skep.cold","value":{"boolValue":true}},
        {"key":"skep.nothing","value":{"stringValue":"null"}},
        {"key":"error.type","value":{"stringValue":"timeout"}}])");
    BOOST_TEST(found.at("attributes") == expected);
}

BOOST_AUTO_TEST_CASE(kinds_and_the_names_of_a_workers_own) {
    auto span = bare_span();
    span.kind = "server";
    BOOST_TEST(shown(span).at("kind") == 2);
    span.kind = "internal";
    span.attributes = {{"model", "small"}, {"skep.pool", "forged"}, {"big", ~std::uint64_t(0)}};
    BOOST_TEST(shown(span).at("kind") == 1);
    const auto attributes = shown(span).at("attributes").as_array();
    BOOST_REQUIRE(attributes.size() == 3u);
    BOOST_TEST(attributes[1].at("key") == "model");
    BOOST_TEST(attributes[2].at("value") == (json::object{{"stringValue", "18446744073709551615"}}));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
