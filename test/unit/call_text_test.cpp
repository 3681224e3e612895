// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "call/call_text.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace skep::test {

namespace data = boost::unit_test::data;

BOOST_AUTO_TEST_SUITE(call_text_test)

BOOST_DATA_TEST_CASE(texts_of_any_length_are_kept, data::make({0, 1, 95, 96, 97, 5000})) {
    const std::string original(static_cast<std::size_t>(sample), 'x');
    auto text = original;
    call_text kept;
    kept.take(text);
    text = "something else";
    BOOST_TEST(std::string_view(kept) == original);
}

BOOST_AUTO_TEST_CASE(a_short_text_leaves_its_memory) {
    std::string text(50, 'x');
    text.reserve(160);
    call_text kept;
    kept.take(text);
    BOOST_TEST(text.capacity() >= 160);
}

BOOST_AUTO_TEST_CASE(a_long_text_moves) {
    std::string text(5000, 'x');
    const auto* const memory = text.data();
    call_text kept;
    kept.take(text);
    BOOST_TEST(static_cast<const void*>(std::string_view(kept).data()) == static_cast<const void*>(memory));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
