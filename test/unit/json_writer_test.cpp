// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "wire/json_fields.hpp"
#include "wire/json_writer.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/test/unit_test.hpp>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <vector>

using namespace skep;
namespace json = boost::json;

BOOST_AUTO_TEST_SUITE(json_writer_test)

namespace {

std::string written(const json::value& value) {
    std::string out;
    append_json(out, value);
    return out;
}

std::string written_text(std::string_view text) {
    std::string out;
    append_json_text(out, text);
    return out;
}

bool is_refused(const json::value& value) {
    try {
        written(value);
    } catch (const unsendable&) {
        return true;
    }
    return false;
}

json::value nested(int levels) {
    json::value value = 1;
    for (int i = 0; i < levels; ++i) {
        value = i % 2 == 0 ? json::value(json::array{value}) : json::value(json::object{{"k", value}});
    }
    return value;
}

std::string random_text(std::mt19937& random) {
    static const std::vector<std::string> pieces{"a",
                                                 "plain text of some length, 40 characters",
                                                 "\"",
                                                 "\\",
                                                 "\n",
                                                 "\x01",
                                                 "\x7f",
                                                 "\xC3\xA9",
                                                 "\xE2\x82\xAC",
                                                 "\xF0\x9F\x98\x80"};
    std::string text;
    for (auto count = random() % 8; count > 0; --count) {
        text += pieces[random() % pieces.size()];
    }
    return text;
}

json::value random_value(std::mt19937& random, int depth) {
    switch (random() % (depth > 0 ? 8 : 6)) {
    case 0: return nullptr;
    case 1: return random() % 2 == 0;
    case 2: return static_cast<std::int64_t>(random()) - (std::int64_t(1) << 31);
    case 3: return std::numeric_limits<std::uint64_t>::max() - random();
    case 4: return (static_cast<double>(random()) - 2e9) / 8; // which the parser reads exactly
    case 5: return json::string(random_text(random));
    case 6: {
        json::array array;
        for (auto count = random() % 5; count > 0; --count) {
            array.push_back(random_value(random, depth - 1));
        }
        return array;
    }
    default: {
        json::object object;
        for (auto count = random() % 5; count > 0; --count) {
            object.insert_or_assign(random_text(random), random_value(random, depth - 1));
        }
        return object;
    }
    }
}

} // namespace

BOOST_AUTO_TEST_CASE(scalars) {
    BOOST_TEST(written(nullptr) == "null");
    BOOST_TEST(written(true) == "true");
    BOOST_TEST(written(false) == "false");
    BOOST_TEST(written(0) == "0");
    BOOST_TEST(written(-7) == "-7");
    BOOST_TEST(written(std::numeric_limits<std::int64_t>::min()) == "-9223372036854775808");
    BOOST_TEST(written(std::numeric_limits<std::uint64_t>::max()) == "18446744073709551615");
}

BOOST_AUTO_TEST_CASE(floating_point_numbers_stay_what_they_are) {
    BOOST_TEST(written(1.0) == "1.0");
    BOOST_TEST(written(-0.0) == "-0.0");
    BOOST_TEST(written(0.1) == "0.1");
    BOOST_TEST(written(1e300) == "1e+300");
    for (const double number : {5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 1.0 / 3, 1e15, 1e16,
                                1e22, 123456789012345680.0, -2.5e-7}) {
        const auto text = written(number);
        BOOST_TEST(std::strtod(text.c_str(), nullptr) == number, text);
        BOOST_TEST(json::parse(text).is_double(), text);
    }
}

BOOST_AUTO_TEST_CASE(random_floating_point_numbers_are_read_back_to_the_last_bit) {
    std::mt19937_64 random(11);
    json_field_reader reader({4, 1u << 20});
    for (int i = 0; i < 20'000; ++i) {
        const auto number = std::bit_cast<double>(random());
        if (!std::isfinite(number)) {
            continue;
        }
        const auto text = written(json::object{{"x", number}});
        const auto& read = reader.read(text);
        if (!read[0].value.is_double() || read[0].value.get_double() != number) {
            BOOST_ERROR(text << " is read as " << json::serialize(read[0].value));
        }
    }
}

BOOST_AUTO_TEST_CASE(empty_and_nested_containers) {
    BOOST_TEST(written(json::array{}) == "[]");
    BOOST_TEST(written(json::object{}) == "{}");
    BOOST_TEST(written({1, json::array{}, {{"a", json::object{}}, {"b", {2, 3}}}}) ==
               R"([1,[],{"a":{},"b":[2,3]}])");
    std::string out = "before";
    append_json(out, json::object{{"a", 1}});
    BOOST_TEST(out == R"(before{"a":1})");
}

BOOST_AUTO_TEST_CASE(every_ascii_character_at_every_place_of_a_stride) {
    for (std::size_t place = 0; place < 70; ++place) {
        for (int c = 0; c < 128; ++c) {
            std::string text(place, 'x');
            text += static_cast<char>(c);
            text += std::string(40, 'y');
            const auto json_text = written_text(text);
            if (json::parse(json_text).as_string() != text) {
                BOOST_ERROR("character " << c << " at " << place);
            }
        }
    }
    BOOST_TEST(written_text("\"\\\n\r\t\b\x1f/") == R"("\"\\\n\r\t\u0008\u001f/")");
    BOOST_TEST(written_text("") == R"("")");
}

BOOST_AUTO_TEST_CASE(other_characters_are_copied_at_every_place_of_a_stride) {
    for (std::size_t place = 0; place < 70; ++place) {
        for (const std::string character : {"\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"}) {
            const auto text =
                std::string(place, 'x') + character + character + std::string(33, 'y') + character;
            BOOST_TEST(written_text(text) == '"' + text + '"');
        }
    }
}

BOOST_AUTO_TEST_CASE(text_that_is_not_utf8_is_refused_at_every_place) {
    for (std::size_t place = 0; place < 70; ++place) {
        for (const std::string bad : {"\x80", "\xFF", "\xC3", "\xED\xA0\x80", "\xF4\x90\x80\x80"}) {
            for (const auto& after : {std::string(), std::string("\n"), std::string(40, 'y')}) {
                const auto text = std::string(place, 'x') + bad + after;
                BOOST_CHECK_THROW(written_text(text), unsendable);
                BOOST_TEST(is_refused(json::object{{text, 1}}));
                BOOST_TEST(is_refused(json::array{json::string(text)}));
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(numbers_that_json_does_not_know_are_refused) {
    for (const double number :
         {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
          std::numeric_limits<double>::quiet_NaN()}) {
        BOOST_TEST(is_refused(number));
        BOOST_TEST(is_refused(json::array{1, json::object{{"k", number}}}));
    }
}

BOOST_AUTO_TEST_CASE(nesting_is_limited) {
    BOOST_TEST(!is_refused(nested(500)));
    BOOST_TEST(is_refused(nested(501)));
}

BOOST_AUTO_TEST_CASE(a_reader_gets_back_what_was_written) {
    std::mt19937 random(7);
    for (int i = 0; i < 2000; ++i) {
        const auto value = random_value(random, 5);
        const auto text = written(value);
        if (json::parse(text) != value) {
            BOOST_ERROR("written as " << text << ", not as " << json::serialize(value));
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()
