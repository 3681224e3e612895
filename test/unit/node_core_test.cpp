// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "support/attacked_node.hpp"
#include "wire/link_head.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstdint>
#include <exception>
#include <string>
#include <utility>

/// A node whose clients do what they should not.

namespace skep::test {

namespace data = boost::unit_test::data;

BOOST_AUTO_TEST_SUITE(node_core_test)

using namespace node_attack;

// Requests for links

BOOST_AUTO_TEST_CASE(an_unknown_pool_is_refused) {
    attacked_node of;
    check_refused(of.open(R"({"v":1,"pool":"other","client":"raw"})"), "the node has no pool 'other'");
    BOOST_TEST(of.agent->links() == 1u);
}

BOOST_AUTO_TEST_CASE(a_request_that_is_no_greeting_is_refused) {
    attacked_node of;
    check_refused(of.open(R"({"v":2,"pool":"default"})"), "the node speaks version 1 of the link protocol");
    check_refused(of.open(R"({"v":1,"pool":7})"), "'pool' of the request for a link is no text");
    for (const std::string wish : {"", "\xff", "[]", "{\"v\":1"}) {
        const auto& link = of.open(wish);
        BOOST_REQUIRE(link.end.has_value());
        BOOST_TEST((link.end->cause == link_end_cause::refused));
    }
    BOOST_TEST(of.agent->links() == 1u);
}

BOOST_AUTO_TEST_CASE(further_links_than_the_most_are_refused) {
    auto setup = small_limits();
    setup.most_links = 3;
    attacked_node of(std::move(setup));
    auto& first = of.open();
    of.open();
    check_refused(of.open(), "full: the node has 3 links, and takes no more");
    BOOST_TEST(of.agent->links() == 3u);
    of.attacker->send(first, "bytes that end it");
    BOOST_TEST(of.open().is_accepted);
}

BOOST_AUTO_TEST_CASE(further_links_than_the_most_a_second_are_refused) {
    auto setup = small_limits();
    setup.opens_per_second = 3;
    attacked_node of(std::move(setup));
    for (int i = 0; i < 3; ++i) {
        BOOST_TEST(of.open().is_accepted); // within 150 ms
    }
    check_refused(of.open(), "full: more than 3 new links of the client in a second");
    BOOST_TEST(of.attacker->open("node", good_wish, "_INBOX.other.").is_accepted);
    of.time.advance(1s);
    BOOST_TEST(of.open().is_accepted);
}

BOOST_AUTO_TEST_CASE(requests_of_one_link_make_one_link) {
    attacked_node of;
    const auto& link = of.open();
    const auto head = encode_link_head({link_kind::open, {}, 1 << 20, 0, 0, {}, link.link->state().epoch()});
    for (int i = 0; i < 100; ++i) {
        of.attacker->carrier().publish("skep.default.node.node.1", link.link->subject(),
                                       {head.data(), head.size()}, good_wish);
    }
    of.time.advance(1s);
    BOOST_TEST(of.agent->links() == 2u);
    BOOST_TEST(!link.end.has_value());
}

BOOST_AUTO_TEST_CASE(a_window_that_is_too_small_ends_the_link) {
    attacked_node of;
    const auto head = encode_link_head({link_kind::open, {}, 1000, 0, 0, {}, 1});
    of.attacker->listen("_INBOX.raw.small");
    of.attacker->carrier().publish("skep.default.node.node.small", "_INBOX.raw.small",
                                   {head.data(), head.size()}, good_wish);
    of.time.advance(100ms);
    BOOST_TEST(of.agent->links() == 1u);
    BOOST_REQUIRE(!of.attacker->heard().empty());
    const auto last = decode_link_message(of.attacker->heard().back().body);
    BOOST_REQUIRE(last.has_value());
    BOOST_TEST((last->kind == link_kind::close));
}

BOOST_DATA_TEST_CASE(a_node_answers_inboxes_only,
                     data::make<std::string>({"skep.default.load", "skep.default.node.other.1", "victim",
                                              "_INBOX", "_INBO.x", "", "_INBOX.>", "_INBOX.*", "_INBOX.a b"}),
                     subject) {
    attacked_node of;
    raw_program victim(of.context, of.time, of.bus);
    victim.listen(subject);
    of.time.advance(2s); // whatever the node says by itself
    const auto own_messages = [&] {
        return std::count_if(victim.heard().begin(), victim.heard().end(), [](const auto& each) {
            return !each.body.starts_with(R"({"v":1,"node":"node")");
        });
    };
    const auto publish = [&](const std::string& to, link_kind kind, const std::string& body) {
        const auto head = encode_link_head({kind, {}, 1 << 20, 0, 0, {}, 1});
        of.attacker->carrier().publish(to, subject, {head.data(), head.size()}, body);
        of.time.advance(200ms);
    };
    publish("skep.default.node.node.a", link_kind::open, good_wish);
    publish("skep.default.node.node.b", link_kind::open, R"({"v":1,"pool":"other"})");
    publish("skep.default.node.node.c", link_kind::open, "no greeting");
    publish("skep.default.node.node.d", link_kind::data, "bytes for an unknown link");
    publish("skep.default.node.node.e", link_kind::sync, {});
    BOOST_TEST(own_messages() == 0);
    BOOST_TEST(of.agent->links() == 1u);
    const auto beacons = victim.heard().size();
    for (int i = 0; i < 10; ++i) {
        of.attacker->carrier().publish("skep.default.who", subject, {}, {});
    }
    of.time.run_until_idle();
    BOOST_TEST(victim.heard().size() == beacons);
}

// Frames

BOOST_AUTO_TEST_CASE(a_message_before_the_welcome_ends_the_link) {
    attacked_node of;
    auto& link = of.open();
    BOOST_TEST(link.is_accepted);
    of.send(link, call_text(1));
    check_closed(link, "a message before the welcome");
    BOOST_TEST(of.runs == 0);
}

BOOST_AUTO_TEST_CASE(a_second_welcome_ends_the_link_and_its_calls) {
    attacked_node of;
    auto& link = of.open_and_welcome();
    of.send(link, call_text(1));
    BOOST_TEST(of.running == 1);
    of.send(link, good_welcome);
    check_closed(link, "a second welcome");
    of.time.advance(100ms);
    BOOST_TEST(of.running == 0);
}

BOOST_AUTO_TEST_CASE(ids_that_do_not_grow_end_the_link) {
    attacked_node of;
    auto& link = of.open_and_welcome();
    of.send(link, call_text(7));
    of.send(link, call_text(6));
    check_closed(link, "call 6 after call 7");
    auto& other = of.open_and_welcome();
    of.send(other, call_text(7));
    of.send(other, call_text(7));
    check_closed(other, "call 7 after call 7");
}

BOOST_AUTO_TEST_CASE(calls_without_room_are_refused) {
    attacked_node of;
    auto& link = of.open();
    of.send(link, R"({"type":"welcome","limits":{},"capacity":1})"); // which the node does not heed
    for (int id = 1; id <= 3; ++id) {                                // one runs, two wait in the pool
        of.send(link, call_text(id));
    }
    const auto before = link.messages.size();
    for (int id = 4; id <= 100; ++id) {
        of.send(link, call_text(id));
    }
    BOOST_REQUIRE(link.messages.size() == before + 97);
    BOOST_TEST(link.messages.back().at("error").at("type") == "skep.Failure");
    BOOST_TEST(link.messages.back().at("error").at("code") == "pool_saturated");
    BOOST_TEST(of.runs == 1);
    of.send(link, call_text(1));
    check_closed(link, "call 1 after call 100");
    of.time.advance(100ms);
    BOOST_TEST(of.running == 0);
}

BOOST_DATA_TEST_CASE(
    what_a_client_may_not_send_ends_the_link,
    data::make<std::string>({"GET / HTTP/1.1\r\n\r\n",
                             std::string(8, '\0'),
                             std::string("\0\0\0\1\0\0\0\0", 8),
                             std::string("\0\0\0\4\0\0\0\1", 8),
                             raw_half_frame((1u << 20) + 8193, 8),
                             raw_frame(""),
                             raw_frame("[]"),
                             raw_frame("{}"),
                             raw_frame("\xff"),
                             raw_frame(R"({"type":1})"),
                             raw_frame(R"({"type":"result","id":1,"value":1})"),
                             raw_frame(R"({"type":"hello"})"),
                             raw_frame(R"({"type":"cancel"})"),
                             raw_frame(R"({"type":"cancel","id":-1})"),
                             raw_frame(call_text(1, "wait", "[]")),
                             raw_frame(call_text(1, "wait", "1e999")),
                             raw_frame(call_text(1, "wait", R"({"a":[[[[[[[[[[]]]]]]]]]]})")),
                             raw_frame(call_text(1, "wait", "{}", R"(,"batch":[1,2])")),
                             raw_frame(call_text(1, "wait", "{}", R"(,"attachments":[5])"), "abc"),
                             raw_frame(call_text(1, "wait", "{}"), "abc"),
                             raw_frame(call_text(1, "wait", "{}", R"(,"node":{"affinity":9})"))}),
    bytes) {
    attacked_node of;
    auto& link = of.open_and_welcome();
    of.attacker->send(link, bytes);
    BOOST_REQUIRE(link.end.has_value());
    BOOST_TEST((link.end->cause == link_end_cause::peer_closed));
    BOOST_TEST(!link.end->detail.empty());
    BOOST_TEST(of.runs == 0);
}

BOOST_AUTO_TEST_CASE(json_beyond_the_memory_ends_the_link) {
    auto setup = small_limits();
    setup.limits.tree_bytes = 64u << 10;
    attacked_node of(std::move(setup));
    auto& link = of.open_and_welcome();
    std::string zeros = "0";
    for (int i = 0; i < 10'000; ++i) {
        zeros += ",0";
    }
    of.send(link, call_text(1, "wait", R"({"a":[)" + zeros + "]}"));
    BOOST_REQUIRE(link.end.has_value());
    BOOST_TEST(of.runs == 0);
}

/// The call fails, and the link goes on.
BOOST_DATA_TEST_CASE(calls_that_the_pool_refuses_fail,
                     data::make<std::string>({call_text(1, ""), call_text(1, std::string(300, 'c')),
                                              call_text(1, "no such command"),
                                              call_text(1, "wait", "{}",
                                                        R"(,"session":")" + std::string(300, 's') + "\""),
                                              call_text(1, "wait", "{}", R"(,"node":{"tools":[""]})"),
                                              call_text(1, "wait", "{}", R"(,"node":{"affinity":1})"),
                                              call_text(1, "wait", "{}", R"(,"deadline_ms":0)")}),
                     call) {
    attacked_node of;
    auto& link = of.open_and_welcome();
    of.send(link, call);
    of.time.advance(1s);
    BOOST_TEST(!link.end.has_value());
    of.send(link, call_text(2, "double", R"({"n":4})"));
    of.time.advance(100ms);
    BOOST_REQUIRE(!link.messages.empty());
    BOOST_TEST(link.messages.back().at("type") == "result");
    BOOST_TEST(link.messages.back().at("value") == 8);
}

BOOST_AUTO_TEST_CASE(numbers_of_any_size_are_taken) {
    attacked_node of;
    auto& link = of.open_and_welcome();
    const std::string most = "9223372036854775807";
    of.send(link, call_text(1, "double", R"({"n":4})",
                            R"(,"deadline_ms":)" + most + R"(,"sent_ms":)" + most +
                                R"(,"node":{"queue_timeout_ms":18446744073709551615})"));
    of.time.advance(1s);
    BOOST_REQUIRE(!link.messages.empty());
    BOOST_TEST(link.messages.back().at("type") == "result");
    of.send(link, call_text(~std::uint64_t(0), "double", R"({"n":4})"));
    of.time.advance(1s);
    BOOST_TEST(!link.end.has_value());
}

BOOST_AUTO_TEST_CASE(credit_may_be_given_without_end) {
    attacked_node of;
    auto& link = of.open_and_welcome();
    of.send(link, call_text(1, "stream", "{}", R"(,"stream":{"chunks":1,"bytes":1000})"));
    std::string bytes;
    for (int i = 0; i < 5; ++i) {
        bytes += raw_frame(
            R"({"type":"credit","id":1,"credit":{"chunks":18446744073709551615,"bytes":18446744073709551615}})");
    }
    of.attacker->send(link, bytes);
    of.time.advance(1s);
    BOOST_REQUIRE(link.messages.size() >= 101u);
    BOOST_TEST(link.messages.back().at("type") == "result");
}

BOOST_AUTO_TEST_CASE(messages_about_unknown_calls_have_no_effect) {
    attacked_node of;
    auto& link = of.open_and_welcome();
    for (const std::string id : {"0", "1", "77", "18446744073709551615"}) {
        of.send(link, R"({"type":"cancel","id":)" + id + "}");
        of.send(link, R"({"type":"recall","id":)" + id + "}");
        of.send(link, R"({"type":"credit","id":)" + id + R"(,"credit":{"chunks":1,"bytes":1}})");
        of.send(link, R"({"type":"tool_result","tool_call":)" + id + R"(,"value":1})");
        of.send(link,
                R"({"type":"tool_error","tool_call":)" + id + R"(,"error":{"type":"T","message":"m"}})");
    }
    of.send(link, call_text(77, "double", R"({"n":4})"));
    of.time.advance(100ms);
    BOOST_REQUIRE(!link.messages.empty());
    BOOST_TEST(link.messages.back().at("type") == "result");
    for (int i = 0; i < 100; ++i) {
        of.attacker->post(link, raw_frame(R"({"type":"cancel","id":77})"));
        of.attacker->post(link, raw_frame(R"({"type":"cancel","id":50})"));
    }
    of.send(link, call_text(78, "double", R"({"n":5})"));
    of.time.advance(100ms);
    BOOST_TEST(link.messages.back().at("value") == 10);
}

BOOST_AUTO_TEST_CASE(a_client_asks_for_the_least_of_everything) {
    attacked_node of;
    auto& link = of.open();
    of.send(link, R"({"type":"welcome","limits":{"frame_bytes":0,"json_bytes":0,"json_depth":0,"tree_bytes":0,
        "attachments":0,"tool_calls":0,"message_bytes":0,"tool_call_bytes":0}})");
    of.send(link, call_text(1, "double", R"({"n":4})"));
    of.send(link, call_text(2, "no such command"));
    of.time.advance(100ms);
    BOOST_TEST(!link.end.has_value());
    BOOST_REQUIRE(link.messages.size() >= 2u);
    BOOST_TEST(link.messages.back().at("type") == "error");
}

BOOST_AUTO_TEST_CASE(the_largest_call_of_a_client_with_the_same_limits_is_no_violation) {
    attacked_node of;
    auto config = quiet(1);
    config.limits = of.setup.limits;
    pool other = make_node_pool(make_local_context(of.context.get_executor()), config_of_nodes(config), {},
                                of.bus.connect());
    of.time.run(other.start());
    for (int i = 0; i < 64; ++i) {
        auto name = std::to_string(i);
        name.insert(0, 64 - name.size(), 't');
        other.register_tool(name, [](tool_call) -> asio::awaitable<tool_reply> { co_return tool_reply(); });
    }
    std::optional<reply> answer;
    for (auto size = of.setup.limits.json_bytes; !answer && size > 0; --size) {
        try {
            const auto call = request("double").arg("n", 21).arg("text", std::string(size, 'x'));
            answer = of.time.run(other.execute(call));
        } catch (const error& failure) {
            BOOST_REQUIRE_MESSAGE(failure.kind() == errc::frame_too_large, failure.what());
        }
    }
    BOOST_TEST((answer && answer->as<int>() == 42));
    of.time.run(other.shutdown());
}

// Memory and time

BOOST_AUTO_TEST_CASE(the_largest_link_ends_when_there_is_too_much_to_keep) {
    auto setup = small_limits();
    setup.memory = 1'000'000;
    attacked_node of(std::move(setup));
    auto& small = of.open_and_welcome();
    auto& large = of.open_and_welcome();
    auto& medium = of.open_and_welcome();
    of.attacker->send(small, raw_half_frame(1'000'000, 200'000));
    of.attacker->send(large, raw_half_frame(1'000'000, 450'000));
    of.attacker->send(medium, raw_half_frame(1'000'000, 300'000));
    of.time.advance(3s);
    BOOST_TEST(of.agent->links() == 4u); // not yet too much
    of.attacker->send(small, std::string(100'000, 'x'));
    of.time.advance(3s);
    check_closed(large, "the node has no memory for its bytes");
    BOOST_TEST(!small.end.has_value());
    BOOST_TEST(!medium.end.has_value());
}

BOOST_AUTO_TEST_CASE(a_silent_client_is_given_up_with_its_calls) {
    attacked_node of;
    auto& link = of.open_and_welcome();
    of.send(link, call_text(1));
    of.send(link, call_text(2));
    BOOST_TEST(of.running == 1);
    of.bus.cut(2, true); // the attacker
    of.time.advance(5s);
    BOOST_TEST(of.running == 1);
    of.time.advance(25s);
    BOOST_TEST(of.running == 0);
    BOOST_TEST(of.runs == 1);
    BOOST_TEST(of.agent->links() == 1u);
    of.bus.cut(2, false);
    of.time.advance(1s);
    BOOST_TEST(link.end.has_value());
}

BOOST_AUTO_TEST_CASE(a_client_that_is_gone_is_given_up_with_its_calls) {
    attacked_node of;
    auto& link = of.open_and_welcome();
    of.send(link, call_text(1));
    BOOST_TEST(of.running == 1);
    of.attacker.reset();
    of.time.advance(20s);
    BOOST_TEST(of.running == 0);
    BOOST_TEST(of.agent->links() == 1u);
}

BOOST_AUTO_TEST_CASE(a_link_that_is_closed_at_once_leaves_nothing) {
    attacked_node of;
    for (int i = 0; i < 50; ++i) {
        auto& link = of.open();
        of.attacker->post(link, raw_frame(good_welcome));
        of.attacker->post(link, raw_frame(call_text(1)));
        of.attacker->send(link, "no frame, and none of a length that is allowed");
    }
    BOOST_TEST(of.agent->links() == 1u);
    of.time.advance(100ms);
    BOOST_TEST(of.running == 0);
}

// The end

BOOST_AUTO_TEST_CASE(a_client_that_shuts_down_leaves_no_link) {
    attacked_node of;
    for (int i = 0; i < 3; ++i) {
        pool other = make_node_pool(make_local_context(of.context.get_executor()), config_of_nodes(quiet(1)),
                                    {}, of.bus.connect());
        of.time.run(other.start());
        of.time.run(other.execute(request("double").arg("n", 1)));
        BOOST_TEST(of.agent->links() == 2u);
        of.time.run(other.shutdown());
        of.time.advance(100ms);
        BOOST_TEST(of.agent->links() == 1u);
    }
}

BOOST_AUTO_TEST_CASE(a_client_asks_for_the_end_while_calls_run) {
    attacked_node of;
    auto& link = of.open_and_welcome();
    of.send(link, call_text(1, "double", R"({"n":4})"));
    of.send(link, R"({"type":"shutdown","grace_ms":5000})");
    of.send(link, R"({"type":"shutdown","grace_ms":5000})");
    of.time.advance(100ms);
    check_closed(link, "drained");
    BOOST_TEST(of.agent->links() == 1u);
    auto& busy = of.open_and_welcome();
    of.send(busy, call_text(1));
    of.send(busy, R"({"type":"shutdown","grace_ms":5000})");
    of.send(busy, call_text(2));
    of.time.advance(1s);
    BOOST_TEST(!busy.end.has_value());
    BOOST_TEST(of.running == 1);
    of.send(busy, R"({"type":"cancel","id":1})");
    of.time.advance(100ms);
    check_closed(busy, "drained");
    BOOST_TEST(of.runs == 1);
}

BOOST_AUTO_TEST_CASE(a_node_has_drained_when_all_clients_have_gone) {
    attacked_node of;
    const auto before = of.time.now();
    of.run(of.agent->drain());
    BOOST_TEST((of.time.now() - before < 1s));
    BOOST_TEST(of.agent->links() == 0u);
    check_refused(of.open(), "the node drains");
    of.stop();
    of.start();
}

BOOST_AUTO_TEST_CASE(a_client_that_does_not_go_holds_up_a_drain_for_its_time) {
    auto setup = small_limits();
    setup.drain_timeout = 5s;
    attacked_node of(std::move(setup));
    auto& link = of.open_and_welcome();
    of.send(link, call_text(1));
    const auto before = of.time.now();
    of.run(of.agent->drain());
    BOOST_TEST((of.time.now() - before >= 5s));
    BOOST_TEST((of.time.now() - before < 6s));
    BOOST_TEST(of.running == 1);
    of.stop();
    of.time.advance(100ms);
    BOOST_TEST(of.running == 0);
    check_closed(link, "the node stops");
    of.start();
}

BOOST_AUTO_TEST_CASE(a_stop_that_is_cancelled_is_finished_by_the_next_one) {
    attacked_node of;
    auto& link = of.open_and_welcome();
    of.bus.set_closing_time(1s);
    asio::cancellation_signal no_more;
    std::exception_ptr outcome;
    asio::co_spawn(
        of.agent->executor(), of.agent->stop(),
        asio::bind_cancellation_slot(no_more.slot(), [&](std::exception_ptr end) { outcome = end; }));
    of.time.advance(100ms);
    BOOST_TEST((outcome == nullptr)); // the connection is being closed
    no_more.emit(asio::cancellation_type::terminal);
    of.time.advance(10ms);
    BOOST_TEST((outcome != nullptr));
    of.bus.set_closing_time(0s);
    of.stop();
    check_closed(link, "the node stops");
    of.start();
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
