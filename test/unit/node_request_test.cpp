// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "wire/node_request.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <string>

namespace skep::test {

namespace data = boost::unit_test::data;

BOOST_AUTO_TEST_SUITE(node_request_test)

BOOST_AUTO_TEST_CASE(requests_have_these_bytes) {
    BOOST_TEST(encode_node_request(node_action::drain) == R"({"v":1,"do":"drain"})");
    BOOST_TEST(encode_node_request(node_action::undrain) == R"({"v":1,"do":"undrain"})");
    BOOST_TEST(encode_node_request(node_action::restart) == R"({"v":1,"do":"restart"})");
}

BOOST_AUTO_TEST_CASE(answers_have_these_bytes) {
    BOOST_TEST(encode_action_outcome({true, "the node \"drains\""}) ==
               R"({"v":1,"ok":true,"text":"the node \"drains\""})");
    BOOST_TEST(encode_action_outcome({false, "\xff"}) == "{\"v\":1,\"ok\":false,\"text\":\"\xef\xbf\xbd\"}");
}

BOOST_AUTO_TEST_CASE(an_action_comes_back) {
    for (const auto each : {node_action::drain, node_action::undrain, node_action::restart}) {
        const auto name = decode_node_request(encode_node_request(each));
        BOOST_TEST_REQUIRE(name.has_value());
        BOOST_TEST((node_action_of(*name) == each));
    }
    BOOST_TEST(!node_action_of("Drain").has_value());
    BOOST_TEST(!node_action_of("").has_value());
}

BOOST_AUTO_TEST_CASE(an_action_of_another_version_of_skep_is_passed_on) {
    BOOST_TEST(decode_node_request(R"({"more":[1],"do":"dance","v":1})").value() == "dance");
}

BOOST_DATA_TEST_CASE(other_messages_are_no_requests,
                     data::make<std::string>({"", "[]", "{", "\xff", R"({"do":"drain"})",
                                              R"({"v":2,"do":"drain"})", R"({"v":1})", R"({"v":1,"do":1})",
                                              R"({"v":"1","do":"drain"})"}),
                     message) {
    BOOST_TEST(!decode_node_request(message).has_value());
}

BOOST_AUTO_TEST_CASE(a_request_has_a_largest_size) {
    const std::string begin = R"({"v":1,"do":"drain","more":")";
    const std::string fits(most_request_bytes - begin.size() - 2, 'x');
    BOOST_TEST(decode_node_request(begin + fits + "\"}").has_value());
    BOOST_TEST(!decode_node_request(begin + fits + "x\"}").has_value());
}

BOOST_AUTO_TEST_CASE(an_answer_comes_back) {
    const auto answer = decode_action_outcome(encode_action_outcome({true, "done"}));
    BOOST_TEST_REQUIRE(answer.has_value());
    BOOST_TEST(answer->is_done);
    BOOST_TEST(answer->text == "done");
    BOOST_TEST(decode_action_outcome(R"({"v":1,"ok":false})").value().text.empty());
}

BOOST_AUTO_TEST_CASE(a_long_answer_is_shortened) {
    for (const auto character : {'x', '"', '\x01'}) {
        const auto message = encode_action_outcome({false, std::string(100'000, character)});
        BOOST_TEST(message.size() <= most_request_bytes);
        BOOST_TEST(decode_action_outcome(message).value().text.size() > 600u);
    }
}

BOOST_DATA_TEST_CASE(other_messages_are_no_answers,
                     data::make<std::string>({"", "7", R"({"ok":true})", R"({"v":1,"ok":"yes"})",
                                              R"({"v":1,"text":"done"})", R"({"v":3,"ok":true})"}),
                     message) {
    BOOST_TEST(!decode_action_outcome(message).has_value());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
