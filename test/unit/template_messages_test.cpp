// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "wire/json_writer.hpp"
#include "wire/template_messages.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <string>

namespace skep::test {

namespace data = boost::unit_test::data;

BOOST_AUTO_TEST_SUITE(template_messages_test)

BOOST_AUTO_TEST_CASE(an_order_has_these_bytes) {
    const fork_order order{
        "default/0#1", {{"A", "1"}, {"B", std::nullopt}, {"C", "\"quoted\""}}, {"--port", "7"}};
    BOOST_TEST(encode_fork_order(order) ==
               R"({"type":"fork","worker":"default/0#1","environment":{"A":"1","B":null,"C":"\"quoted\""},)"
               R"("arguments":["--port","7"]})");
    BOOST_TEST(encode_fork_order({"p/1#2", {}, {}}) ==
               R"({"type":"fork","worker":"p/1#2","environment":{},"arguments":[]})");
}

BOOST_AUTO_TEST_CASE(an_order_of_other_text_than_utf8_is_not_sent) {
    BOOST_CHECK_THROW(encode_fork_order({"p/1#2", {{"A", "\xff"}}, {}}), unsendable);
    BOOST_CHECK_THROW(encode_fork_order({"p/1#2", {}, {"\xff"}}), unsendable);
}

BOOST_AUTO_TEST_CASE(a_report_tells_the_process_and_its_objections) {
    const auto report = decode_template_report(
        R"({"type":"template","version":1,"pid":7,"objections":["3 threads","a device"],"more":{}})");
    BOOST_TEST_REQUIRE(report.has_value());
    BOOST_TEST(report->pid == 7);
    BOOST_TEST(report->objections == (std::vector<std::string>{"3 threads", "a device"}),
               boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_report_may_have_no_objection) {
    BOOST_TEST(decode_template_report(R"({"type":"template","version":1,"pid":7})")->objections.empty());
}

BOOST_DATA_TEST_CASE(other_messages_are_no_reports,
                     data::make<std::string>({"", "[]", "{}", "\xff", R"({"type":"template","pid":7})",
                                              R"({"type":"template","version":2,"pid":7})",
                                              R"({"type":"template","version":1,"pid":0})",
                                              R"({"type":"template","version":1,"pid":-7})",
                                              R"({"type":"template","version":1,"pid":"7"})",
                                              R"({"type":"template","version":1,"pid":1e300})",
                                              R"({"type":"template","version":1})",
                                              R"({"type":1,"version":1,"pid":7})",
                                              R"({"type":"forked","version":1,"pid":7})",
                                              R"({"type":"template","version":1,"pid":7,"objections":"a"})",
                                              R"({"type":"template","version":1,"pid":7,"objections":[1]})"}),
                     message) {
    BOOST_TEST(!decode_template_report(message).has_value());
}

BOOST_AUTO_TEST_CASE(an_answer_names_the_worker_or_the_failure) {
    BOOST_TEST(decode_fork_answer(R"({"type":"forked","pid":7})")->pid == 7);
    const auto failure = decode_fork_answer(R"({"type":"failed","error":"fork: no"})");
    BOOST_TEST_REQUIRE(failure.has_value());
    BOOST_TEST(failure->pid == 0);
    BOOST_TEST(failure->error == "fork: no");
}

BOOST_DATA_TEST_CASE(
    other_messages_are_no_answers,
    data::make<std::string>({"", "[]", "{}", "\xff", R"({"pid":7})", R"({"type":"forked"})",
                             R"({"type":"forked","pid":0})", R"({"type":"forked","pid":-1})",
                             R"({"type":"forked","pid":7,"error":"no"})", R"({"type":"failed","pid":7})",
                             R"({"type":"failed","error":1})", R"({"type":"template","pid":7})"}),
    message) {
    BOOST_TEST(!decode_fork_answer(message).has_value());
}

BOOST_AUTO_TEST_CASE(a_message_has_a_largest_size) {
    const std::string begin = R"({"type":"failed","error":")";
    const std::string fits(most_template_bytes - begin.size() - 2, 'x');
    BOOST_TEST(decode_fork_answer(begin + fits + "\"}").has_value());
    BOOST_TEST(!decode_fork_answer(begin + fits + "x\"}").has_value());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
