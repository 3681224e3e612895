// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/stream_window.hpp"

#include <boost/test/unit_test.hpp>

#include <random>

using skep::stream_credit;
using skep::stream_window;

BOOST_AUTO_TEST_SUITE(stream_window_test)

BOOST_AUTO_TEST_CASE(a_worker_may_send_a_window_of_chunks) {
    stream_window window({3, 1000});
    for (int i = 0; i < 3; ++i) {
        BOOST_TEST(!window.is_exhausted());
        BOOST_TEST(window.receive(10));
    }
    BOOST_TEST(window.is_exhausted());
    BOOST_TEST(!window.receive(10));
}

BOOST_AUTO_TEST_CASE(or_a_window_of_bytes_and_one_chunk) {
    stream_window window({100, 1000});
    BOOST_TEST(window.receive(999));
    BOOST_TEST(window.receive(5000)); // one byte was left
    BOOST_TEST(!window.receive(0));
}

BOOST_AUTO_TEST_CASE(what_was_taken_is_granted_by_half_windows) {
    stream_window window({4, 1000});
    for (int i = 0; i < 4; ++i) {
        window.receive(1);
    }
    window.consume({1, 1});
    BOOST_TEST(!window.grant());
    window.consume({1, 1});
    const auto more = window.grant();
    BOOST_REQUIRE(more);
    BOOST_TEST(more->chunks == 2);
    BOOST_TEST(more->bytes == 2);
    BOOST_TEST(!window.grant());
    BOOST_TEST(window.receive(1));
    BOOST_TEST(window.receive(1));
    BOOST_TEST(!window.receive(1));
}

BOOST_AUTO_TEST_CASE(half_of_the_bytes_are_enough) {
    stream_window window({1000, 1000});
    window.receive(500);
    window.consume({1, 500});
    BOOST_TEST(window.grant().has_value());
}

BOOST_AUTO_TEST_CASE(less_than_half_of_an_odd_number_of_bytes_is_not_enough) {
    stream_window window({1000, 1001});
    window.receive(501);
    window.consume({1, 500});
    BOOST_TEST(!window.grant());
    window.consume({0, 1});
    BOOST_TEST(window.grant().has_value());
}

BOOST_AUTO_TEST_CASE(a_window_of_one_chunk_works) {
    stream_window window({1, 1024});
    for (int i = 0; i < 10; ++i) {
        BOOST_TEST(window.receive(1 << 20));
        BOOST_TEST(!window.receive(1));
        window.consume({1, 1 << 20});
        BOOST_TEST(window.grant().has_value());
    }
}

BOOST_AUTO_TEST_CASE(whoever_takes_all_gets_more_whatever_the_sizes) {
    std::mt19937 random(7);
    for (int round = 0; round < 1000; ++round) {
        const std::int64_t chunks = 1 + random() % 8;
        const std::int64_t bytes = 1 + random() % 2000;
        stream_window window({chunks, bytes});
        stream_credit sent;
        stream_credit granted{chunks, bytes};
        for (int i = 0; i < 100; ++i) {
            stream_credit portion;
            while (!window.is_exhausted()) {
                const std::int64_t size = random() % 1000;
                BOOST_REQUIRE(window.receive(size));
                portion.chunks += 1;
                portion.bytes += size;
            }
            sent = {sent.chunks + portion.chunks, sent.bytes + portion.bytes};
            window.consume(portion);
            const auto more = window.grant();
            BOOST_REQUIRE(more);
            granted = {granted.chunks + more->chunks, granted.bytes + more->bytes};
            BOOST_REQUIRE(granted.chunks - sent.chunks <= chunks);
            BOOST_REQUIRE(granted.bytes - sent.bytes <= bytes);
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()
