// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "wire/region_messages.hpp"

#include <boost/test/unit_test.hpp>

#include <limits>
#include <string>

using namespace skep;

BOOST_AUTO_TEST_SUITE(region_messages_test)

BOOST_AUTO_TEST_CASE(a_region_arrives_as_it_was_sent) {
    constexpr auto most = std::numeric_limits<std::uint64_t>::max();
    const auto text = encode_region({most, most});
    BOOST_TEST(text.size() <= most_region_bytes);
    const auto read = decode_region(text);
    BOOST_TEST_REQUIRE(read.has_value());
    BOOST_TEST(read->region == most);
    BOOST_TEST(read->bytes == most);
    BOOST_TEST(!read->is_for_results);
}

BOOST_AUTO_TEST_CASE(a_region_for_results_arrives_as_it_was_sent) {
    const auto read = decode_region(encode_region({4, 4096, true}));
    BOOST_TEST_REQUIRE(read.has_value());
    BOOST_TEST(read->region == 4u);
    BOOST_TEST(read->is_for_results);
    BOOST_TEST(encode_region({4, 4096, true}) == R"({"region":4,"bytes":4096,"results":1})");
    const auto refusal = decode_region(R"({"region":0,"bytes":4096,"results":1})");
    BOOST_TEST_REQUIRE(refusal.has_value());
    BOOST_TEST(refusal->region == 0u);
    BOOST_TEST(!decode_region(R"({"region":0,"bytes":0,"results":1})").has_value());
    BOOST_TEST(!decode_region(R"({"region":0,"bytes":4096,"results":0})").has_value());
}

BOOST_AUTO_TEST_CASE(other_packets_are_no_regions) {
    for (const std::string text :
         {"", "{", "[]", "{}", R"({"region":1})", R"({"bytes":1})", R"({"region":0,"bytes":1})",
          R"({"region":1,"bytes":0})", R"({"region":-1,"bytes":1})", R"({"region":1,"bytes":1.5})",
          R"({"region":"1","bytes":1})", R"({"region":[1],"bytes":1})"}) {
        BOOST_TEST_CONTEXT(text) {
            BOOST_TEST(!decode_region(text).has_value());
        }
    }
    BOOST_TEST(decode_region(R"({"region":1,"new":{"member":[1]},"bytes":4096})").has_value());
    const auto long_text = R"({"region":1,"bytes":4096,"new":")" + std::string(256, 'x') + "\"}";
    BOOST_TEST(!decode_region(long_text).has_value());
}

BOOST_AUTO_TEST_SUITE_END()
