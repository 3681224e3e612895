// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "wire/memory_packets.hpp"

#include <boost/test/unit_test.hpp>

#include <limits>
#include <string>

using namespace skep;

BOOST_AUTO_TEST_SUITE(memory_packets_test)

BOOST_AUTO_TEST_CASE(a_region_arrives_as_it_was_sent) {
    constexpr auto most = std::numeric_limits<std::uint64_t>::max();
    const auto text = encode_region({most, most});
    BOOST_TEST(text.size() <= most_packet_bytes);
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

BOOST_AUTO_TEST_CASE(sealed_memory_arrives_as_it_was_sent) {
    constexpr auto most = static_cast<std::size_t>(-1);
    for (const auto& packet : {sealed_packet{1, 1}, sealed_packet{7, 64u << 20}, sealed_packet{most, most}}) {
        const auto text = encode_sealed(packet);
        BOOST_TEST(text.size() <= most_packet_bytes);
        const auto read = decode_sealed(text);
        BOOST_REQUIRE(read.has_value());
        BOOST_TEST(read->number == packet.number);
        BOOST_TEST(read->bytes == packet.bytes);
    }
    BOOST_TEST(encode_sealed({2, 67108864}) == R"({"sealed":2,"bytes":67108864})");
}

BOOST_AUTO_TEST_CASE(unknown_members_of_sealed_memory_are_ignored) {
    BOOST_TEST(decode_sealed(R"({"moon":[{}],"bytes":4,"sealed":3})").has_value());
}

BOOST_AUTO_TEST_CASE(other_packets_are_no_sealed_memory) {
    for (const std::string text :
         {"", "{}", "[]", "x", R"({"sealed":1})", R"({"bytes":1})", R"({"sealed":0,"bytes":1})",
          R"({"sealed":1,"bytes":0})", R"({"sealed":-1,"bytes":1})", R"({"sealed":"1","bytes":1})",
          R"({"sealed":1,"bytes":1.5})", R"({"region":1,"bytes":1})", R"({"sealed":1,"bytes":1)"}) {
        BOOST_TEST(!decode_sealed(text).has_value(), text);
    }
    const auto long_text = R"({"sealed":1,"bytes":1,"more":")" + std::string(300, 'x') + R"("})";
    BOOST_TEST(!decode_sealed(long_text).has_value());
    BOOST_TEST(!decode_region(encode_sealed({1, 1})).has_value());
    BOOST_TEST(!decode_sealed(encode_region({1, 1})).has_value());
}

BOOST_AUTO_TEST_SUITE_END()
