// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/link_state.hpp"
#include "support/start_time.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

using namespace skep;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(link_state_test)

namespace {

using test::start;

constexpr std::uint32_t window = 64 << 10;
constexpr link_limits limits;

/// One end, and the messages that it has sent.
struct link_end_under_test {
    explicit link_end_under_test(link_role role) : state(role, limits, window, "greeting", start) {}

    void advance(duration span) { now += span; }

    /// Lets the time pass, with every tick that is due.
    void run(duration span) {
        const auto end = now + span;
        while (state.next_tick() <= end) {
            now = std::max(now, state.next_tick());
            state.tick(now, out);
        }
        now = end;
    }

    link_input receive(link_kind kind, std::string_view body = {}, std::uint64_t position = 0,
                       std::uint64_t expected = 0) {
        link_message message;
        message.load = peer_load;
        message.kind = kind;
        message.body = body;
        message.window = window;
        message.position = position;
        message.expected = expected;
        return state.receive(message, now, out);
    }

    void send(const std::string& frame) {
        state.output().add(frame);
        state.flush(now, out);
    }

    /// Returns the kinds of the messages since the last call, and the bodies of data.
    std::string sent() {
        static constexpr const char* names[] = {"",    "open", "accept", "refuse",   "data",
                                                "ack", "beat", "sync",   "sync_ack", "close"};
        std::string text;
        for (const auto& each : std::exchange(out, {})) {
            text += (text.empty() ? "" : " ") + std::string(names[static_cast<int>(each.kind)]);
            last = each;
            if (each.kind == link_kind::data) {
                text += "(" + std::to_string(each.position) + "+" + std::to_string(each.body.size()) + ")";
            }
        }
        return text;
    }

    link_state state;
    link_load peer_load;
    link_state::messages out;
    link_message last;
    time_point now = start;
};

struct open_client : link_end_under_test {
    open_client() : link_end_under_test(link_role::client) {
        state.on_bus(true, now, out);
        receive(link_kind::accept, "welcome");
        sent();
    }
};

struct open_node : link_end_under_test {
    open_node() : link_end_under_test(link_role::node) {
        receive(link_kind::open, "hello");
        sent();
    }
};

bool has_ended(const link_end_under_test& end, link_end_cause cause) {
    return end.state.outcome() && end.state.outcome()->cause == cause;
}

} // namespace

BOOST_AUTO_TEST_CASE(a_client_asks_for_a_link_until_the_node_answers) {
    link_end_under_test client(link_role::client);
    BOOST_CHECK(client.state.next_tick() == time_point::max()); // the bus is not up
    client.state.on_bus(true, client.now, client.out);
    BOOST_TEST(client.out.at(0).body == "greeting");
    client.run(350ms);
    BOOST_TEST(client.sent() == "open open open open");
    BOOST_TEST(client.state.is_opening());
    const auto answer = client.receive(link_kind::accept, "welcome");
    BOOST_TEST(answer.is_accepted);
    BOOST_TEST(answer.bytes == "welcome");
    BOOST_TEST(client.state.is_open());
    BOOST_TEST(!client.receive(link_kind::accept, "welcome").is_accepted);
    client.run(350ms);
    BOOST_TEST(client.sent() == "");
}

BOOST_AUTO_TEST_CASE(frames_wait_until_the_link_is_open) {
    link_end_under_test client(link_role::client);
    client.state.on_bus(true, client.now, client.out);
    client.send("abc");
    BOOST_TEST(client.sent() == "open");
    BOOST_TEST(!client.state.output().has_left(1));
    BOOST_TEST(client.receive(link_kind::data, "too early").bytes == "");
    client.receive(link_kind::accept);
    BOOST_TEST(client.sent() == "data(0+3)");
    BOOST_TEST(client.state.output().has_left(1));
}

BOOST_AUTO_TEST_CASE(a_node_accepts_each_request) {
    link_end_under_test node(link_role::node);
    node.receive(link_kind::open, "hello");
    BOOST_TEST(node.out.at(0).body == "greeting");
    node.receive(link_kind::open, "hello"); // the same, twice on its way
    BOOST_TEST(node.sent() == "accept");
    node.advance(100ms);
    node.receive(link_kind::open, "hello"); // the answer was lost
    BOOST_TEST(node.sent() == "accept");
    BOOST_TEST(node.state.is_open());
}

BOOST_AUTO_TEST_CASE(a_refused_link_ends_with_the_reason) {
    link_end_under_test client(link_role::client);
    client.state.on_bus(true, client.now, client.out);
    client.receive(link_kind::refuse, "full\n" + std::string(1000, 'x'));
    BOOST_TEST(has_ended(client, link_end_cause::refused));
    BOOST_TEST(client.state.outcome()->detail == "full\\n" + std::string(195, 'x'));
    BOOST_CHECK(client.state.next_tick() == time_point::max());
}

BOOST_AUTO_TEST_CASE(the_peers_window_limits_the_unacknowledged_bytes) {
    open_client client;
    client.send(std::string(3 * window, 'x'));
    BOOST_TEST(client.sent() == "data(0+16384) data(16384+16384) data(32768+16384) data(49152+16384)");
    client.receive(link_kind::ack, {}, 0, 16384);
    BOOST_TEST(client.sent() == "data(65536+16384)");
    client.receive(link_kind::ack, {}, 0, 16384 + 5000); // too little room for a segment
    BOOST_TEST(client.sent() == "");
    client.receive(link_kind::ack, {}, 0, 2 * 16384);
    BOOST_TEST(client.sent() == "data(81920+16384)");
}

BOOST_AUTO_TEST_CASE(received_bytes_are_acknowledged_soon) {
    open_node node;
    BOOST_TEST(node.receive(link_kind::data, "abc", 0).bytes == "abc");
    BOOST_TEST(node.sent() == "");
    node.run(9ms);
    BOOST_TEST(node.sent() == "");
    node.run(1ms);
    BOOST_TEST(node.sent() == "ack");
    BOOST_TEST(node.last.expected == 3u);
    node.run(900ms);
    BOOST_TEST(node.sent() == "");
}

BOOST_AUTO_TEST_CASE(an_acknowledgement_goes_with_the_next_message) {
    open_node node;
    node.receive(link_kind::data, "abc", 0);
    node.send("answer");
    BOOST_TEST(node.sent() == "data(0+6)");
    BOOST_TEST(node.last.expected == 3u);
    node.run(50ms);
    BOOST_TEST(node.sent() == "");
}

BOOST_AUTO_TEST_CASE(a_quarter_of_the_window_is_acknowledged_at_once) {
    open_node node;
    const std::string quarter(window / 4, 'x');
    node.receive(link_kind::data, std::string_view(quarter).substr(1), 0);
    BOOST_TEST(node.sent() == "");
    node.receive(link_kind::data, "y", window / 4 - 1);
    BOOST_TEST(node.sent() == "ack");
}

BOOST_AUTO_TEST_CASE(known_bytes_are_dropped) {
    open_node node;
    node.receive(link_kind::data, "abcd", 0);
    BOOST_TEST(node.receive(link_kind::data, "abcd", 0).bytes == "");
    BOOST_TEST(node.state.counts().duplicates == 1u);
    BOOST_TEST(node.receive(link_kind::data, "cdef", 2).bytes == "ef");
    BOOST_TEST(node.receive(link_kind::data, "g", 6).bytes == "g");
    BOOST_TEST(node.state.counts().gaps == 0u);
}

BOOST_AUTO_TEST_CASE(lost_bytes_are_asked_for_once_until_the_answer) {
    open_node node;
    BOOST_TEST(node.receive(link_kind::data, "def", 3).bytes == "");
    BOOST_TEST(node.sent() == "sync");
    BOOST_TEST(node.last.expected == 0u);
    node.receive(link_kind::data, "ghi", 6); // in front of the answer
    BOOST_TEST(node.sent() == "");
    node.receive(link_kind::sync_ack, {}, 0);
    node.receive(link_kind::data, "jkl", 9); // the first bytes behind the answer were lost
    BOOST_TEST(node.sent() == "sync");
    node.receive(link_kind::data, "abc", 0);
    node.receive(link_kind::data, "ghi", 6);
    BOOST_TEST(node.sent() == "sync"); // for other bytes
    BOOST_TEST(node.state.counts().gaps == 4u);
}

BOOST_AUTO_TEST_CASE(a_question_without_an_answer_is_asked_again_less_and_less_often) {
    open_node node;
    std::string asked;
    for (int i = 0; i < 32; ++i) {
        node.receive(link_kind::data, "def", 3);
        asked += node.sent() == "sync" ? '?' : '.';
        node.advance(50ms);
    }
    BOOST_TEST(asked == "?.?...?.......?...............?.");
}

BOOST_AUTO_TEST_CASE(the_peers_question_is_answered_with_the_bytes_from_there_on) {
    open_client client;
    client.send("abc");
    client.send("def");
    client.sent();
    client.advance(10ms);
    client.receive(link_kind::sync, {}, 0, 3);
    BOOST_TEST(client.sent() == "sync_ack data(3+3)");
    client.receive(link_kind::sync, {}, 0, 3); // the bytes are on their way
    BOOST_TEST(client.sent() == "");
    client.advance(10ms);
    client.receive(link_kind::sync, {}, 0, 3);
    BOOST_TEST(client.sent() == "sync_ack data(3+3)");
}

BOOST_AUTO_TEST_CASE(a_lost_tail_is_found_by_a_probe) {
    open_client client;
    client.send("abc");
    client.run(99ms);
    BOOST_TEST(client.sent() == "data(0+3)");
    client.run(1ms);
    BOOST_TEST(client.sent() == "beat");
    BOOST_TEST(client.last.position == 3u);

    open_node node;
    node.receive(link_kind::beat, {}, 3);
    BOOST_TEST(node.sent() == "sync");
}

BOOST_AUTO_TEST_CASE(a_link_outlives_a_cut_of_the_bus) {
    open_client client;
    client.send("abc");
    client.sent();
    client.state.on_bus(false, client.now, client.out);
    client.send("def");
    BOOST_TEST(!client.state.output().has_left(2));
    BOOST_TEST(client.state.is_suspect(client.now));
    client.run(1h);
    BOOST_TEST(client.sent() == "");
    client.state.on_bus(true, client.now, client.out);
    client.run(200ms);
    BOOST_TEST(client.sent() == "sync sync sync");
    BOOST_TEST(client.state.is_suspect(client.now));
    client.receive(link_kind::sync_ack, {}, 0, 0);
    BOOST_TEST(client.sent() == "data(0+3) data(3+3)");
    BOOST_TEST(!client.state.is_suspect(client.now));
    BOOST_TEST(client.state.counts().resumes == 1u);
    client.receive(link_kind::sync_ack, {}, 0, 0); // the answer to another sync
    client.receive(link_kind::sync, {}, 0, 0);     // the peer has noticed the loss, too
    BOOST_TEST(client.sent() == "");
    client.receive(link_kind::ack, {}, 0, 6);
    BOOST_CHECK(client.state.round_trip() == 0ms); // the cut is not a part of it
}

BOOST_AUTO_TEST_CASE(a_peer_that_stays_missing_ends_the_link) {
    open_client client;
    for (int i = 0; i < 20; ++i) {
        client.state.on_no_receiver(client.now, client.out);
        client.run(100ms);
    }
    BOOST_TEST(client.state.is_open());
    BOOST_TEST(client.state.is_suspect(client.now));
    client.sent();
    client.state.on_no_receiver(client.now, client.out);
    BOOST_TEST(has_ended(client, link_end_cause::no_receiver));
    BOOST_TEST(client.sent() == "close"); // the peer may be back
}

BOOST_AUTO_TEST_CASE(a_peer_that_is_missing_for_a_moment_does_not_end_the_link) {
    open_client client;
    client.state.on_no_receiver(client.now, client.out);
    client.run(300ms);
    BOOST_TEST(client.sent() == "sync sync sync");
    client.receive(link_kind::sync_ack);
    client.run(2s);
    client.receive(link_kind::ack);
    client.state.on_no_receiver(client.now, client.out); // another absence
    BOOST_TEST(client.state.is_open());
    client.run(2s); // without reports
    client.state.on_no_receiver(client.now, client.out);
    BOOST_TEST(client.state.is_open());
}

BOOST_AUTO_TEST_CASE(bytes_that_are_never_acknowledged_end_the_link) {
    open_client client;
    client.send("abc");
    for (int i = 0; i < 29; ++i) {
        client.run(200ms);
        client.receive(link_kind::beat);
    }
    BOOST_TEST(client.state.is_open());
    BOOST_TEST(client.state.is_suspect(client.now));
    client.run(200ms);
    BOOST_TEST(has_ended(client, link_end_cause::no_progress));
}

BOOST_AUTO_TEST_CASE(a_dead_peer_is_given_up_though_the_own_connection_is_cut_now_and_then) {
    open_client client;
    for (int i = 0; i < 3; ++i) {
        client.run(1900ms);
        client.state.on_bus(false, client.now, client.out);
        client.run(1h);
        client.state.on_bus(true, client.now, client.out);
    }
    BOOST_TEST(client.state.is_open());
    client.run(2s);
    BOOST_TEST(has_ended(client, link_end_cause::silence));
}

BOOST_AUTO_TEST_CASE(silence_ends_the_link) {
    open_client client;
    client.run(5999ms);
    BOOST_TEST(client.state.is_open());
    client.run(1ms);
    BOOST_TEST(has_ended(client, link_end_cause::silence));
    BOOST_TEST(client.sent().ends_with("beat close"));
}

BOOST_AUTO_TEST_CASE(a_host_that_stood_still_hears_the_peer_first) {
    open_client client;
    client.advance(30s);
    client.state.tick(client.now, client.out);
    BOOST_TEST(client.sent() == "sync");
    BOOST_TEST(client.state.is_open());
    client.receive(link_kind::sync_ack);
    BOOST_TEST(!client.state.is_suspect(client.now));
}

BOOST_AUTO_TEST_CASE(a_quiet_link_beats_and_probes_a_silent_peer) {
    open_client client;
    client.run(3s - 1ns);
    BOOST_TEST(client.sent() == "");
    client.run(1ns);
    BOOST_TEST(client.sent() == "beat");
    BOOST_TEST(!client.state.is_suspect(client.now));
    client.run(700ms);
    BOOST_TEST(client.sent() == "beat beat beat"); // at 3.5, 3.6 and 3.7 s
    BOOST_TEST(client.state.is_suspect(client.now));
    client.receive(link_kind::ack);
    BOOST_TEST(!client.state.is_suspect(client.now));
}

BOOST_AUTO_TEST_CASE(a_client_beats_more_often_while_its_node_has_calls) {
    open_client client;
    client.peer_load.calls = 1;
    client.receive(link_kind::ack);
    client.run(1s - 1ns);
    BOOST_TEST(client.sent() == "");
    client.run(1ns);
    BOOST_TEST(client.sent() == "beat");
    client.run(500ms);
    client.send("abc"); // is as good as a beat
    client.receive(link_kind::ack, {}, 0, 3);
    client.sent();
    client.run(1s - 1ns);
    BOOST_TEST(client.sent() == "");
    client.peer_load.calls = 0;
    client.receive(link_kind::ack, {}, 0, 3);
    client.run(2s);
    BOOST_TEST(client.sent() == "");
    client.run(1ns);
    BOOST_TEST(client.sent() == "beat");
}

BOOST_AUTO_TEST_CASE(a_node_with_calls_beats_as_any_other_end) {
    open_node node;
    node.state.set_load({5, 4, false});
    node.run(3s - 1ns);
    BOOST_TEST(node.sent() == "");
    node.run(1ns);
    BOOST_TEST(node.sent() == "beat");
}

BOOST_AUTO_TEST_CASE(the_end_of_a_node_with_calls_is_noticed_in_three_seconds) {
    open_client client;
    client.peer_load.calls = 1;
    client.receive(link_kind::ack); // the last message of the node
    while (client.state.is_open() && client.now < start + 4s) {
        client.run(100ms);
        if (!client.sent().empty()) {
            client.state.on_no_receiver(client.now, client.out);
        }
    }
    BOOST_TEST(has_ended(client, link_end_cause::no_receiver));
    BOOST_CHECK(client.now <= start + 3100ms);
}

BOOST_AUTO_TEST_CASE(a_beat_is_acknowledged) {
    open_node node;
    node.receive(link_kind::beat);
    node.run(10ms);
    BOOST_TEST(node.sent() == "ack");
    node.receive(link_kind::ack);
    node.run(100ms);
    BOOST_TEST(node.sent() == "");
}

BOOST_AUTO_TEST_CASE(each_message_tells_load_window_and_positions) {
    open_node node;
    node.state.set_load({5, 4, true});
    node.state.set_window(70'000);
    node.receive(link_kind::data, "ab", 0);
    node.send("xyz");
    node.receive(link_kind::beat, {}, 2);
    node.run(10ms);
    BOOST_TEST(node.sent() == "data(0+3) ack");
    BOOST_CHECK(node.last.load == link_load({5, 4, true}));
    BOOST_TEST(node.last.window == 70'000u);
    BOOST_TEST(node.last.position == 3u);
    BOOST_TEST(node.last.expected == 2u);
}

BOOST_AUTO_TEST_CASE(the_round_trip_is_measured_unless_bytes_were_sent_again) {
    open_client client;
    BOOST_CHECK(client.state.round_trip() == 0ms);
    client.send("abc");
    client.advance(40ms);
    client.receive(link_kind::ack, {}, 0, 3);
    BOOST_CHECK(client.state.round_trip() == 40ms);
    client.send("def");
    client.advance(80ms);
    client.receive(link_kind::sync, {}, 0, 3);
    client.advance(1ms);
    client.receive(link_kind::ack, {}, 0, 6);
    BOOST_CHECK(client.state.round_trip() == 40ms);
    client.send("ghi");
    client.advance(48ms);
    client.receive(link_kind::ack, {}, 0, 9);
    BOOST_CHECK(client.state.round_trip() == 41ms);
}

BOOST_AUTO_TEST_CASE(a_closed_link_tells_the_peer) {
    open_client client;
    client.state.close("done", client.now, client.out);
    BOOST_TEST(client.out.at(0).body == "done");
    BOOST_TEST(client.sent() == "close");
    BOOST_TEST(has_ended(client, link_end_cause::closed));
    client.send("abc");
    client.run(1h);
    BOOST_TEST(client.receive(link_kind::data, "x").bytes == "");
    BOOST_TEST(client.sent() == "");

    open_node node;
    node.receive(link_kind::close, "done");
    BOOST_TEST(has_ended(node, link_end_cause::peer_closed));
    BOOST_TEST(node.state.outcome()->detail == "done");
    BOOST_TEST(node.sent() == "");
}

BOOST_AUTO_TEST_CASE(a_violation_ends_the_link) {
    const auto breaks = [](auto&& end, link_kind kind, std::uint64_t expected = 0,
                           std::uint32_t granted = window) {
        link_message message;
        message.kind = kind;
        message.window = granted;
        message.expected = expected;
        end.state.receive(message, end.now, end.out);
        return has_ended(end, link_end_cause::violation) && end.sent() == "close";
    };
    BOOST_TEST(breaks(open_client(), link_kind::open));
    BOOST_TEST(breaks(open_client(), link_kind::refuse));
    BOOST_TEST(breaks(open_node(), link_kind::accept));
    BOOST_TEST(breaks(open_node(), link_kind::refuse));
    BOOST_TEST(breaks(open_node(), link_kind::ack, 1)); // of bytes that were not sent
    BOOST_TEST(breaks(open_node(), link_kind::beat, 0, window - 1));
    BOOST_TEST(!breaks(open_node(), link_kind::beat));
}

BOOST_AUTO_TEST_CASE(a_close_needs_no_right_numbers) {
    open_node node;
    link_message message;
    message.kind = link_kind::close;
    message.expected = 1000;
    node.state.receive(message, node.now, node.out);
    BOOST_TEST(has_ended(node, link_end_cause::peer_closed));
}

BOOST_AUTO_TEST_CASE(a_node_takes_nothing_before_the_request) {
    link_end_under_test node(link_role::node);
    BOOST_TEST(node.receive(link_kind::data, "abc").bytes == "");
    BOOST_TEST(node.state.is_opening());
    BOOST_TEST(node.sent() == "");
}

BOOST_AUTO_TEST_CASE(a_late_message_does_not_change_window_and_load) {
    open_client client;
    client.send("abc");
    client.receive(link_kind::ack, {}, 0, 3);
    link_message late;
    late.kind = link_kind::ack;
    late.load = {9, 9, true};
    late.window = 1 << 30;
    client.state.receive(late, client.now, client.out);
    BOOST_CHECK(client.state.peer_load() == link_load());
}

BOOST_AUTO_TEST_CASE(an_immense_window_counts_as_the_largest) {
    open_client client;
    link_message message;
    message.kind = link_kind::ack;
    message.window = ~0u;
    client.state.receive(message, client.now, client.out);
    client.send(std::string(limits.most_window + limits.segment, 'x'));
    BOOST_TEST(client.state.output().in_flight() == limits.most_window);
}

BOOST_AUTO_TEST_CASE(received_bytes_are_acknowledged_soon_also_while_the_peer_is_missing) {
    open_node node;
    node.state.on_no_receiver(node.now, node.out);
    node.receive(link_kind::data, "abc", 0);
    node.state.on_no_receiver(node.now, node.out);
    node.run(10ms);
    BOOST_TEST(node.sent() == "ack");
}

BOOST_AUTO_TEST_CASE(a_segment_has_at_least_a_byte) {
    open_client client;
    client.state.set_segment(0);
    client.send("ab");
    BOOST_TEST(client.sent() == "data(0+1) data(1+1)");
}

BOOST_AUTO_TEST_CASE(a_peer_that_begins_anew_ends_the_link) {
    open_client client;
    link_message message;
    message.kind = link_kind::data;
    message.window = window;
    message.body = "of another stream";
    message.epoch = 7;
    const auto input = client.state.receive(message, client.now, client.out);
    BOOST_TEST(input.bytes.empty());
    BOOST_REQUIRE(client.state.outcome().has_value());
    BOOST_TEST((client.state.outcome()->cause == link_end_cause::begun_anew));
    BOOST_TEST((client.out.back().kind == link_kind::close));
}

BOOST_AUTO_TEST_CASE(whoever_does_not_know_the_link_closes_it_without_the_epoch) {
    link_end_under_test node(link_role::node);
    node.state.set_epoch(9);
    link_message message;
    message.kind = link_kind::open;
    message.window = window;
    message.epoch = 7;
    node.state.receive(message, node.now, node.out);
    BOOST_TEST(node.out.back().epoch == 9);
    message.kind = link_kind::close;
    message.epoch = 0;
    node.state.receive(message, node.now, node.out);
    BOOST_TEST((node.state.outcome()->cause == link_end_cause::peer_closed));
}

BOOST_AUTO_TEST_SUITE_END()
