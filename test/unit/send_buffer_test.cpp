// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "wire/send_buffer.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>

using namespace skep;

BOOST_AUTO_TEST_SUITE(send_buffer_test)

namespace {

constexpr std::size_t large = 200u << 10;

blob to_blob(std::string_view bytes) {
    return blob::copy_of(std::as_bytes(std::span(bytes)));
}

/// Sends everything, at most `most` bytes at a time.
std::string drain(send_buffer& from, std::size_t most) {
    std::string sent;
    while (!from.empty()) {
        const auto front = from.front();
        BOOST_REQUIRE(!front.empty());
        const auto count = std::min(front.size(), most);
        const auto left = from.size();
        sent.append(front.data(), count);
        from.pop(count);
        BOOST_TEST(from.size() == left - count);
    }
    return sent;
}

} // namespace

BOOST_AUTO_TEST_CASE(text_and_blobs_are_sent_in_the_order_of_appending) {
    const std::string one(large, '1');
    const std::string two(large, '2');
    for (const std::size_t most : {std::size_t(100), std::size_t(64) << 10, std::size_t(1) << 30}) {
        send_buffer buffer;
        buffer.append(to_blob(one));
        buffer.text() += "between";
        buffer.append(to_blob(two));
        buffer.append(to_blob(one));
        buffer.append(to_blob("small"));
        buffer.append(blob{});
        BOOST_TEST(buffer.size() == 3 * large + 12);
        BOOST_TEST((drain(buffer, most) == one + "between" + two + one + "small"));
    }
}

BOOST_AUTO_TEST_CASE(a_large_blob_is_sent_from_where_it_is_and_let_go_then) {
    const auto owner = std::make_shared<std::string>(large, 'x');
    send_buffer buffer;
    buffer.text() += "head";
    buffer.append(blob(owner, std::as_bytes(std::span(*owner))));
    buffer.text() += "tail";
    buffer.pop(4);
    BOOST_TEST(static_cast<const void*>(buffer.front().data()) == owner->data());
    buffer.pop(large);
    BOOST_TEST(owner.use_count() == 1);
    BOOST_TEST(drain(buffer, 1) == "tail");
}

BOOST_AUTO_TEST_CASE(what_is_appended_after_the_end_of_a_round_is_sent_alone) {
    send_buffer buffer;
    buffer.append(to_blob(std::string(large, 'x')));
    drain(buffer, 1000);
    buffer.text() += "next";
    BOOST_TEST(buffer.size() == 4u);
    BOOST_TEST(drain(buffer, 3) == "next");
}

BOOST_AUTO_TEST_CASE(truncating_takes_blobs_back_too) {
    const std::string kept(large, '1');
    send_buffer buffer;
    buffer.text() += "head";
    buffer.append(to_blob(kept));
    const auto size = buffer.text().size();
    buffer.text() += "frame";
    buffer.append(to_blob(std::string(large, '2')));
    buffer.text() += "small";
    buffer.truncate(size);
    BOOST_TEST((drain(buffer, large) == "head" + kept));
}

BOOST_AUTO_TEST_SUITE_END()
