// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "wire/home_messages.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

namespace skep::test {

namespace data = boost::unit_test::data;

BOOST_AUTO_TEST_SUITE(home_messages_test)

namespace {

// The bytes of PROTOCOL.md.
constexpr auto golden_question = R"({"v":1,"pool":"default","session":"user-42"})";
constexpr auto golden_forget = R"({"v":1,"pool":"default","session":"user-42","forget":true})";
constexpr auto golden_answer = R"({"v":1,"node":"gpu-7","epoch":"5f1c","draining":false})";

} // namespace

BOOST_AUTO_TEST_CASE(the_bytes_are_those_of_the_protocol) {
    BOOST_TEST(encode_home_question({"default", "user-42"}) == golden_question);
    BOOST_TEST(encode_home_question({"default", "user-42", true}) == golden_forget);
    BOOST_TEST(encode_home_answer({"gpu-7", "5f1c"}) == golden_answer);
}

BOOST_AUTO_TEST_CASE(a_question_comes_as_it_was_asked) {
    for (const auto* const text : {golden_question, golden_forget}) {
        const auto question = decode_home_question(text);
        BOOST_REQUIRE(question.has_value());
        BOOST_TEST(question->pool == "default");
        BOOST_TEST(question->session == "user-42");
        BOOST_TEST(question->is_to_forget == (text == golden_forget));
    }
    const auto odd = decode_home_question(encode_home_question({"p\"", "\x01\"\\\xc3\xa4"}));
    BOOST_REQUIRE(odd.has_value());
    BOOST_TEST(odd->session == "\x01\"\\\xc3\xa4");
    BOOST_TEST(decode_home_question(R"({"new":[1],"session":"s","pool":"p","v":1})").has_value());
}

BOOST_AUTO_TEST_CASE(an_answer_comes_as_it_was_given) {
    const auto answer = decode_home_answer(encode_home_answer({"gpu-7", "5\"", true}));
    BOOST_REQUIRE(answer.has_value());
    BOOST_TEST(answer->node == "gpu-7");
    BOOST_TEST(answer->epoch == "5\"");
    BOOST_TEST(answer->is_draining);
    BOOST_TEST(decode_home_answer(R"({"new":[1],"epoch":"e","node":"n","v":1})").has_value());
}

BOOST_DATA_TEST_CASE(the_longest_session_fits, data::make<std::string>({"x", "\x01"}), letter) {
    std::string session;
    for (int i = 0; i < 256; ++i) {
        session += letter;
    }
    const auto text = encode_home_question({"default", session});
    BOOST_TEST(text.size() <= most_home_bytes);
    BOOST_TEST(decode_home_question(text).has_value());
    BOOST_TEST(!decode_home_question(encode_home_question({"default", session + "x"})).has_value());
}

BOOST_DATA_TEST_CASE(
    another_text_is_no_question,
    data::make<std::string>({"", "[]", "null", "{}", R"({"v":1,"pool":"p"})", R"({"v":1,"session":"s"})",
                             R"({"pool":"p","session":"s"})", R"({"v":2,"pool":"p","session":"s"})",
                             R"({"v":"1","pool":"p","session":"s"})", R"({"v":1,"pool":"","session":"s"})",
                             R"({"v":1,"pool":"p","session":""})", R"({"v":1,"pool":"p","session":7})",
                             R"({"v":1,"pool":["p"],"session":"s"})",
                             R"({"v":1,"pool":"p","session":"s","forget":1})",
                             R"({"v":1,"pool":"p","session":"s","session":"t"})",
                             "{\"v\":1,\"pool\":\"p\",\"session\":\"\xff\"}",
                             R"({"v":1,"pool":"p","session":"s")", golden_answer}),
    text) {
    BOOST_TEST(!decode_home_question(text).has_value());
}

BOOST_DATA_TEST_CASE(
    another_text_is_no_answer,
    data::make<std::string>({"", "[]", "null", "{}", R"({"v":1,"node":"n"})", R"({"v":1,"epoch":"e"})",
                             R"({"node":"n","epoch":"e"})", R"({"v":2,"node":"n","epoch":"e"})",
                             R"({"v":1,"node":"a.b","epoch":"e"})", R"({"v":1,"node":"","epoch":"e"})",
                             R"({"v":1,"node":"n","epoch":""})", R"({"v":1,"node":1,"epoch":"e"})",
                             R"({"v":1,"node":"n","epoch":"e","draining":"no"})",
                             R"({"v":1,"node":"n","epoch":"e")", golden_question}),
    text) {
    BOOST_TEST(!decode_home_answer(text).has_value());
}

BOOST_AUTO_TEST_CASE(a_message_that_is_too_long_is_ignored) {
    const std::string filler(most_home_bytes, 'x');
    BOOST_TEST(
        !decode_home_question(R"({"v":1,"pool":"p","session":"s","x":")" + filler + "\"}").has_value());
    BOOST_TEST(!decode_home_answer(R"({"v":1,"node":"n","epoch":"e","x":")" + filler + "\"}").has_value());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
