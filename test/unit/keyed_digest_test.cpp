// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/keyed_digest.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdio>
#include <set>
#include <string>

using namespace skep;

BOOST_AUTO_TEST_SUITE(keyed_digest_test)

namespace {

/// The key of the authors' own vectors: bytes 0 to 15.
constexpr keyed_digest::key counting{0x0706050403020100, 0x0f0e0d0c0b0a0908};

std::string bytes_up_to(std::size_t count) {
    std::string bytes;
    for (std::size_t i = 0; i < count; ++i) {
        bytes += static_cast<char>(i);
    }
    return bytes;
}

std::string to_text(const keyed_digest::value& digest) {
    std::string text;
    for (const auto word : digest) {
        for (int byte = 0; byte < 8; ++byte) {
            char two[3];
            std::snprintf(two, sizeof two, "%02X", static_cast<unsigned>(word >> (8 * byte) & 0xff));
            text += two;
        }
    }
    return text;
}

std::string digest_of(std::string_view bytes) {
    keyed_digest digest(counting);
    digest.add(bytes);
    return to_text(digest.finish());
}

} // namespace

BOOST_AUTO_TEST_CASE(it_is_siphash_2_4_of_128_bits) { // as `openssl mac ... SIPHASH` has it, too
    BOOST_TEST(digest_of("") == "A3817F04BA25A8E66DF67214C7550293");
    BOOST_TEST(digest_of(bytes_up_to(1)) == "DA87C1D86B99AF44347659119B22FC45");
    BOOST_TEST(digest_of(bytes_up_to(7)) == "A1F1EBBED8DBC153C0B84AA61FF08239");
    BOOST_TEST(digest_of(bytes_up_to(8)) == "3B62A9BA6258F5610F83E264F31497B4");
    BOOST_TEST(digest_of(bytes_up_to(15)) == "5493E99933B0A8117E08EC0F97CFC3D9");
    BOOST_TEST(digest_of(bytes_up_to(16)) == "6EE2A4CA67B054BBFD3315BF85230577");
    BOOST_TEST(digest_of(bytes_up_to(63)) == "5150D1772F50834A503E069A973FBD7C");
}

BOOST_AUTO_TEST_CASE(pieces_make_the_same_digest_as_the_whole) {
    const auto whole = bytes_up_to(63);
    for (std::size_t first = 0; first <= whole.size(); ++first) {
        for (std::size_t second = first; second <= whole.size(); second += 5) {
            keyed_digest digest(counting);
            digest.add(std::string_view(whole).substr(0, first));
            digest.add(std::string_view(whole).substr(first, second - first));
            digest.add(std::string_view(whole).substr(second));
            BOOST_TEST(to_text(digest.finish()) == digest_of(whole));
        }
    }
}

BOOST_AUTO_TEST_CASE(fields_cannot_be_parted_otherwise) {
    std::set<keyed_digest::value> seen;
    for (const auto& [first, second] :
         {std::pair("", "abc"), std::pair("a", "bc"), std::pair("ab", "c"), std::pair("abc", "")}) {
        keyed_digest digest(counting);
        digest.add_field(first);
        digest.add_field(second);
        seen.insert(digest.finish());
    }
    BOOST_TEST(seen.size() == 4u);
}

BOOST_AUTO_TEST_CASE(another_key_makes_another_digest) {
    std::set<keyed_digest::value> seen;
    for (const char* const secret : {"", "a", "b", "a token that nobody can guess"}) {
        keyed_digest digest(keyed_digest::key_from(secret));
        digest.add("the same");
        seen.insert(digest.finish());
    }
    BOOST_TEST(seen.size() == 4u);
}

BOOST_AUTO_TEST_SUITE_END()
