// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/line_splitter.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <vector>

using namespace skep;

BOOST_AUTO_TEST_SUITE(line_splitter_test)

namespace {

using lines = std::vector<std::string>;

/// What shall come out, said as plainly as possible.
lines expected(std::string_view text, std::size_t limit) {
    lines result;
    while (!text.empty()) {
        const auto end = text.find_first_of("\r\n");
        auto line = text.substr(0, end);
        text.remove_prefix(end == text.npos ? text.size() : end);
        const bool is_redrawn = !text.empty() && text.front() == '\r';
        text.remove_prefix(std::min(text.find_first_not_of('\r'), text.size()));
        const bool is_newline = !text.empty() && text.front() == '\n';
        text.remove_prefix(is_newline ? 1 : 0);
        if (line.empty() && is_redrawn && !is_newline) {
            continue; // a carriage return at the beginning of a line ends none
        }
        for (; line.size() > limit; line.remove_prefix(limit)) {
            result.emplace_back(line.substr(0, limit));
        }
        result.emplace_back(line);
    }
    return result;
}

/// What comes out of `text` fed in these pieces.
lines split(const std::vector<std::string_view>& pieces, std::size_t limit) {
    lines result;
    const auto sink = [&result](std::string_view line, line_end) {
        result.emplace_back(line);
        return true;
    };
    line_splitter splitter(limit);
    for (const auto piece : pieces) {
        splitter.feed(piece, sink);
    }
    splitter.finish(sink);
    return result;
}

void check_every_split(std::string_view text, std::size_t limit) {
    const auto wanted = expected(text, limit);
    for (std::size_t i = 0; i <= text.size(); ++i) {
        for (std::size_t j = i; j <= text.size(); ++j) {
            const auto got = split({text.substr(0, i), text.substr(i, j - i), text.substr(j)}, limit);
            BOOST_REQUIRE_MESSAGE(got == wanted, "limit " << limit << ", cut at " << i << " and " << j
                                                          << " of: " << std::string(text) << "; got "
                                                          << got.size() << " lines, not " << wanted.size());
        }
    }
}

} // namespace

BOOST_AUTO_TEST_CASE(lines_come_out_whole) {
    check_every_split("one\ntwo\nthree\n", 80);
}

BOOST_AUTO_TEST_CASE(what_follows_the_last_line_end_comes_out_at_the_end) {
    check_every_split("one\ntwo", 80);
}

BOOST_AUTO_TEST_CASE(empty_lines_are_lines) {
    check_every_split("\n\na\n\n\nb\n\n", 80);
}

BOOST_AUTO_TEST_CASE(nothing_makes_no_line) {
    BOOST_TEST(split({}, 80).empty());
    BOOST_TEST(split({"", "", ""}, 80).empty());
}

BOOST_AUTO_TEST_CASE(a_long_line_comes_in_pieces) {
    check_every_split("0123456789abc\nx\n", 4);
}

BOOST_AUTO_TEST_CASE(a_line_as_long_as_the_limit_is_one_line) {
    check_every_split("0123\nx\n", 4);
}

BOOST_AUTO_TEST_CASE(a_line_twice_as_long_as_the_limit_is_two) {
    check_every_split("01234567\nx\n", 4);
}

BOOST_AUTO_TEST_CASE(a_last_line_as_long_as_the_limit_comes_once) {
    check_every_split("x\n0123", 4);
}

BOOST_AUTO_TEST_CASE(a_limit_of_one) {
    check_every_split("ab\n\nc\n", 1);
}

BOOST_AUTO_TEST_CASE(a_carriage_return_ends_a_line) {
    BOOST_TEST((split({"10%\r20%\r30%\r"}, 80) == lines{"10%", "20%", "30%"}));
    BOOST_TEST((split({"\r10%\r20%\ndone\n"}, 80) == lines{"10%", "20%", "done"}));
    check_every_split("one\rtwo\rthree\n", 80);
    check_every_split("\rone\rtwo\n\rthree", 80);
}

BOOST_AUTO_TEST_CASE(a_carriage_return_and_a_newline_are_one_end) {
    BOOST_TEST((split({"one\r\n\r\ntwo\r", "\nthree\r\r\n"}, 80) == lines{"one", "", "two", "three"}));
    check_every_split("one\r\ntwo\r\n\r\nthree\r\r\n\n\rfour\r", 80);
    check_every_split("0123\r\n4567\r89ab\n", 4);
}

namespace {

/// What comes out of `pieces` where every line is refused that may be refused.
lines split_refusing(const std::vector<std::string_view>& pieces) {
    lines result;
    const auto sink = [&result](std::string_view line, line_end end) {
        if (end == line_end::newline) {
            result.emplace_back(line);
        }
        return end == line_end::newline;
    };
    line_splitter splitter(80);
    for (const auto piece : pieces) {
        splitter.feed(piece, sink);
    }
    splitter.finish(sink);
    return result;
}

} // namespace

BOOST_AUTO_TEST_CASE(a_line_that_is_refused_comes_again_unless_it_is_drawn_over) {
    BOOST_TEST((split_refusing({"10%\r20%\r30%\r"}) == lines{"30%"}));
    BOOST_TEST((split_refusing({"10%\r", "20%\r", "30%\r", "\r", "\nend"}) == lines{"30%", "end"}));
    BOOST_TEST((split_refusing({"10%\r", "20%\n", "\r", "30%\n"}) == lines{"20%", "30%"}));
    BOOST_TEST((split_refusing({"10%\r", "\n", "\n", "one\r\ntwo\r\n"}) == lines{"10%", "", "one", "two"}));
    BOOST_TEST((split_refusing({"10%\r", "\r", "\r"}) == lines{"10%"}));
}

BOOST_AUTO_TEST_CASE(a_line_is_offered_once) {
    std::size_t offers = 0;
    const auto sink = [&offers](std::string_view, line_end end) {
        offers += end == line_end::carriage_return ? 1 : 0;
        return false;
    };
    line_splitter splitter(80);
    for (const auto piece : {"10%\r", "\r", "\r", "20%"}) {
        splitter.feed(piece, sink);
    }
    splitter.feed("\r\n", sink); // not drawn over
    BOOST_TEST(offers == 1u);
}

BOOST_AUTO_TEST_CASE(byte_by_byte) {
    const std::string_view text = "alpha\n\nbeta gamma\r delta\r\n\rend";
    for (std::size_t limit = 1; limit < 20; ++limit) {
        std::vector<std::string_view> bytes;
        for (std::size_t i = 0; i < text.size(); ++i) {
            bytes.push_back(text.substr(i, 1));
        }
        const auto got = split(bytes, limit);
        BOOST_CHECK_MESSAGE(got == expected(text, limit), "limit " << limit);
    }
}

BOOST_AUTO_TEST_CASE(random_texts_and_cuts) {
    std::minstd_rand random(7);
    for (int round = 0; round < 20'000; ++round) {
        std::string text;
        for (auto length = random() % 40; length > 0; --length) {
            text += std::string_view("\n\rxxxxxx")[random() % 8];
        }
        const std::size_t limit = 1 + random() % 9;
        std::vector<std::string_view> pieces;
        for (std::string_view rest = text; !rest.empty();) {
            const auto length = std::min<std::size_t>(rest.size(), random() % 12);
            pieces.push_back(rest.substr(0, length));
            rest.remove_prefix(length);
        }
        BOOST_REQUIRE_MESSAGE(split(pieces, limit) == expected(text, limit),
                              "round " << round << ", limit " << limit);
    }
}

BOOST_AUTO_TEST_SUITE_END()
