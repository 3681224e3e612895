// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "wire/frame.hpp"
#include "wire/stray_output.hpp"

#include <boost/test/unit_test.hpp>

#include <vector>

namespace skep::test {

BOOST_AUTO_TEST_SUITE(stray_outputs)

BOOST_AUTO_TEST_CASE(text_is_shown_up_to_its_first_line_end) {
    struct row {
        std::string_view unread;
        std::string_view shown;
    };
    for (const auto& row : std::vector<row>{{"", ""},
                                            {"\n", ""},
                                            {"hi", "hi"},
                                            {"Welcome!\nBye", "Welcome!"},
                                            {"\r\n\nLast login: today\r\n", "Last login: today"},
                                            {"\x1b[1mbold\x1b[0m", "\\x1b[1mbold\\x1b[0m"},
                                            {"gr\xc3\xbc\xc3\x9f dich", "gr\xc3\xbc\xc3\x9f dich"},
                                            {"caf\xe9 \xc2\x9b[2J", "caf\\xe9 \\u009b[2J"},
                                            {"\ttab", "\ttab"}}) {
        BOOST_TEST(stray_output(row.unread) == row.shown);
    }
    BOOST_TEST(stray_output(std::string("text\0\x01\x7f", 7)) == "text\\x00\\x01\\x7f");
    BOOST_TEST(stray_output(std::string(1000, 'x')) == std::string(80, 'x') + "...");
    BOOST_TEST(stray_output(std::string(79, 'x') + "\xe2\x82\xac more") == std::string(79, 'x') + "...");
    BOOST_TEST(stray_output(std::string(80, 'x')) == std::string(80, 'x'));
}

BOOST_AUTO_TEST_CASE(a_frame_is_not_text) {
    for (const std::size_t size : {0u, 100u, 70'000u, 20u << 20}) {
        std::string frame;
        const auto begin = begin_frame(frame);
        frame.append(size, 's');
        end_frame(frame, begin, frame.size());
        BOOST_TEST(stray_output(frame).empty(), "a frame of " << size);
        BOOST_TEST(stray_output(frame.substr(0, 3)).empty(), "a frame of " << size);
    }
    BOOST_TEST(stray_output("\xff\xff\xff\x01garbage").empty());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
