// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/link_output.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

using namespace skep;

BOOST_AUTO_TEST_SUITE(link_output_test)

BOOST_AUTO_TEST_CASE(small_frames_share_a_segment) {
    link_output output;
    BOOST_TEST(output.add("one") == 1u);
    BOOST_TEST(output.add("two") == 2u);
    BOOST_TEST(output.to_send() == 6u);
    BOOST_TEST(output.take(100) == "onetwo");
    BOOST_TEST(output.to_send() == 0u);
    BOOST_TEST(output.in_flight() == 6u);
    BOOST_TEST(output.has_left(2));
}

BOOST_AUTO_TEST_CASE(a_large_frame_is_cut) {
    link_output output;
    output.add("abcdefgh");
    output.add("i");
    BOOST_TEST(output.take(3) == "abc");
    BOOST_TEST(!output.has_left(1));
    BOOST_TEST(output.take(3) == "def");
    BOOST_TEST(output.take(3) == "ghi");
    BOOST_TEST(output.has_left(1));
    BOOST_TEST(output.has_left(2));
}

BOOST_AUTO_TEST_CASE(acknowledged_bytes_are_dropped) {
    link_output output;
    output.add("abcdef");
    output.take(3);
    output.take(3);
    output.acknowledge(2);
    BOOST_TEST(output.in_flight() == 4u);
    BOOST_TEST(output.size() == 6u); // the segment is kept whole
    output.acknowledge(3);
    BOOST_TEST(output.size() == 3u);
    output.acknowledge(1); // stale
    BOOST_TEST(output.in_flight() == 3u);
    output.acknowledge(6);
    BOOST_TEST(output.size() == 0u);
    BOOST_TEST(output.cursor() == 6u);
}

BOOST_AUTO_TEST_CASE(after_a_loss_the_unacknowledged_bytes_are_taken_again) {
    link_output output;
    output.add("abcdef");
    output.take(4);
    output.take(4);
    output.acknowledge(2);
    output.go_back(9);
    BOOST_TEST(output.in_flight() == 0u);
    BOOST_TEST(output.to_send() == 4u);
    BOOST_TEST(output.take(1) == "c"); // segments may be smaller now
    BOOST_TEST(output.take(9) == "def");
    BOOST_TEST(output.taken_again() == 4u);
    output.add("g");
    BOOST_TEST(output.take(9) == "g");
    BOOST_TEST(output.taken_again() == 4u);
}

BOOST_AUTO_TEST_CASE(an_acknowledgement_of_bytes_that_are_to_be_sent_again_moves_the_cursor) {
    link_output output;
    output.add("abcdef");
    output.take(6);
    output.go_back(9);
    output.acknowledge(4);
    BOOST_TEST(output.cursor() == 4u);
    BOOST_TEST(output.take(9) == "ef");
}

BOOST_AUTO_TEST_CASE(a_frame_can_be_withdrawn_until_a_part_of_it_has_left) {
    link_output output;
    output.add("abcd");
    output.add("efgh");
    output.add("ijkl");
    output.add("mnop");
    output.take(2);
    BOOST_TEST(!output.withdraw(1));
    BOOST_TEST(output.withdraw(2));
    BOOST_TEST(!output.withdraw(2));
    BOOST_TEST(output.withdraw(4));
    BOOST_TEST(!output.withdraw(5));
    BOOST_TEST(output.to_send() == 6u);
    BOOST_TEST(output.take(9) == "cdijkl");
    BOOST_TEST(output.to_send() == 0u);
    BOOST_TEST(!output.withdraw(3));
    output.add("qrst");
    BOOST_TEST(output.take(9) == "qrst");
}

BOOST_AUTO_TEST_CASE(the_first_frame_can_be_withdrawn_before_it_has_begun) {
    link_output output;
    output.add("abcd");
    output.add("efgh");
    BOOST_TEST(output.withdraw(1));
    BOOST_TEST(output.take(9) == "efgh");
    BOOST_TEST(output.has_left(2));
}

BOOST_AUTO_TEST_CASE(small_parts_are_joined_before_they_are_taken_again) {
    link_output output;
    for (const auto* const frame : {"ab", "cd", "ef", "gh"}) {
        output.add(frame);
        output.take(9);
    }
    output.acknowledge(1);
    output.go_back(6);
    BOOST_TEST(output.take(6) == "bcdef");
    BOOST_TEST(output.take(6) == "gh");
}

BOOST_AUTO_TEST_SUITE_END()
