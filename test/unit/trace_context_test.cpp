// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// The header of W3C Trace Context.

#include "core/trace_context.hpp"
#include "process/span_id.hpp"

#include <boost/test/unit_test.hpp>

#include <set>
#include <string>

namespace skep::test {

BOOST_AUTO_TEST_SUITE(the_trace_context)

namespace {

const std::string trace_id = "4bf92f3577b34da6a3ce929d0e0e4736";
const std::string span_id = "00f067aa0ba902b7";

} // namespace

BOOST_AUTO_TEST_CASE(a_header_is_read_and_made) {
    const auto header = "00-" + trace_id + '-' + span_id + "-01";
    const auto place = parse_traceparent(header);
    BOOST_REQUIRE(place);
    BOOST_TEST(place->trace_id == trace_id);
    BOOST_TEST(place->span_id == span_id);
    BOOST_TEST(place->is_sampled);
    BOOST_TEST(to_traceparent(*place) == header);
    BOOST_TEST(to_traceparent({trace_id, span_id, false}) == "00-" + trace_id + '-' + span_id + "-00");
}

BOOST_AUTO_TEST_CASE(the_last_bit_of_its_flags_says_whether_it_is_recorded) {
    for (const auto& [flags, is_sampled] :
         {std::pair("00", false), {"01", true}, {"02", false}, {"0f", true}}) {
        const auto place = parse_traceparent("00-" + trace_id + '-' + span_id + '-' + flags);
        BOOST_REQUIRE(place);
        BOOST_TEST(place->is_sampled == is_sampled, flags);
    }
}

BOOST_AUTO_TEST_CASE(later_versions_may_say_more) {
    BOOST_TEST(parse_traceparent("01-" + trace_id + '-' + span_id + "-01-more").has_value());
    BOOST_TEST(parse_traceparent("cc-" + trace_id + '-' + span_id + "-01").has_value());
    BOOST_TEST(!parse_traceparent("cc-" + trace_id + '-' + span_id + "-01.more"));
}

BOOST_AUTO_TEST_CASE(what_is_none) {
    const auto rest = trace_id + '-' + span_id + "-01";
    for (const auto& header : {
             std::string(),
             "00-" + rest + "-more",
             "00-" + rest + "0",
             "ff-" + rest,
             "0x-" + rest,
             "00_" + rest,
             "00-" + rest.substr(1),
             "00-" + std::string(32, '0') + '-' + span_id + "-01",
             "00-" + trace_id + '-' + std::string(16, '0') + "-01",
             "00-" + trace_id + '-' + span_id + "-0g",
             "00-4BF92F3577B34DA6A3CE929D0E0E4736-" + span_id + "-01",
         }) {
        BOOST_TEST(!parse_traceparent(header), header);
    }
}

BOOST_AUTO_TEST_CASE(ids_are_made_that_differ) {
    std::set<std::string> made;
    for (int i = 0; i < 1000; ++i) {
        const auto id = to_span_id(make_span_id());
        BOOST_TEST(is_span_id(id), id);
        made.insert(id);
    }
    BOOST_TEST(made.size() == 1000u);
    BOOST_TEST(to_span_id(0xABC) == "0000000000000abc");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
