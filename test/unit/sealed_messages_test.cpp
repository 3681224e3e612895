// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "wire/region_messages.hpp"
#include "wire/sealed_messages.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

using namespace skep;

BOOST_AUTO_TEST_SUITE(sealed_messages_test)

BOOST_AUTO_TEST_CASE(a_packet_is_read_as_it_was_written) {
    constexpr auto most = static_cast<std::size_t>(-1);
    for (const auto& packet : {sealed_packet{1, 1}, sealed_packet{7, 64u << 20}, sealed_packet{most, most}}) {
        const auto text = encode_sealed(packet);
        BOOST_TEST(text.size() <= most_region_bytes);
        const auto read = decode_sealed(text);
        BOOST_REQUIRE(read.has_value());
        BOOST_TEST(read->number == packet.number);
        BOOST_TEST(read->bytes == packet.bytes);
    }
    BOOST_TEST(encode_sealed({2, 67108864}) == R"({"sealed":2,"bytes":67108864})");
}

BOOST_AUTO_TEST_CASE(unknown_members_are_ignored) {
    BOOST_TEST(decode_sealed(R"({"moon":[{}],"bytes":4,"sealed":3})").has_value());
}

BOOST_AUTO_TEST_CASE(other_packets_are_none) {
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
