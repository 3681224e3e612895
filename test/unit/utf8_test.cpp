// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "support/text.hpp"

#include <boost/test/unit_test.hpp>

#include <array>
#include <cstdint>
#include <string>

using skep::is_utf8;

BOOST_AUTO_TEST_SUITE(utf8_test)

namespace {

// By the definition of UTF-8 and not by the table of byte ranges: decode, then judge the code point.
bool naive_is_utf8(std::string_view text) {
    while (!text.empty()) {
        const auto lead = static_cast<unsigned char>(text[0]);
        std::size_t length = 0;
        std::uint32_t point = 0;
        if ((lead & 0x80) == 0) {
            length = 1;
            point = lead;
        } else if ((lead & 0xE0) == 0xC0) {
            length = 2;
            point = lead & 0x1Fu;
        } else if ((lead & 0xF0) == 0xE0) {
            length = 3;
            point = lead & 0x0Fu;
        } else if ((lead & 0xF8) == 0xF0) {
            length = 4;
            point = lead & 0x07u;
        } else {
            return false;
        }
        if (text.size() < length) {
            return false;
        }
        for (std::size_t i = 1; i < length; ++i) {
            const auto byte = static_cast<unsigned char>(text[i]);
            if ((byte & 0xC0) != 0x80) {
                return false;
            }
            point = point << 6 | (byte & 0x3Fu);
        }
        constexpr std::array<std::uint32_t, 5> smallest{0, 0, 0x80, 0x800, 0x10000};
        if (point < smallest.at(length) || point > 0x10FFFF || (point >= 0xD800 && point <= 0xDFFF)) {
            return false;
        }
        text.remove_prefix(length);
    }
    return true;
}

template <class... Bytes>
std::string bytes(Bytes... values) {
    return {static_cast<char>(values)...};
}

std::string encode(std::uint32_t point) {
    if (point < 0x80) {
        return bytes(point);
    }
    if (point < 0x800) {
        return bytes(0xC0 | point >> 6, 0x80 | (point & 0x3F));
    }
    if (point < 0x10000) {
        return bytes(0xE0 | point >> 12, 0x80 | (point >> 6 & 0x3F), 0x80 | (point & 0x3F));
    }
    return bytes(0xF0 | point >> 18, 0x80 | (point >> 12 & 0x3F), 0x80 | (point >> 6 & 0x3F),
                 0x80 | (point & 0x3F));
}

constexpr std::array third_bytes{0x00, 0x7F, 0x80, 0x81, 0x8F, 0x90, 0x9F, 0xA0, 0xBE, 0xBF, 0xC0, 0xFF};

} // namespace

BOOST_AUTO_TEST_CASE(empty_text_is_valid) {
    BOOST_TEST(is_utf8(""));
    BOOST_TEST(is_utf8({}));
}

BOOST_AUTO_TEST_CASE(all_single_bytes) {
    for (int byte = 0; byte < 256; ++byte) {
        BOOST_TEST(is_utf8(bytes(byte)) == (byte < 0x80), "byte " << byte);
    }
}

BOOST_AUTO_TEST_CASE(all_pairs_of_bytes) {
    for (int one = 0; one < 256; ++one) {
        for (int two = 0; two < 256; ++two) {
            const auto text = bytes(one, two);
            if (is_utf8(text) != naive_is_utf8(text)) {
                BOOST_ERROR("bytes " << one << ", " << two);
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(three_bytes_with_every_lead_and_second_byte) {
    for (int one = 0; one < 256; ++one) {
        for (int two = 0; two < 256; ++two) {
            for (const int three : third_bytes) {
                const auto text = bytes(one, two, three);
                if (is_utf8(text) != naive_is_utf8(text)) {
                    BOOST_ERROR("bytes " << one << ", " << two << ", " << three);
                }
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(four_bytes_with_every_lead_and_second_byte) {
    for (int one = 0x7F; one < 256; ++one) {
        for (int two = 0; two < 256; ++two) {
            for (const int three : third_bytes) {
                for (const int four : third_bytes) {
                    const auto text = bytes(one, two, three, four);
                    if (is_utf8(text) != naive_is_utf8(text)) {
                        BOOST_ERROR("bytes " << one << ", " << two << ", " << three << ", " << four);
                    }
                }
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(every_code_point_but_the_surrogates) {
    for (std::uint32_t point = 0; point < 0x110000; ++point) {
        const bool surrogate = point >= 0xD800 && point <= 0xDFFF;
        if (is_utf8(encode(point)) == surrogate) {
            BOOST_ERROR("code point " << point);
        }
    }
    BOOST_TEST(!is_utf8(encode(0x110000)));
    BOOST_TEST(!is_utf8(encode(0x1FFFFF)));
}

BOOST_AUTO_TEST_CASE(overlong_forms) {
    BOOST_TEST(!is_utf8(bytes(0xC0, 0x80)));
    BOOST_TEST(!is_utf8(bytes(0xC1, 0xBF)));
    BOOST_TEST(!is_utf8(bytes(0xE0, 0x80, 0x80)));
    BOOST_TEST(!is_utf8(bytes(0xE0, 0x9F, 0xBF)));
    BOOST_TEST(!is_utf8(bytes(0xF0, 0x80, 0x80, 0x80)));
    BOOST_TEST(!is_utf8(bytes(0xF0, 0x8F, 0xBF, 0xBF)));
    BOOST_TEST(!is_utf8(bytes(0xF8, 0x88, 0x80, 0x80, 0x80)));
    BOOST_TEST(!is_utf8(bytes(0xFC, 0x84, 0x80, 0x80, 0x80, 0x80)));
}

BOOST_AUTO_TEST_CASE(truncation_at_the_end_wherever_the_end_is) {
    for (const std::uint32_t point : {0x80u, 0x7FFu, 0x800u, 0xFFFFu, 0x10000u, 0x10FFFFu}) {
        const auto sequence = encode(point);
        for (std::size_t before = 0; before < 20; ++before) {
            const std::string prefix(before, 'a');
            BOOST_TEST(is_utf8(prefix + sequence));
            for (std::size_t length = 1; length < sequence.size(); ++length) {
                BOOST_TEST(!is_utf8(prefix + sequence.substr(0, length)), point << " after " << before);
                BOOST_TEST(!is_utf8(prefix + sequence.substr(0, length) + "a"), point << " after " << before);
            }
        }
    }
}

// The view must not be read past its end, even if what lies behind it would complete it.
BOOST_AUTO_TEST_CASE(a_view_ends_where_it_ends) {
    const std::string text = "abcdefg\xC3\xA4";
    BOOST_TEST(is_utf8(text));
    BOOST_TEST(!is_utf8(std::string_view(text).substr(0, 8)));
    BOOST_TEST(is_utf8(std::string_view(text).substr(0, 7)));
    const std::string bad = "abcdefg\xFF";
    BOOST_TEST(is_utf8(std::string_view(bad).substr(0, 7)));
}

BOOST_AUTO_TEST_CASE(one_odd_byte_at_every_offset_of_ascii_text) {
    for (std::size_t size = 1; size <= 40; ++size) {
        for (std::size_t at = 0; at < size; ++at) {
            for (const int byte : {0x80, 0xBF, 0xC2, 0xE1, 0xF1, 0xFF}) {
                std::string text(size, 'a');
                BOOST_TEST(is_utf8(text));
                text[at] = static_cast<char>(byte);
                BOOST_TEST(!is_utf8(text), "byte " << byte << " at " << at << " of " << size);
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(one_sequence_at_every_offset_of_ascii_text) {
    for (const std::uint32_t point : {0x80u, 0x20ACu, 0x1F600u}) {
        for (std::size_t before = 0; before < 24; ++before) {
            for (std::size_t after = 0; after < 24; ++after) {
                const auto text = std::string(before, 'a') + encode(point) + std::string(after, 'z');
                if (!is_utf8(text)) {
                    BOOST_ERROR("code point " << point << " at " << before << ", then " << after);
                }
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(nul_is_a_character_like_any_other) {
    BOOST_TEST(is_utf8(std::string(100, '\0')));
    BOOST_TEST(!is_utf8(std::string(100, '\0') + '\x80'));
}

BOOST_AUTO_TEST_SUITE_END()
