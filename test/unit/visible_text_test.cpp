// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/text.hpp"
#include "core/visible_text.hpp"
#include <skep/error.hpp>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <boost/test/unit_test.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace skep::test {

using namespace std::string_literals;
using namespace std::string_view_literals;

BOOST_AUTO_TEST_SUITE(visible_text)

namespace {

struct row {
    std::string_view said;
    std::string_view shown;
};

const std::vector<row> rows{
    {"", ""},
    {"plain", "plain"},
    {"tab\tquote\"back\\slash", "tab\tquote\"back\\slash"},
    {"gr\u00fc\u00df \u20ac \U0001f41d \u00a0", "gr\u00fc\u00df \u20ac \U0001f41d \u00a0"},
    {"a\0b"sv, "a\\x00b"},
    {"\x1b[2J\r\v\b\x7f", "\\x1b[2J\\x0d\\x0b\\x08\\x7f"},
    {"\u0080\u009b31m\u009f", "\\u0080\\u009b31m\\u009f"},
    {"\u202e\u202a\u2066\u2069\u200e\u200f\u061c", "\\u202e\\u202a\\u2066\\u2069\\u200e\\u200f\\u061c"},
    {"a\u2028b\u2029c\ufeff\ufffb", "a\\u2028b\\u2029c\\ufeff\\ufffb"},
    {"\u2027\u202f\u2065\u2070", "\u2027\u202f\u2065\u2070"}, // their neighbours
    {"\xff", "\\xff"},
    {"caf\xe9", "caf\\xe9"},
    {"\xe2\x80", "\\xe2\\x80"},          // cut off
    {"\xc0\x9b", "\\xc0\\x9b"},          // overlong
    {"\xed\xa0\x80", "\\xed\\xa0\\x80"}, // a surrogate
    {"\x9b"
     "31m",
     "\\x9b31m"},
};

} // namespace

BOOST_AUTO_TEST_CASE(what_acts_is_escaped_and_the_rest_is_as_it_was) {
    for (const auto& [said, shown] : rows) {
        BOOST_TEST(visible(said) == shown);
        BOOST_TEST(visible(visible(said)) == shown);
        BOOST_TEST(is_utf8(visible(said)));
    }
    BOOST_TEST(visible("one\ntwo") == "one\\ntwo");
    BOOST_TEST(visible("one\n\u009btwo\r\n", line_feeds::keep) == "one\n\\u009btwo\\x0d\n");
}

BOOST_AUTO_TEST_CASE(json_means_the_same) {
    for (const auto& [said, shown] : rows) {
        if (is_utf8(said)) {
            const boost::json::value value{{"text", said}};
            const auto text = visible_json(boost::json::serialize(value));
            BOOST_TEST(boost::json::parse(text) == value);
            BOOST_TEST(visible(text) == text);
        }
    }
}

BOOST_AUTO_TEST_CASE(an_error_shows_nothing_that_acts) {
    error_info info;
    info.command = "a\nb";
    info.remote_type = "Evil\u202e";
    info.remote_message = "first\n  likely cause: forged\u2028\x1b]0;title\x07";
    info.remote_traceback = "line one\nline two \u009b31m";
    info.output_tail = "caf\xe9\n";
    const error failure(errc::remote_error, info);
    const std::string_view text = failure.what();
    BOOST_TEST(is_utf8(text));
    BOOST_TEST(visible(text, line_feeds::keep) == text);
    BOOST_TEST(
        text.find(
            "Evil\\u202e: first\n      likely cause: forged\\u2028\\x1b]0;title\\x07 [command 'a\\nb']") !=
            std::string_view::npos,
        text);
    BOOST_TEST(text.find("\n    line one\n    line two \\u009b31m") != std::string_view::npos, text);
    BOOST_TEST(text.find("\n    caf\\xe9") != std::string_view::npos, text);
    BOOST_TEST(failure.info().remote_message == info.remote_message); // for programs
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
