// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "remote/node_core.hpp"
#include "remote/node_pool.hpp"
#include "support/raw_program.hpp"
#include "support/text.hpp"
#include "wire/link_head.hpp"
#include "wire/node_request.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// A node whose clients do what they should not.

namespace skep::test {

namespace data = boost::unit_test::data;
using namespace std::chrono_literals;
using testing::fake_pool;
using testing::sleep_for;
using testing::virtual_time;
using raw_link = raw_program::raw_link;

BOOST_AUTO_TEST_SUITE(node_core_test)

namespace {

const std::string good_wish = R"({"v":1,"pool":"default","client":"raw"})";
const std::string cancel_of_first = R"({"type":"cancel","id":1})";
const std::string good_welcome = R"({"type":"welcome","limits":{}})";

std::string call_text(std::uint64_t id, const std::string& command = "wait", const std::string& args = "{}",
                      const std::string& more = {}) {
    return R"({"type":"call","id":)" + std::to_string(id) + R"(,"command":")" + command + R"(","args":)" +
           args + more + "}";
}

pool_config quiet(std::size_t workers) {
    pool_config config;
    config.workers = workers;
    config.log_level = log_level::off;
    return config;
}

node_setup small_limits() {
    node_setup setup;
    setup.limits.frame_bytes = setup.limits.json_bytes = 1u << 20;
    setup.limits.json_depth = 10;
    setup.records.log_level = log_level::off;
    return setup;
}

/// A node with a pool of one worker, a client that behaves well, and one that does not. At the end, nothing
/// is left of the calls and links.
struct attacked_node {
    explicit attacked_node(node_setup facts = small_limits())
        : workers(context.get_executor(), quiet(1)), setup(std::move(facts)) {
        workers.on("double", [](worker_call& call) { return 2 * call.arg<int>("n"); });
        workers.on("wait", [this](worker_call& call) { return wait(call); });
        workers.on("stream", [](worker_call& call) { return send_chunks(call); });
        time.run(workers.pool().start());
        setup.name = "node";
        setup.pools.emplace("default", served_pool(workers.pool(), [] { return load_view{0, 0, 1, true}; }));
        start();
        client.emplace(make_node_pool(make_local_context(context.get_executor()), config_of_nodes(quiet(1)),
                                      {}, bus.connect()));
        time.run(client->start());
        attacker.emplace(context, time, bus);
        check_service();
    }
    ~attacked_node() {
        check_service();
        time.run(client->shutdown());
        client.reset();
        attacker.reset();
        time.advance(10s);
        BOOST_TEST(agent->links() == 0u);
        stop();
        BOOST_TEST(running == 0);
        time.run(workers.pool().shutdown());
        time.run_until_idle();
        BOOST_TEST(bus.connections() == 0u);
    }

    /// The node serves other clients as before.
    void check_service() {
        try {
            const auto answer = time.run(client->execute(request("double").arg("n", 21).timeout(30s)));
            BOOST_TEST(answer.as<int>() == 42);
        } catch (const error& failure) {
            BOOST_ERROR(failure.what());
        }
    }
    void start() {
        agent = std::make_shared<node_core>(make_local_context(context.get_executor()), setup, bus.connect());
        asio::post(agent->executor(), [agent = agent] { agent->start(); });
    }
    void run(asio::awaitable<void> operation) {
        time.run(asio::co_spawn(agent->executor(), std::move(operation), asio::use_awaitable));
    }
    void stop() {
        run(agent->stop());
        agent.reset();
    }

    raw_link& open(const std::string& wish = good_wish) { return attacker->open("node", wish); }
    raw_link& open_and_welcome() {
        auto& link = open();
        BOOST_TEST(link.is_accepted);
        attacker->send(link, raw_frame(good_welcome));
        return link;
    }
    void send(raw_link& link, const std::string& json) { attacker->send(link, raw_frame(json)); }

    asio::awaitable<int> wait(worker_call&) {
        struct counted {
            int& count;
            ~counted() { --count; }
        };
        ++runs;
        const counted one{++running};
        co_await sleep_for(1h);
        co_return 1;
    }
    static asio::awaitable<int> send_chunks(worker_call& call) {
        for (int i = 0; i < 100; ++i) {
            co_await call.send(i);
        }
        co_return 1;
    }

    asio::io_context context;
    virtual_time time{context};
    local_bus bus;
    fake_pool workers;
    node_setup setup;
    std::shared_ptr<node_core> agent;
    std::optional<pool> client;
    std::optional<raw_program> attacker;
    int running = 0; ///< calls of "wait"
    int runs = 0;
};

void check_closed(const raw_link& link, const std::string& reason) {
    BOOST_REQUIRE(link.end.has_value());
    BOOST_TEST((link.end->cause == link_end_cause::peer_closed));
    BOOST_TEST(link.end->detail == reason);
}

void check_refused(const raw_link& link, const std::string& reason) {
    BOOST_REQUIRE(link.end.has_value());
    BOOST_TEST((link.end->cause == link_end_cause::refused));
    BOOST_TEST(link.end->detail == reason);
}

/// An operator of the node.
struct node_operator {
    explicit node_operator(attacked_node& node) : of(node), program(node.context, node.time, node.bus) {
        program.listen(inbox);
    }

    /// Sends a request, and returns the text of the answer; empty without one.
    std::string ask(const std::string& action, const std::string& reply = inbox) {
        return send(R"({"v":1,"do":")" + action + "\"}", reply);
    }
    std::string send(const std::string& message, const std::string& reply = inbox) {
        const auto before = program.heard().size();
        program.carrier().publish("skep.default.admin.node", reply, {}, message);
        of.time.advance(50ms);
        return program.heard().size() == before ? std::string() : program.heard().back().body;
    }

    static constexpr auto inbox = "_INBOX.boss.1";
    attacked_node& of;
    raw_program program;
};

std::string done(const std::string& text) {
    return R"({"v":1,"ok":true,"text":")" + text + "\"}";
}

std::string refused(const std::string& text) {
    return R"({"v":1,"ok":false,"text":")" + text + "\"}";
}

} // namespace

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

// Operators

BOOST_AUTO_TEST_CASE(an_operator_drains_a_node_and_has_it_serve_again) {
    attacked_node of;
    node_operator boss(of);
    auto& link = of.open_and_welcome();
    of.send(link, call_text(1));
    BOOST_TEST(boss.ask("undrain") == done("the node does not drain"));
    BOOST_TEST(boss.ask("drain") == done("the node drains"));
    BOOST_TEST(boss.ask("drain") == done("the node drains already"));
    check_refused(of.open(), "the node drains");
    of.time.advance(1min); // longer than the drain timeout
    BOOST_TEST(of.running == 1);
    BOOST_TEST(of.agent->links() == 1u); // the other client has gone
    BOOST_TEST(of.agent->status().is_draining);
    BOOST_TEST(boss.ask("undrain") == done("the node serves again"));
    BOOST_TEST(!of.agent->status().is_draining);
    BOOST_TEST(of.open().is_accepted);
    BOOST_TEST(of.running == 1);
    of.send(link, cancel_of_first);
    of.check_service();
}

BOOST_AUTO_TEST_CASE(a_drain_outlives_the_connection) {
    attacked_node of;
    node_operator boss(of);
    boss.ask("drain");
    of.bus.set_up(false);
    of.time.advance(1s);
    of.bus.set_up(true);
    of.time.advance(10s);
    BOOST_TEST(of.agent->links() == 0u);
    BOOST_TEST(boss.ask("drain") == done("the node drains already"));
    boss.ask("undrain");
}

BOOST_AUTO_TEST_CASE(an_operator_does_not_end_the_drain_of_the_program) {
    attacked_node of;
    node_operator boss(of);
    of.run(of.agent->drain());
    BOOST_TEST(boss.ask("drain") == done("the node drains already"));
    BOOST_TEST(boss.ask("undrain") == refused("the node is drained by its program"));
    check_refused(of.open(), "the node drains");
    of.agent->undrain();
    BOOST_TEST(of.open().is_accepted);
}

BOOST_AUTO_TEST_CASE(a_drain_that_is_ended_is_waited_for_no_longer) {
    attacked_node of;
    auto& link = of.open_and_welcome();
    of.send(link, call_text(1));
    const auto before = of.time.now();
    asio::post(of.agent->executor(), [&] {
        asio::co_spawn(of.agent->executor(), sleep_for(2s),
                       [&](const std::exception_ptr&) { of.agent->undrain(); });
    });
    of.run(of.agent->drain());
    BOOST_TEST((of.time.now() - before >= 2s));
    BOOST_TEST((of.time.now() - before < 3s));
    BOOST_TEST(of.running == 1);
    of.send(link, cancel_of_first);
}

BOOST_AUTO_TEST_CASE(requests_of_operators_without_a_sense_are_ignored) {
    attacked_node of;
    node_operator boss(of);
    for (const std::string message : {"", "drain", "{}", R"({"v":2,"do":"drain"})", R"({"v":1,"do":7})"}) {
        BOOST_TEST(boss.send(message) == "");
    }
    BOOST_TEST(boss.ask("drain", "") == "");
    boss.program.listen("skep.default.load.x");
    BOOST_TEST(boss.ask("drain", "skep.default.load.x") == "");
    BOOST_TEST(!of.agent->status().is_draining);
    BOOST_TEST(boss.ask("da\\u0007nce") == refused("the node cannot da\\\\x07nce"));
}

BOOST_AUTO_TEST_CASE(an_operator_asks_ten_times_a_second_at_most) {
    attacked_node of;
    node_operator boss(of);
    for (int i = 0; i < 1000; ++i) {
        boss.program.carrier().publish("skep.default.admin.node", boss.inbox, {},
                                       R"({"v":1,"do":"undrain"})");
    }
    of.time.run_until_idle();
    BOOST_TEST(boss.program.heard().size() == 10u);
    BOOST_TEST(boss.ask("drain") == "");
    of.time.advance(1s);
    BOOST_TEST(boss.ask("undrain") == done("the node does not drain"));
}

BOOST_AUTO_TEST_CASE(an_operator_has_the_workers_replaced) {
    int restarts = 0;
    attacked_node of;
    of.stop();
    of.setup.pools.clear();
    const auto load = [] { return load_view{0, 0, 1, true}; };
    const auto restart = [&restarts]() -> asio::awaitable<void> {
        ++restarts;
        co_await sleep_for(10s);
        if (restarts == 2) {
            throw error(errc::restart_failed, {});
        }
    };
    of.setup.pools.emplace("default", served_pool(of.workers.pool(), load, 2, restart));
    of.start();
    node_operator boss(of);
    BOOST_TEST(boss.ask("restart") == "");
    BOOST_TEST(boss.ask("restart") == done("the workers are being replaced already"));
    of.check_service();
    of.time.advance(10s);
    BOOST_TEST(boss.program.heard().back().body == done("the workers are replaced"));
    BOOST_TEST(restarts == 1);
    boss.ask("restart");
    of.time.advance(10s);
    const auto answer = decode_action_outcome(boss.program.heard().back().body);
    BOOST_TEST_REQUIRE(answer.has_value());
    BOOST_TEST(!answer->is_done);
    BOOST_TEST(contains(answer->text, "pool default: "));
    boss.ask("restart");
    of.stop(); // while the workers are being replaced
    BOOST_TEST(restarts == 3);
    of.start();
}

BOOST_AUTO_TEST_CASE(requests_of_operators_are_recorded) {
    auto setup = small_limits();
    std::vector<std::string> lines;
    setup.records.log_level = log_level::warning;
    setup.records.log_handler = [&](const log_record& record) { lines.push_back(record.text); };
    attacked_node of(std::move(setup));
    of.stop();
    lines.clear();
    auto around = make_local_context(of.context.get_executor());
    around.events = std::make_shared<event_bus>();
    auto heard = around.events->subscribe<events::node_admin>();
    of.agent = std::make_shared<node_core>(around, of.setup, of.bus.connect());
    asio::post(of.agent->executor(), [agent = of.agent] { agent->start(); });
    node_operator boss(of);
    boss.ask("drain");
    boss.ask("undrain");
    BOOST_TEST_REQUIRE(lines.size() == 2u);
    BOOST_TEST(lines[0] == "_INBOX.boss asked for: drain; the node drains");
    const auto first = of.time.run(heard.next());
    BOOST_TEST_REQUIRE(first.has_value());
    BOOST_TEST((first->node == "node" && first->action == "drain" && first->asker == "_INBOX.boss"));
    BOOST_TEST(first->is_done);
    BOOST_TEST(first->outcome == "the node drains");
}

BOOST_AUTO_TEST_CASE(a_node_may_stop_at_any_moment_of_the_end_of_a_link) {
    attacked_node of;
    for (int steps = 0; steps < 40; ++steps) {
        auto& link = of.open_and_welcome();
        of.send(link, call_text(1));
        BOOST_TEST(of.running == 1);
        of.attacker->post(link, raw_frame(good_welcome));
        of.context.restart();
        for (int i = 0; i < steps; ++i) {
            of.context.poll_one();
        }
        of.stop();
        of.time.advance(100ms);
        BOOST_TEST(of.running == 0);
        of.start();
        of.check_service();
    }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
