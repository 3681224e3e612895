// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "support/allocated_bytes.hpp"
#include "support/text.hpp"
#include "wire/json_fields.hpp"
#include "wire/protocol_violation.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <ctime>
#include <optional>
#include <string>
#include <vector>

using namespace skep;
using skep::test::allocated_bytes;
using skep::test::contains;
namespace data = boost::unit_test::data;
namespace json = boost::json;

BOOST_AUTO_TEST_SUITE(json_fields_test)

namespace {

constexpr std::size_t kib = 1024;
constexpr std::size_t mib = 1024 * kib;
constexpr json_limits wide{32, 512 * mib};
constexpr json_limits narrow{32, 64 * kib};

double cpu_seconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// What is wrong with the text; empty if nothing is.
std::string complaint(json_field_reader& reader, std::string_view text) {
    try {
        reader.read(text);
    } catch (const protocol_violation& violation) {
        BOOST_TEST(violation.what() != std::string());
        return violation.what();
    }
    return {};
}

std::string complaint(std::string_view text, const json_limits& limits = wide) {
    json_field_reader reader(limits);
    return complaint(reader, text);
}

bool is_good(std::string_view text, const json_limits& limits = wide) {
    return complaint(text, limits).empty();
}

std::string repeated(std::string_view piece, std::size_t count) {
    std::string text;
    text.reserve(piece.size() * count);
    for (std::size_t i = 0; i < count; ++i) {
        text += piece;
    }
    return text;
}

std::string nested(std::size_t depth) {
    return R"({"a":)" + std::string(depth - 1, '[') + std::string(depth - 1, ']') + "}";
}

std::string nested_objects(std::size_t depth) {
    return repeated(R"({"a":)", depth) + "0" + std::string(depth, '}');
}

std::string array_of(std::string_view item, std::size_t count) {
    auto text = R"({"a":[)" + repeated(std::string(item) + ",", count);
    text.back() = ']';
    return text + "}";
}

constexpr std::string_view sample = R"({"type":"result","id":18446744073709551615,"value":{)"
                                    R"("a":[1,-2,3.5e-3,true,false,null,"\u00e4\n\ud83d\ude00"],)"
                                    "\"\xC3\xA4\":{}},\"empty\":[],\"n\":-9223372036854775808,\"s\":\"\"}";

// Where the reader gave up, from "bad JSON at byte N: ...".
std::size_t position_in(const std::string& complaint) {
    constexpr std::string_view prefix = "bad JSON at byte ";
    BOOST_REQUIRE(complaint.compare(0, prefix.size(), prefix) == 0);
    return std::stoull(complaint.substr(prefix.size()));
}

} // namespace

BOOST_AUTO_TEST_CASE(the_members_of_a_message_in_their_order) {
    json_field_reader reader(wide);
    const auto& fields = reader.read(sample);
    const std::vector<std::string> keys{"type", "id", "value", "empty", "n", "s"};
    BOOST_REQUIRE(fields.size() == keys.size());
    const auto reference = json::parse(sample).as_object();
    for (std::size_t i = 0; i < keys.size(); ++i) {
        BOOST_TEST(fields[i].key == keys[i]);
        BOOST_TEST((fields[i].value == reference.at(keys[i])), json::serialize(fields[i].value));
    }
}

BOOST_AUTO_TEST_CASE(an_empty_object_has_no_members) {
    json_field_reader reader(wide);
    BOOST_TEST(reader.read("{}").empty());
    BOOST_TEST(reader.read(" \t\r\n{ \t\r\n} \t\r\n").empty());
}

BOOST_AUTO_TEST_CASE(values_of_every_kind_agree_with_boost_json) {
    json_field_reader reader(wide);
    for (const auto* const text : {"null",
                                   "true",
                                   "false",
                                   "0",
                                   "-0",
                                   "-1",
                                   "9223372036854775807",
                                   "9223372036854775808",
                                   "18446744073709551615",
                                   "0.1",
                                   "-1e-300",
                                   "1.7976931348623157e308",
                                   "5e-324",
                                   "123456789012345678901234567890.0",
                                   "0.00012345678901234567",
                                   R"("")",
                                   R"("a")",
                                   R"("\"\\\/\b\f\n\r\t")",
                                   R"("\u0041\ud83d\ude00")",
                                   "[]",
                                   "[[],[[]]]",
                                   "{}",
                                   R"({"a":{"b":[1,{"c":null}]}})",
                                   R"({"":""})"}) {
        const auto document = std::string(R"({"x":)") + text + R"(,"y":1})";
        auto& fields = reader.read(document);
        BOOST_REQUIRE(fields.size() == 2u);
        BOOST_TEST((fields[0].value == json::parse(text)), text);
        BOOST_TEST((fields[1].value == 1), text);
    }
}

BOOST_AUTO_TEST_CASE(long_keys_and_strings_with_escapes_are_put_together) {
    for (const std::size_t size : {1u, 15u, 100u, 4095u, 4096u, 5000u, 300'000u}) {
        const std::string plain(size, 'k');
        const auto escaped = plain + "\\n" + plain + "\\u00e4" + plain;
        const auto expected = plain + "\n" + plain + "\xC3\xA4" + plain;
        const bool is_key = expected.size() <= 1024;
        const auto document =
            R"({")" + (is_key ? escaped : "k") + R"(":")" + escaped + R"(","x":{")" + escaped + R"(":1}})";
        json_field_reader reader(wide);
        const auto& fields = reader.read(document);
        BOOST_REQUIRE(fields.size() == 2u);
        BOOST_TEST((fields[0].key == (is_key ? expected : "k")), size);
        BOOST_TEST((fields[0].value.as_string() == expected), size);
        BOOST_TEST(fields[1].value.as_object().contains(expected), size);
    }
}

namespace {

/// Reads in steps, the first of which ends before byte `cut`, and the others soon.
std::vector<json_field>& read_in_steps(json_field_reader& reader, const std::string& text) {
    reader.begin(text);
    while (!reader.read_on(1)) {}
    return reader.fields();
}

/// White space, so that the first step ends within what follows.
std::string before_cut(std::size_t cut) {
    return std::string(1024 - cut, ' ');
}

} // namespace

BOOST_AUTO_TEST_CASE(in_steps_it_is_the_same_wherever_they_end) {
    json_field_reader whole(wide);
    json_field_reader reader(wide);
    const std::string text = std::string(sample.substr(0, sample.size() - 1)) +
                             R"(,"x":-12.5e-3,"y":[1e300,123456789012345678901.0,0.1],"long":")" +
                             std::string(9000, 'x') + "\"}";
    for (std::size_t cut = 0; cut < 300; ++cut) {
        const auto shifted = before_cut(cut) + text;
        const auto& expected = whole.read(text);
        const auto& fields = read_in_steps(reader, shifted);
        BOOST_REQUIRE(fields.size() == expected.size());
        for (std::size_t i = 0; i < fields.size(); ++i) {
            BOOST_TEST(fields[i].key == expected[i].key);
            BOOST_TEST((fields[i].value == expected[i].value), cut << ": " << fields[i].key);
        }
        BOOST_TEST(reader.tree_bytes() == whole.tree_bytes());
    }
}

BOOST_AUTO_TEST_CASE(in_steps_the_same_is_refused) {
    for (const std::string text :
         {R"({"a":1e999})", R"({"a":123456789012345678901})", R"({"a":"\xff"})", R"({"a":1}x)",
          R"({"a":1} {"b":2})", R"({"a":1)", R"({"a":1,"a":2})", "[1]", "1", ""}) {
        for (std::size_t cut = 0; cut <= text.size(); ++cut) {
            json_field_reader reader(wide);
            BOOST_CHECK_THROW(read_in_steps(reader, before_cut(cut) + text), protocol_violation);
            BOOST_CHECK_THROW(read_in_steps(reader, before_cut(cut) + text + std::string(5000, ' ')),
                              protocol_violation);
            BOOST_TEST(read_in_steps(reader, R"({"a":1})" + std::string(9000, ' ')).size() ==
                       1u); // recovered
        }
    }
}

BOOST_AUTO_TEST_CASE(a_step_reads_as_much_as_its_cost_allows) {
    const auto steps = [](const std::string& text, std::size_t cost) {
        json_field_reader reader(wide);
        reader.begin(text);
        int count = 1;
        while (!reader.read_on(cost)) {
            ++count;
        }
        return count;
    };
    const auto dense = array_of("[]", 100'000); // 300 KB that take 5.6 MB
    const auto text = R"({"a":")" + std::string(300'000, 'x') + "\"}";
    BOOST_TEST(steps(dense, 400'000) >= 26);
    BOOST_TEST(steps(dense, 400'000) <= 28);
    BOOST_TEST(steps(text, 100'000) == 3);
    BOOST_TEST(steps(text, static_cast<std::size_t>(-1)) == 1);
}

BOOST_AUTO_TEST_CASE(keys_of_the_message_itself_are_short) {
    const auto with_key = [](const std::string& key) { return R"({")" + key + R"(":1})"; };
    BOOST_TEST(is_good(with_key(std::string(1024, 'k'))));
    BOOST_TEST(contains(complaint(with_key(std::string(1025, 'k'))), "too long"));
    BOOST_TEST(contains(complaint(with_key("\\n" + std::string(1024, 'k'))), "too long"));
    BOOST_TEST(is_good(R"({"a":{")" + std::string(100'000, 'k') + R"(":1}})"));
}

BOOST_AUTO_TEST_CASE(every_truncation_is_refused) {
    json_field_reader reader(wide);
    for (std::size_t length = 0; length < sample.size(); ++length) {
        BOOST_TEST(!complaint(reader, sample.substr(0, length)).empty(), sample.substr(0, length));
    }
    BOOST_TEST(complaint(reader, sample).empty());
}

BOOST_DATA_TEST_CASE(text_that_is_not_json_is_refused,
                     data::make({"",
                                 " ",
                                 "x",
                                 "{",
                                 "}",
                                 "{a:1}",
                                 "{'a':1}",
                                 R"({"a"})",
                                 R"({"a":})",
                                 R"({"a":1,})",
                                 R"({,"a":1})",
                                 R"({"a":[1,]})",
                                 R"({"a":01})",
                                 R"({"a":+1})",
                                 R"({"a":.5})",
                                 R"({"a":1.})",
                                 R"({"a":1e})",
                                 R"({"a":0x10})",
                                 R"({"a":tru})",
                                 R"({"a":"\x"})",
                                 R"({"a":"\u12"})",
                                 "{\"a\":\"\n\"}",
                                 "{\"a\":\"\x01\"}",
                                 R"({"a":1}/**/)",
                                 R"(/**/{"a":1})",
                                 R"({"a":1 "b":2})",
                                 "\xEF\xBB\xBF{}",
                                 R"({1:2})"}),
                     text) {
    BOOST_TEST(!is_good(text));
}

BOOST_DATA_TEST_CASE(numbers_that_are_not_finite_are_refused,
                     data::make({"1e400", "-1e400", "1e99999999999999999999", "NaN", "-NaN", "nan",
                                 "Infinity", "-Infinity", "inf", "[1,2,1e400]", R"({"b":1e400})"}),
                     number) {
    BOOST_TEST(!is_good(std::string(R"({"a":)") + number + "}"));
}

// Boost.JSON's parser would make a double of it, and nobody would know.
BOOST_DATA_TEST_CASE(integers_beyond_64_bits_are_refused,
                     data::make({"18446744073709551616", "-9223372036854775809", "18446744073709551617",
                                 "123456789012345678901234567890", "[1,99999999999999999999]"}),
                     number) {
    BOOST_TEST(!is_good(std::string(R"({"a":)") + number + "}"));
}

BOOST_AUTO_TEST_CASE(the_tree_counts_for_what_the_protocol_says) {
    struct tree {
        std::string text;
        std::size_t cost;
    };
    constexpr std::size_t member = 40 + 1; // "a", at the top level as below
    for (const auto& each :
         {tree{"0", 24}, tree{"null", 24}, tree{R"("text")", 24 + 4}, tree{"[]", 56},
          tree{"[1,2.5,true]", 56 + 3 * 24}, tree{"{}", 56}, tree{R"({"key":[]})", 56 + 40 + 3 + 56}}) {
        const auto message = R"({"a":)" + each.text + "}";
        json_field_reader enough({32, member + each.cost});
        BOOST_CHECK_NO_THROW(enough.read(message));
        json_field_reader too_little({32, member + each.cost - 1});
        BOOST_CHECK_THROW(too_little.read(message), protocol_violation);
    }
}

BOOST_AUTO_TEST_CASE(the_message_itself_is_one_level_of_depth) {
    json_field_reader reader({4, 1u << 20});
    BOOST_CHECK_NO_THROW(reader.read(R"({"a":[[[1]]]})"));
    BOOST_CHECK_THROW(reader.read(R"({"a":[[[[]]]]})"), protocol_violation);
}

BOOST_DATA_TEST_CASE(top_level_values_other_than_objects_are_refused,
                     data::make({"null", "true", "false", "0", "-1", "1.5", "1e400", R"("")", R"("text")",
                                 "[]", "[{}]", "[1,2,3]", "[[[[]]]]"}),
                     text) {
    BOOST_TEST(!is_good(text));
}

BOOST_DATA_TEST_CASE(anything_after_the_object_is_refused,
                     data::make({"{}", "x", ",", "]", "}", "null", " {}", "\n\n1", "{", "//"}), rest) {
    BOOST_TEST(!is_good(std::string(R"({"a":1})") + rest));
}

BOOST_AUTO_TEST_CASE(nul_after_the_object_is_refused) {
    BOOST_TEST(!is_good(std::string("{}") + '\0'));
}

BOOST_AUTO_TEST_CASE(keys_that_stand_there_twice_are_refused) {
    BOOST_TEST(contains(complaint(R"({"a":1,"a":1})"), "twice"));
    BOOST_TEST(!is_good(R"({"a":1,"b":2,"a":{}})"));
    BOOST_TEST(!is_good(R"({"":1,"":2})"));
    BOOST_TEST(!is_good(R"({"a":1,"\u0061":2})")); // the same key, written otherwise
    BOOST_TEST(is_good(R"({"a":1,"A":2,"a ":3,"a\u0000":4})"));
    BOOST_TEST(is_good(R"({"a":{"a":{"a":1}},"b":[{"a":1},{"a":2}]})"));
}

BOOST_AUTO_TEST_CASE(the_depth_limit_is_inclusive) {
    for (const std::size_t depth : {4u, 5u, 32u, 1000u}) {
        const json_limits limits{depth, 512 * mib};
        BOOST_TEST(is_good(nested(depth), limits), depth);
        BOOST_TEST(!is_good(nested(depth + 1), limits), depth);
        BOOST_TEST(is_good(nested_objects(depth), limits), depth);
        BOOST_TEST(!is_good(nested_objects(depth + 1), limits), depth);
    }
}

BOOST_AUTO_TEST_CASE(a_million_nested_arrays_are_refused_early) {
    for (const auto& text :
         {R"({"a":)" + std::string(1'000'000, '['), nested(1'000'000), nested_objects(1'000'000)}) {
        const auto problem = complaint(text);
        BOOST_REQUIRE(!problem.empty());
        BOOST_TEST(position_in(problem) < 1000u);
    }
}

BOOST_AUTO_TEST_CASE(a_number_of_a_million_digits_does_no_harm) {
    for (const auto& number : {std::string(1'000'000, '9'), "-" + std::string(1'000'000, '1'),
                               "1e" + std::string(1'000'000, '9')}) {
        BOOST_TEST(!is_good(R"({"a":)" + number + "}"));
    }
    json_field_reader reader(wide);
    const auto& fields = reader.read(R"({"a":0.)" + std::string(1'000'000, '0') + "1}");
    BOOST_TEST((fields.at(0).value.as_double() < 1e-300));
}

BOOST_DATA_TEST_CASE(bytes_that_are_not_utf8_are_refused,
                     data::make({"\x80", "\xBF", "\xC0\x80", "\xC1\xBF", "\xC3", "\xC3(", "\xE0\x80\x80",
                                 "\xE2\x82", "\xED\xA0\x80", "\xED\xBF\xBF", "\xF0\x80\x80\x80",
                                 "\xF0\x9F\x98", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFE", "\xFF"}),
                     bytes) {
    const std::string bad = bytes;
    BOOST_TEST(!is_good(R"({"a":")" + bad + R"("})"));
    BOOST_TEST(!is_good(R"({"a":"some text )" + bad + R"( and more"})"));
    BOOST_TEST(!is_good(R"({")" + bad + R"(":1})"));
    BOOST_TEST(!is_good(R"({"a":{")" + bad + R"(":1}})"));
    BOOST_TEST(!is_good(R"({"a":1)" + bad + "}"));
}

BOOST_DATA_TEST_CASE(lone_surrogates_are_refused,
                     data::make({R"(\ud800)", R"(\udbff)", R"(\udc00)", R"(\udfff)", R"(\ud800\ud800)",
                                 R"(\ud800x)", R"(\udc00\ud800)", R"(\ud800\n)"}),
                     escape) {
    BOOST_TEST(!is_good(std::string(R"({"a":")") + escape + R"("})"));
    BOOST_TEST(!is_good(std::string(R"({")") + escape + R"(":1})"));
}

BOOST_AUTO_TEST_CASE(nul_in_strings) {
    json_field_reader reader(wide);
    const auto& fields = reader.read(R"({"a\u0000b":"x\u0000y"})");
    BOOST_REQUIRE(fields.size() == 1u);
    BOOST_TEST((fields[0].key == std::string("a\0b", 3)));
    BOOST_TEST((fields[0].value.as_string() == std::string("x\0y", 3)));
    BOOST_TEST(!is_good(std::string("{\"a\":\"x") + '\0' + "y\"}")); // a raw control character is no JSON
    BOOST_TEST(!is_good(std::string("{\"a") + '\0' + "\":1}"));
}

BOOST_AUTO_TEST_CASE(small_trees_are_below_the_smallest_cap) {
    BOOST_TEST(is_good(sample, narrow));
    BOOST_TEST(is_good(array_of("0", 1000), narrow));
    BOOST_TEST(is_good(R"({"a":")" + std::string(32 * kib, 'x') + R"("})", narrow));
}

// Shapes of 8 MiB of JSON whose trees would be several times as large.
BOOST_AUTO_TEST_CASE(trees_above_the_cap_are_refused_before_much_is_allocated) {
    std::string many_keys = R"({"a":{)";
    for (std::size_t i = 0; many_keys.size() < 8 * mib; ++i) {
        many_keys += "\"" + std::to_string(i) + "\":0,";
    }
    many_keys.back() = '}';
    many_keys += '}';
    const std::vector<std::pair<std::string, std::string>> shapes{
        {"zeros", array_of("0", 4 * mib)},
        {"nested arrays", array_of("[[]]", 2 * mib)},
        {"objects", array_of("{}", 3 * mib)},
        {"short strings", array_of(R"("")", 3 * mib)},
        {"literals", array_of("null", mib)},
        {"keys", many_keys},
        {"unfinished", R"({"a":[)" + repeated("[0,", 10) + repeated("0,", 4 * mib)},
        {"long strings", array_of(R"(")" + std::string(10 * kib, 'x') + R"(")", 800)},
    };
    for (const auto& [name, text] : shapes) {
        BOOST_TEST_CONTEXT(name) {
            json_field_reader reader(narrow);
            const auto before = allocated_bytes();
            const auto problem = complaint(reader, text);
            BOOST_TEST(contains(problem, "tree"), problem);
            BOOST_TEST(position_in(problem) <= 2 * narrow.tree_bytes);
            BOOST_TEST(allocated_bytes() - before <= 4 * narrow.tree_bytes);
            BOOST_TEST(!is_good(text, json_limits{32, 4 * mib}));
        }
    }
}

BOOST_AUTO_TEST_CASE(one_string_above_the_cap_is_refused_before_it_is_copied) {
    const std::string huge(8 * mib, 'x');
    const std::pair<std::string, const char*> texts[] = {{R"({"a":")" + huge + R"("})", "tree"},
                                                         {R"({"a":"\n)" + huge + R"("})", "tree"},
                                                         {R"({")" + huge + R"(":1})", "a key of the message"},
                                                         {R"({"a":{")" + huge + R"(":1}})", "tree"}};
    for (const auto& [text, why] : texts) {
        json_field_reader reader(narrow);
        const auto before = allocated_bytes();
        BOOST_TEST(contains(complaint(reader, text), why));
        BOOST_TEST(allocated_bytes() - before <= 1 * mib, "for " << text.substr(0, 12));
    }
}

BOOST_AUTO_TEST_CASE(the_cap_is_an_honest_estimate_of_memory) {
    std::string keys = R"({"a":{)";
    for (std::size_t i = 0; i < 30'000; ++i) {
        keys += "\"" + std::to_string(i) + "\":0,";
    }
    keys.back() = '}';
    keys += '}';
    for (const auto& text :
         {array_of("0", 150'000), array_of("[0]", 50'000), array_of("[[]]", 50'000),
          array_of(R"({"a":0})", 30'000), array_of(R"("twenty characters...")", 50'000), keys}) {
        // The smallest cap, in steps of a quarter, that lets it pass.
        std::size_t cap = 64 * kib;
        while (!is_good(text, json_limits{32, cap})) {
            cap += cap / 4;
        }
        json_field_reader reader(json_limits{32, cap});
        const auto before = allocated_bytes();
        std::optional<json::value> value = std::move(reader.read(text).at(0).value);
        const auto with_reader = allocated_bytes() - before;
        BOOST_TEST(with_reader <= 4 * cap, text.substr(0, 30)
                                               << ": " << with_reader << " bytes for a cap of " << cap);
        const auto tree = allocated_bytes();
        value.reset();
        const auto freed = tree - allocated_bytes();
        BOOST_TEST(freed <= 2 * cap, text.substr(0, 30) << ": " << freed << " bytes for a cap of " << cap);
    }
}

// Nothing that a worker sends may hold the host up for longer than the bytes themselves cost.
BOOST_AUTO_TEST_CASE(a_message_with_many_members_is_no_burden) {
    std::string text = "{";
    for (std::size_t i = 0; i < 30'000; ++i) {
        text += "\"" + std::to_string(i) + "\":0,";
    }
    text.back() = '}';
    json_field_reader reader(wide);
    const auto before = cpu_seconds();
    complaint(reader, text); // whether it is refused is not the point
    BOOST_TEST(cpu_seconds() - before < 0.5);
}

BOOST_AUTO_TEST_CASE(a_reader_is_as_new_after_any_message) {
    const std::vector<std::string> bad{"",
                                       "[1,2",
                                       R"({"a":[1,2,{"b":)",
                                       R"({"a":1e400})",
                                       R"({"a":1,"a":2})",
                                       nested(1000),
                                       array_of("0", 100'000),
                                       R"({"long key that )" + std::string(5000, 'x'),
                                       R"({"a":"unfinished string )" + std::string(5000, 'x'),
                                       R"("text")",
                                       R"({"a":"\ud800"})",
                                       R"({"x":{"unfinished key)",
                                       "{} {}",
                                       R"({"a":{"b":[1,2,3],"c")"};
    json_field_reader reader(narrow);
    for (const auto& text : bad) {
        BOOST_TEST(!complaint(reader, text).empty(), text.substr(0, 30));
        const auto& fields = reader.read(R"({"k":[1,{"l":"m"}],"n":null})");
        BOOST_REQUIRE(fields.size() == 2u);
        BOOST_TEST(fields[0].key == "k");
        BOOST_TEST(json::serialize(fields[0].value) == R"([1,{"l":"m"}])");
        BOOST_TEST(fields[1].key == "n");
        BOOST_TEST(fields[1].value.is_null());
    }
    // The cap counts each message anew.
    const auto large = array_of("0", 2000);
    for (int i = 0; i < 100; ++i) {
        BOOST_TEST(complaint(reader, large).empty());
    }
}

BOOST_AUTO_TEST_CASE(values_moved_out_are_independent_of_the_reader) {
    std::vector<json::value> values;
    {
        json_field_reader reader(wide);
        for (int i = 0; i < 3; ++i) {
            for (auto& field : reader.read(sample)) {
                values.push_back(std::move(field.value));
            }
        }
        complaint(reader, R"({"a":[1,2,3)");
    }
    const auto reference = json::parse(sample).as_object();
    BOOST_REQUIRE(values.size() == 18u);
    for (std::size_t i = 0; i < values.size(); i += 6) {
        BOOST_TEST((values[i] == reference.at("type")));
        BOOST_TEST((values[i + 2] == reference.at("value")));
    }
}

BOOST_AUTO_TEST_CASE(a_reader_can_be_moved) {
    json_field_reader first(narrow);
    first.read(R"({"a":1})");
    json_field_reader second(std::move(first));
    BOOST_TEST(second.read(R"({"b":2})").at(0).key == "b");
    BOOST_TEST(!complaint(second, array_of("0", 100'000)).empty());
}

BOOST_AUTO_TEST_CASE(one_huge_message_does_not_pin_its_memory) {
    json_field_reader reader(wide);
    reader.read("{}");
    const auto before = allocated_bytes();
    BOOST_TEST(reader.read(array_of("0", 2'000'000)).size() == 1u);
    reader.read("{}");
    reader.read("{}");
    BOOST_TEST(allocated_bytes() - before <= 2 * mib);
}

BOOST_AUTO_TEST_CASE(a_complaint_never_holds_the_data) {
    for (const auto* const text : {R"({"s3cret":1,"s3cret":2})", R"({"a":"s3cret)", R"({"a":s3cret})",
                                   R"({}s3cret)", R"("s3cret")", R"({"a":"s3cret\ud800"})"}) {
        const auto problem = complaint(text);
        BOOST_TEST(!contains(problem, "s3cret"), problem);
        BOOST_TEST(problem.size() < 200u);
    }
}

BOOST_AUTO_TEST_SUITE_END()
