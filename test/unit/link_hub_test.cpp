// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/clock.hpp"
#include "remote/link_hub.hpp"
#include "support/allocated_bytes.hpp"
#include "wire/frame.hpp"
#include "wire/link_head.hpp"

#include <boost/test/unit_test.hpp>

#include <array>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace skep::test {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(link_hub_test)

namespace {

struct posted_message {
    std::string subject;
    std::string reply;
    std::string bytes;

    link_message read() const { return decode_link_message(bytes).value(); }
};

const link_load no_load;

/// Keeps what a hub publishes.
class recording_bus : public bus {
public:
    void publish(std::string_view subject, std::string_view reply, std::string_view head,
                 std::string_view body) override {
        BOOST_TEST(head.size() + body.size() <= payload);
        published.push_back(
            {std::string(subject), std::string(reply), std::string(head) + std::string(body)});
    }
    void subscribe(std::string_view) override {}
    void unsubscribe(std::string_view) override {}
    bool is_up() const noexcept override { return up; }
    std::size_t max_payload() const noexcept override { return payload; }
    boost::asio::awaitable<void> close() override { co_return; }

    std::deque<posted_message> published;
    bool up = true;
    std::size_t payload = 1 << 20;
};

struct hub_end {
    explicit hub_end(hub_options options = {}) : hub(connection, options) {}

    /// Passes everything on that the peer has published.
    void read(hub_end& peer) {
        while (!peer.connection.published.empty()) {
            const auto one = std::move(peer.connection.published.front());
            peer.connection.published.pop_front();
            receive(one);
        }
    }
    void receive(const posted_message& one, bool has_no_receiver = false) {
        hub.on_message({one.subject, one.reply, one.bytes, has_no_receiver}, events);
    }

    template <class Event>
    Event take() {
        BOOST_REQUIRE(!events.empty());
        auto event = std::get<Event>(events.front());
        events.erase(events.begin());
        return event;
    }

    std::vector<std::string> frames(remote_link& link) {
        auto& decoder = decoders.try_emplace(&link, frame_limits{1 << 20, 1 << 20}).first->second;
        for (std::size_t count = 1; count > 0;) {
            count = hub.read(link, decoder.prepare());
            decoder.commit(count);
        }
        std::vector<std::string> texts;
        while (const auto frame = decoder.next()) {
            texts.emplace_back(frame->json);
        }
        return texts;
    }

    recording_bus connection;
    link_hub hub;
    link_hub::events events;
    std::map<const remote_link*, frame_decoder> decoders;
};

std::string frame_of(std::string_view json) {
    std::string out;
    const auto begin = begin_frame(out);
    out += json;
    end_frame(out, begin, out.size());
    return out;
}

posted_message message_to(std::string subject, link_kind kind, std::string reply = "client.1") {
    link_message message;
    message.kind = kind;
    message.window = 64 << 10;
    message.epoch = hub_options().first_epoch;
    const auto head = encode_link_head(message);
    return {std::move(subject), std::move(reply), std::string(head.begin(), head.end())};
}

/// A client and a node with one link.
struct linked_ends {
    linked_ends() {
        at_client = &client.hub.open("client.1", "node.1", "hello");
        node.read(client);
        const auto request = node.take<link_request>();
        BOOST_TEST(request.body() == "hello");
        at_node = node.hub.accept(request, "welcome", load, node.events);
        client.read(node);
        const auto accepted = client.take<link_accepted>();
        BOOST_TEST(accepted.link == at_client);
        BOOST_TEST(accepted.consent == "welcome");
    }

    manual_time time;
    link_load load; ///< of the node
    hub_end client;
    hub_end node;
    remote_link* at_client;
    remote_link* at_node;
};

} // namespace

BOOST_AUTO_TEST_CASE(frames_go_both_ways) {
    linked_ends both;
    both.client.hub.send(*both.at_client, frame_of("1"));
    both.client.hub.send(*both.at_client, frame_of("2"));
    BOOST_TEST(both.client.connection.published.empty());
    both.client.hub.flush();
    both.node.read(both.client);
    BOOST_TEST(both.node.take<link_readable>().link == both.at_node);
    BOOST_TEST(both.node.frames(*both.at_node) == (std::vector<std::string>{"1", "2"}),
               boost::test_tools::per_element());
    both.node.hub.send(*both.at_node, frame_of("3"));
    both.node.hub.flush();
    both.client.read(both.node);
    both.client.take<link_readable>();
    BOOST_TEST(both.client.frames(*both.at_client) == std::vector<std::string>{"3"},
               boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(the_frames_of_a_turn_go_in_one_message) {
    linked_ends both;
    for (int i = 0; i < 10; ++i) {
        both.client.hub.send(*both.at_client, frame_of("1"));
    }
    both.client.hub.flush();
    BOOST_TEST(both.client.connection.published.size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_frame_comes_in_parts_that_fit_the_bus) {
    linked_ends both;
    both.client.connection.payload = bus::least_payload; // checked by the bus
    const std::string text(40'000, 'x');
    both.client.hub.send(*both.at_client, frame_of(text));
    both.client.hub.flush();
    BOOST_TEST(both.client.connection.published.size() == 10u);
    BOOST_TEST(both.node.hub.unread_bytes() == 0u);
    std::vector<std::string> texts;
    while (!both.client.connection.published.empty()) {
        both.node.receive(both.client.connection.published.front());
        both.client.connection.published.pop_front();
        BOOST_TEST(both.node.hub.unread_bytes() > 0u);
        BOOST_TEST(both.node.hub.unread_bytes() == both.at_node->unread_bytes());
        for (auto& each : both.node.frames(*both.at_node)) {
            texts.push_back(std::move(each));
        }
        BOOST_TEST(both.node.hub.unread_bytes() == 0u);
        both.node.hub.flush(); // a turn ends in the midst of the frame
    }
    BOOST_TEST(texts == std::vector<std::string>{text}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(links_share_what_the_bus_may_hold) {
    const manual_time time;
    hub_options options;
    options.window = 1 << 20;
    options.all_windows = 2 << 20;
    hub_end node(options);
    std::deque<remote_link*> links;
    const auto told_window = [&] { return node.connection.published.back().read().window; };
    const auto open = [&] {
        node.receive(message_to("node." + std::to_string(links.size()), link_kind::open));
        links.push_back(node.hub.accept(node.take<link_request>(), "welcome", no_load, node.events));
        BOOST_TEST(told_window() == 64u << 10); // before the share of the others is smaller
    };
    const auto next_window = [&] {
        node.hub.send(*links.back(), frame_of("1"));
        node.hub.flush();
        return told_window();
    };
    const auto forget = [&] {
        node.hub.close(*links.front(), "");
        node.hub.forget(*links.front());
        links.pop_front();
    };
    open();
    BOOST_TEST(next_window() == 1u << 20);
    for (int i = 0; i < 3; ++i) {
        open();
    }
    BOOST_TEST(next_window() == 512u << 10);
    while (links.size() < 100) {
        open();
    }
    BOOST_TEST(next_window() == 64u << 10); // a peer would not take less
    while (links.size() > 3) {
        forget();
    }
    BOOST_TEST(next_window() == (2u << 20) / 3);
}

BOOST_AUTO_TEST_CASE(the_load_is_told) {
    linked_ends both;
    both.load = {7, 8, true};
    both.node.hub.send(*both.at_node, frame_of("1"));
    both.node.hub.flush();
    both.client.read(both.node);
    both.client.take<link_readable>();
    BOOST_TEST(both.client.take<link_load_changed>().link == both.at_client);
    BOOST_TEST((both.at_client->state().peer_load() == link_load{7, 8, true}));
}

BOOST_AUTO_TEST_CASE(a_silent_peer_is_suspect_until_it_is_heard) {
    linked_ends both;
    while (both.client.events.empty()) {
        both.time.advance(100ms);
        both.client.hub.tick(both.client.events);
    }
    BOOST_TEST(both.client.take<link_reach_changed>().link == both.at_client);
    BOOST_TEST(both.at_client->is_suspect());
    both.node.hub.tick(both.node.events);
    both.client.read(both.node);
    BOOST_TEST(both.client.take<link_reach_changed>().link == both.at_client);
    BOOST_TEST(!both.at_client->is_suspect());
}

BOOST_AUTO_TEST_CASE(a_node_can_refuse) {
    const manual_time time;
    hub_end client;
    hub_end node;
    auto& link = client.hub.open("client.1", "node.1", "hello");
    node.read(client);
    node.hub.refuse(node.take<link_request>(), "no room");
    BOOST_TEST(node.hub.size() == 0u);
    client.read(node);
    const auto ended = client.take<link_ended>();
    BOOST_TEST(ended.link == &link);
    BOOST_TEST((ended.end.cause == link_end_cause::refused));
    BOOST_TEST(ended.end.detail == "no room");
    client.hub.forget(link);
    BOOST_TEST((client.hub.next_tick() == time_point::max()));
}

BOOST_AUTO_TEST_CASE(a_repeated_request_is_one) {
    linked_ends both;
    both.node.receive(message_to("node.1", link_kind::open));
    BOOST_TEST(both.node.events.empty());
    BOOST_TEST(both.node.hub.size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_request_that_comes_twice_before_its_answer_makes_one_link) {
    const manual_time time;
    hub_end node;
    node.receive(message_to("node.1", link_kind::open));
    node.receive(message_to("node.1", link_kind::open));
    const auto first = node.take<link_request>();
    const auto second = node.take<link_request>();
    BOOST_TEST(node.hub.accept(first, "welcome", no_load, node.events) != nullptr);
    BOOST_TEST(node.hub.accept(second, "welcome", no_load, node.events) == nullptr);
    BOOST_TEST(node.hub.size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_request_that_cannot_be_answered_is_ignored) {
    const manual_time time;
    hub_end node;
    node.receive(message_to("node.1", link_kind::open, ""));
    BOOST_TEST(node.events.empty());
}

BOOST_AUTO_TEST_CASE(a_stranger_cannot_speak_for_the_peer) {
    linked_ends both;
    both.node.receive(message_to("node.1", link_kind::close, "client.2"));
    BOOST_TEST(both.node.events.empty());
    both.node.receive(message_to("node.1", link_kind::open, "client.2"));
    BOOST_TEST(both.node.connection.published.empty());
}

BOOST_AUTO_TEST_CASE(a_link_that_is_accepted_while_the_bus_is_down_says_nothing_before_it_is_up) {
    const manual_time time;
    hub_end node;
    node.receive(message_to("node.1", link_kind::open));
    node.connection.up = false;
    node.hub.on_connection(false, node.events);
    auto& made = *node.hub.accept(node.take<link_request>(), "welcome", no_load, node.events);
    node.connection.published.clear(); // a bus without connection loses it
    node.hub.send(made, frame_of("1"));
    node.hub.flush();
    BOOST_TEST(node.connection.published.empty());
}

BOOST_AUTO_TEST_CASE(an_idle_link_sends_few_messages) {
    linked_ends both;
    std::size_t messages = 0;
    for (int i = 0; i < 6'000; ++i) {
        both.time.advance(10ms);
        for (auto* const each : {&both.client, &both.node}) {
            each->hub.tick(each->events);
            each->hub.flush();
        }
        messages += both.client.connection.published.size() + both.node.connection.published.size();
        both.node.read(both.client);
        both.client.read(both.node);
    }
    BOOST_TEST(both.client.events.empty());
    BOOST_TEST(messages >= 20u);
    BOOST_TEST(messages <= 80u);
}

BOOST_AUTO_TEST_CASE(an_idle_link_takes_little_memory) {
    constexpr std::size_t count = 500;
    constexpr std::size_t most_bytes = 4096; ///< of one link
    const manual_time time;
    hub_end client;
    hub_end node;
    const auto memory_before = allocated_bytes();
    for (std::size_t i = 0; i < count; ++i) {
        const auto number = std::to_string(i);
        auto& link = client.hub.open("_INBOX.0123456789abcdefghijkl.0123456789abcdef" + number,
                                     "skep.default.node.a-node-with-a-name.0123456789abcdef" + number, "{}");
        node.read(client);
        const auto request = node.take<link_request>();
        auto* const accepted = node.hub.accept(request, "{}", no_load, node.events);
        BOOST_REQUIRE(accepted != nullptr);
        client.read(node);
        client.take<link_accepted>();
        client.hub.send(link, std::string(30'000, 'x')); // its memory is free afterwards
        client.hub.flush();
        node.read(client);
        std::string space(30'000, ' ');
        BOOST_REQUIRE(node.hub.read(*accepted, space) == space.size());
        node.hub.send(*accepted, "x");
        node.hub.flush();
        client.read(node);
        BOOST_REQUIRE(client.hub.read(link, space) == 1u);
        client.hub.flush();
        node.events.clear();
        client.events.clear();
    }
    const auto memory = allocated_bytes() - memory_before;
    BOOST_TEST_MESSAGE(memory / (2 * count) << " bytes");
    BOOST_TEST(memory / (2 * count) <= most_bytes);
}

BOOST_AUTO_TEST_CASE(a_link_can_be_used_and_forgotten_in_one_turn) {
    linked_ends both;
    both.client.hub.send(*both.at_client, frame_of("1"));
    both.client.hub.flush();
    both.node.read(both.client);
    both.node.hub.send(*both.at_node, frame_of("2"));
    both.node.hub.close(*both.at_node, "");
    both.node.hub.forget(*both.at_node);
    BOOST_TEST(both.node.take<link_readable>().link->subject() == "node.1"); // its memory is still there
    BOOST_TEST(both.node.hub.unread_bytes() == 0u);
    both.node.hub.flush();
    BOOST_TEST(both.node.hub.size() == 0u);
}

BOOST_AUTO_TEST_CASE(a_request_against_the_rules_ends_at_once) {
    const manual_time time;
    hub_end node;
    auto bad = message_to("node.1", link_kind::open);
    bad.bytes[12] = bad.bytes[13] = bad.bytes[14] = bad.bytes[15] = 0; // the window
    node.receive(bad);
    const auto* const made = node.hub.accept(node.take<link_request>(), "welcome", no_load, node.events);
    const auto ended = node.take<link_ended>();
    BOOST_TEST(ended.link == made);
    BOOST_TEST((ended.end.cause == link_end_cause::violation));
    BOOST_TEST((node.connection.published.back().read().kind == link_kind::close));
}

BOOST_AUTO_TEST_CASE(the_peer_learns_of_the_end) {
    linked_ends both;
    both.client.hub.close(*both.at_client, "enough");
    BOOST_TEST(both.client.events.empty());
    both.node.read(both.client);
    const auto ended = both.node.take<link_ended>();
    BOOST_TEST((ended.end.cause == link_end_cause::peer_closed));
    BOOST_TEST(ended.end.detail == "enough");
    both.node.hub.forget(*ended.link);
    BOOST_TEST(both.node.hub.size() == 0u);
    BOOST_TEST((both.node.hub.next_tick() == time_point::max()));
}

BOOST_AUTO_TEST_CASE(whoever_sends_to_an_unknown_link_learns_so_seldom) {
    manual_time time;
    hub_end one;
    for (const auto kind : {link_kind::data, link_kind::beat, link_kind::sync}) {
        one.receive(message_to("node.1", kind));
    }
    BOOST_TEST(one.connection.published.size() == 1u);
    BOOST_TEST(one.connection.published.back().subject == "client.1");
    BOOST_TEST((one.connection.published.back().read().kind == link_kind::close));
    one.receive(message_to("node.2", link_kind::data));
    BOOST_TEST(one.connection.published.size() == 2u);
    time.advance(99ms);
    one.receive(message_to("node.1", link_kind::data));
    BOOST_TEST(one.connection.published.size() == 2u);
    time.advance(1ms);
    one.receive(message_to("node.1", link_kind::data));
    BOOST_TEST(one.connection.published.size() == 3u);
    for (int i = 0; i < 5000; ++i) { // a stranger invents links
        one.receive(message_to("node.x" + std::to_string(i), link_kind::data));
    }
    BOOST_TEST(one.connection.published.size() < 1100u);
}

BOOST_AUTO_TEST_CASE(two_ends_that_know_no_link_do_not_answer_each_other) {
    const manual_time time;
    hub_end one;
    one.receive(message_to("node.1", link_kind::close));
    one.receive(message_to("node.1", link_kind::refuse));
    one.receive(message_to("node.1", link_kind::data, ""));
    one.receive({"node.1", "client.1", "no message of a link"});
    BOOST_TEST(one.connection.published.empty());
    BOOST_TEST(one.events.empty());
}

BOOST_AUTO_TEST_CASE(a_link_whose_end_is_not_forgotten_yet_is_unknown) {
    linked_ends both;
    both.node.hub.close(*both.at_node, "");
    both.node.connection.published.clear();
    both.node.receive(message_to("node.1", link_kind::beat));
    BOOST_TEST((both.node.connection.published.back().read().kind == link_kind::close));
    both.node.connection.published.clear();
    both.node.receive(message_to("node.1", link_kind::open));
    BOOST_TEST(both.node.connection.published.empty());
    BOOST_TEST(both.node.events.empty());
}

BOOST_AUTO_TEST_CASE(without_a_receiver_a_link_ends) {
    linked_ends both;
    for (int i = 0; i < 25; ++i) {
        both.client.receive({"client.1", "", ""}, true);
        both.time.advance(100ms);
    }
    both.client.take<link_reach_changed>();
    BOOST_TEST((both.client.take<link_ended>().end.cause == link_end_cause::no_receiver));
    both.client.receive({"client.9", "", ""}, true);
    BOOST_TEST(both.client.events.empty());
}

BOOST_AUTO_TEST_CASE(a_silent_peer_ends_a_link_by_the_ticks) {
    linked_ends both;
    for (int i = 0; i < 70; ++i) {
        both.time.advance(100ms);
        both.client.hub.tick(both.client.events);
    }
    both.client.take<link_reach_changed>();
    BOOST_TEST((both.client.take<link_ended>().end.cause == link_end_cause::silence));
    BOOST_TEST((both.client.hub.next_tick() == time_point::max()));
}

BOOST_AUTO_TEST_CASE(a_link_outlives_a_cut) {
    linked_ends both;
    both.client.hub.on_connection(false, both.client.events);
    both.client.connection.up = false;
    both.client.hub.send(*both.at_client, frame_of("1"));
    both.client.hub.flush();
    BOOST_TEST(both.client.connection.published.empty());
    both.client.connection.up = true;
    both.client.hub.on_connection(true, both.client.events);
    for (int i = 0; i < 3; ++i) { // they agree on their positions
        both.node.read(both.client);
        both.client.read(both.node);
    }
    BOOST_TEST(both.node.frames(*both.at_node) == std::vector<std::string>{"1"},
               boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_link_ends_once) {
    linked_ends both;
    both.node.receive(message_to("node.1", link_kind::close));
    both.node.take<link_ended>();
    both.node.hub.on_connection(false, both.node.events);
    both.node.hub.on_connection(true, both.node.events);
    both.node.receive(message_to("node.1", link_kind::close));
    both.time.advance(1min);
    both.node.hub.tick(both.node.events);
    BOOST_TEST(both.node.events.empty());
}

BOOST_AUTO_TEST_CASE(a_link_that_is_opened_while_the_bus_is_down_waits_for_it) {
    const manual_time time;
    hub_end client;
    client.connection.up = false;
    client.hub.open("client.1", "node.1", "hello");
    BOOST_TEST(client.connection.published.empty());
    client.connection.up = true;
    client.hub.on_connection(true, client.events);
    BOOST_TEST((client.connection.published.back().read().kind == link_kind::open));
}

BOOST_AUTO_TEST_CASE(a_link_tells_when_it_has_room_again) {
    linked_ends both;
    BOOST_TEST(both.client.hub.room(*both.at_client) == 4u << 20); // two windows
    both.client.hub.send(*both.at_client, std::string(3 << 20, 'x'));
    BOOST_TEST(both.client.hub.room(*both.at_client) == 1u << 20);
    both.client.hub.send(*both.at_client, std::string(1 << 20, 'x'));
    BOOST_TEST(both.client.hub.room(*both.at_client) == 0u);
    both.client.hub.flush();
    std::size_t read_bytes = 0;
    while (both.client.events.empty()) {
        both.node.read(both.client);
        std::vector<char> space(both.at_node->unread_bytes());
        read_bytes += both.node.hub.read(*both.at_node, space);
        both.time.advance(10ms);
        both.node.hub.tick(both.node.events);
        both.client.read(both.node);
    }
    BOOST_TEST(both.client.take<link_writable>().link == both.at_client);
    BOOST_TEST(read_bytes >= 2u << 20);
    BOOST_TEST(both.client.hub.room(*both.at_client) > 0u);
}

BOOST_AUTO_TEST_CASE(bytes_are_read_in_pieces) {
    linked_ends both;
    both.client.hub.send(*both.at_client, "12345");
    both.client.hub.flush();
    both.node.read(both.client);
    std::array<char, 3> space;
    BOOST_TEST(both.node.hub.read(*both.at_node, space) == 3u);
    BOOST_TEST(both.node.hub.unread_bytes() == 2u);
    both.client.hub.send(*both.at_client, "6");
    both.client.hub.flush();
    both.node.read(both.client);
    BOOST_TEST(both.node.hub.read(*both.at_node, space) == 3u);
    BOOST_TEST(std::string(space.begin(), space.end()) == "456");
    BOOST_TEST(both.node.hub.read(*both.at_node, space) == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
