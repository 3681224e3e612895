// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "wire/link_head.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

using namespace skep;

BOOST_AUTO_TEST_SUITE(link_head_test)

namespace {

std::string bytes_of(const link_message& message) {
    const auto head = encode_link_head(message);
    return std::string(head.begin(), head.end()).append(message.body);
}

std::string hex(const std::string& bytes) {
    std::string text;
    for (const unsigned char each : bytes) {
        text += "0123456789abcdef"[each >> 4];
        text += "0123456789abcdef"[each & 15];
    }
    return text;
}

} // namespace

BOOST_AUTO_TEST_CASE(a_message_has_these_bytes) {
    link_message message;
    message.kind = link_kind::data;
    message.load = {0x0102, 0x0304, true, true};
    message.window = 0x05060708;
    message.position = 0x090a0b0c0d0e0f10;
    message.expected = 0x1112131415161718;
    message.body = "ab";
    message.epoch = 1;
    BOOST_TEST(hex(bytes_of(message)) == "534b4c31"         // SKL1
                                         "04"               // data
                                         "03"               // draining and full
                                         "0102"             // calls
                                         "0304"             // places
                                         "0001"             // epoch
                                         "05060708"         // window
                                         "090a0b0c0d0e0f10" // position
                                         "1112131415161718" // expected
                                         "6162");
}

BOOST_AUTO_TEST_CASE(a_decoded_message_is_the_encoded_one) {
    link_message message;
    message.kind = link_kind::sync_ack;
    message.load = {7, 4, false, true};
    message.window = 2 << 20;
    message.position = 1;
    message.expected = ~std::uint64_t(0);
    message.body = "the body";
    message.epoch = 0xfffe;
    const auto bytes = bytes_of(message);
    const auto decoded = decode_link_message(bytes);
    BOOST_REQUIRE(decoded.has_value());
    BOOST_CHECK(decoded->kind == link_kind::sync_ack);
    BOOST_CHECK(decoded->load == message.load);
    BOOST_TEST(decoded->window == message.window);
    BOOST_TEST(decoded->position == message.position);
    BOOST_TEST(decoded->expected == message.expected);
    BOOST_TEST(decoded->body == message.body);
    BOOST_TEST(decoded->epoch == message.epoch);
}

BOOST_AUTO_TEST_CASE(unknown_flags_are_ignored) {
    auto bytes = bytes_of({});
    bytes[5] = '\xfc';
    const auto decoded = decode_link_message(bytes);
    BOOST_REQUIRE(decoded.has_value());
    BOOST_TEST(!decoded->load.is_draining);
    BOOST_TEST(!decoded->load.is_full);
}

BOOST_AUTO_TEST_CASE(other_bytes_are_no_message) {
    const auto valid = bytes_of({});
    BOOST_TEST(!decode_link_message("").has_value());
    BOOST_TEST(!decode_link_message(std::string_view(valid).substr(0, link_head_size - 1)).has_value());
    for (const char kind : {0, 10, -1}) {
        auto bytes = valid;
        bytes[4] = kind;
        BOOST_TEST(!decode_link_message(bytes).has_value());
    }
    for (std::size_t i = 0; i < 4; ++i) {
        auto bytes = valid;
        bytes[i] ^= 1;
        BOOST_TEST(!decode_link_message(bytes).has_value());
    }
}

BOOST_AUTO_TEST_SUITE_END()
