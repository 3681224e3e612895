// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "remote/link_greeting.hpp"
#include "wire/protocol_violation.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <string>

namespace skep::test {

namespace data = boost::unit_test::data;

BOOST_AUTO_TEST_SUITE(link_greeting_test)

namespace {

std::string refusal_of_wish(const std::string& text) {
    try {
        read_link_wish(text);
    } catch (const protocol_violation& violation) {
        return violation.what();
    }
    return {};
}

} // namespace

BOOST_AUTO_TEST_CASE(a_wish_has_this_text) {
    BOOST_TEST(encode_link_wish({"gpu", "web\"1"}) == R"({"v":1,"pool":"gpu","client":"web\"1"})");
    BOOST_TEST(encode_link_wish({}) == R"({"v":1,"pool":"","client":""})");
}

BOOST_AUTO_TEST_CASE(a_read_wish_is_the_encoded_one) {
    const auto wish = read_link_wish(encode_link_wish({"gpu \xC3\xA4", "web\"1\n"}));
    BOOST_TEST(wish.pool == "gpu \xC3\xA4");
    BOOST_TEST(wish.client == "web\"1\n");
}

BOOST_AUTO_TEST_CASE(unknown_members_are_ignored_and_names_may_be_missing) {
    const auto wish = read_link_wish(R"({"new":[1,{"a":null}],"v":1})");
    BOOST_TEST(wish.pool.empty());
    BOOST_TEST(wish.client.empty());
}

BOOST_DATA_TEST_CASE(another_version_is_refused,
                     data::make<std::string>({"{}", R"({"pool":"gpu"})", R"({"v":0})", R"({"v":2})",
                                              R"({"v":-1})", R"({"v":"1"})", R"({"v":null})", R"({"v":[1]})",
                                              R"({"v":1.5})", R"({"v":true})",
                                              R"({"v":18446744073709551615})"}),
                     text) {
    BOOST_TEST(refusal_of_wish(text) == "the node speaks version 1 of the link protocol");
}

BOOST_DATA_TEST_CASE(names_are_texts, data::make<std::string>({"1", "null", "[]", R"({"a":"b"})", "true"}),
                     value) {
    BOOST_TEST(refusal_of_wish(R"({"v":1,"pool":)" + value + "}") ==
               "'pool' of the request for a link is no text");
    BOOST_TEST(refusal_of_wish(R"({"v":1,"client":)" + value + "}") ==
               "'client' of the request for a link is no text");
}

BOOST_DATA_TEST_CASE(other_texts_are_refused,
                     data::make<std::string>({"", "wish", "[]", R"("v")", R"({"v":1)", R"({"v":1}})",
                                              R"({"v":1,"v":1})", R"({"v":1,"x":[[[[[[[[[]]]]]]]]]})",
                                              R"({"v":1,"x":1e999})", "{\"v\":1,\"pool\":\"\xff\"}"}),
                     text) {
    BOOST_TEST(!refusal_of_wish(text).empty());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
