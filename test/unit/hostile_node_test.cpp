// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "remote/node_core.hpp"
#include "remote/node_pool.hpp"
#include "support/raw_program.hpp"
#include "wire/node_beacon.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>

/// A client of a node that does what it should not.

namespace skep::test {

namespace data = boost::unit_test::data;
namespace json = boost::json;
using namespace std::chrono_literals;
using testing::fake_pool;
using testing::virtual_time;
using raw_link = raw_program::raw_link;

BOOST_AUTO_TEST_SUITE(hostile_node_test)

namespace {

std::string hello_with(const std::string& slots) {
    return raw_frame(R"({"type":"hello","protocol":1,"token":"","pid":0,"sdk":"evil","capacity":)" + slots +
                     R"(,"slots":)" + slots + R"(,"commands":[]})");
}

std::string beacon_text(const std::string& name, const std::string& epoch = "e", std::uint32_t places = 1) {
    node_beacon beacon;
    beacon.node = name;
    beacon.epoch = epoch;
    beacon.interval = 1s;
    beacon.pools.emplace("default", load_view{0, 0, places, true});
    return encode_beacon(beacon);
}

std::string text_of_id(const json::object& message) {
    return std::to_string(message.at("id").to_number<std::uint64_t>());
}

std::string failure_text(const std::string& id, const std::string& code, const std::string& facts) {
    return R"({"type":"error","id":)" + id + R"(,"error":{"type":"skep.Failure","message":"m","code":")" +
           code + R"(","data":)" + facts + "}}";
}

pool_config without_log() {
    pool_config config;
    config.workers = 1;
    config.log_level = log_level::off;
    return config;
}

/// A client, a node that misbehaves, and one that behaves well once it has joined.
struct beset_client {
    beset_client() : workers(context.get_executor(), without_log()) {
        workers.on("double", [](worker_call& call) { return 2 * call.arg<int>("n"); });
        time.run(workers.pool().start());
        client.emplace(make_node_pool(make_local_context(context.get_executor()),
                                      config_of_nodes(without_log()), {}, bus.connect()));
        time.run(client->start());
        evil.emplace(context, time, bus);
    }
    ~beset_client() {
        if (!agent) {
            join();
        }
        evil.reset();
        time.advance(15s);
        check_service();
        time.run(client->shutdown());
        client.reset();
        time.run(asio::co_spawn(agent->executor(), agent->stop(), asio::use_awaitable));
        BOOST_TEST(agent->links() == 0u);
        agent.reset();
        time.run(workers.pool().shutdown());
        time.run_until_idle();
        BOOST_TEST(bus.connections() == 0u);
    }

    /// The good node joins.
    void join() {
        node_setup setup;
        setup.name = "good";
        setup.pools.emplace("default", served_pool(workers.pool(), [] { return load_view{0, 0, 1, true}; }));
        agent = std::make_shared<node_core>(make_local_context(context.get_executor()), std::move(setup),
                                            bus.connect());
        asio::post(agent->executor(), [agent = agent] { agent->start(); });
        time.advance(100ms);
    }

    void check_service() { check_double(time, *client); }

    void announce(const std::string& beacon) { evil->carrier().publish("skep.default.load", {}, {}, beacon); }

    /// The evil node serves, and has a link of the client soon.
    void serve(std::function<void(raw_link&)> greet,
               std::function<void(raw_link&, const json::object&)> answer = {}) {
        evil->serve("evil", std::move(greet), std::move(answer));
        announce(beacon_text("evil"));
        time.advance(100ms);
    }

    /// Greets as a good node does, and answers each call so.
    void serve_answers(std::function<std::string(const json::object& call)> answer) {
        const auto greet = [this](raw_link& link) {
            evil->post(link, hello_with("4"));
            evil->post(link, raw_frame(R"({"type":"ready"})"));
        };
        serve(greet, [this, answer = std::move(answer)](raw_link& link, const json::object& message) {
            if (message.at("type") == "call") {
                evil->post(link, answer(message));
            }
        });
    }

    /// Returns the failure of a call to the evil node.
    error failure_of_call(request call = request("double").arg("n", 1)) {
        try {
            time.run(client->execute(std::move(call.timeout(10s))));
        } catch (const error& failure) {
            return failure;
        }
        BOOST_ERROR("the call has succeeded");
        return {};
    }

    asio::io_context context;
    virtual_time time{context};
    local_bus bus;
    fake_pool workers;
    std::shared_ptr<node_core> agent;
    std::optional<pool> client;
    std::optional<raw_program> evil;
};

} // namespace

// Beacons

BOOST_AUTO_TEST_CASE(other_texts_than_beacons_are_ignored) {
    beset_client of;
    of.join();
    for (const std::string text :
         {"", "x", "{}", "[]", R"({"v":1,"node":"good","epoch":"e","interval_ms":1000,"pools":[]})",
          R"({"v":1,"node":"good","epoch":"e","interval_ms":1000,"pools":{"default":7}})",
          R"({"v":1,"node":"good","epoch":"e","interval_ms":1000,"draining":7})",
          R"({"v":1,"node":7,"epoch":"e","interval_ms":1000})", "\xff\xfe"}) {
        of.announce(text);
        of.evil->carrier().publish("skep.default.load", "_INBOX.raw.1", text, text);
    }
    of.announce(std::string(100'000, '['));
    of.time.advance(100ms);
    of.check_service();
}

BOOST_AUTO_TEST_CASE(a_new_epoch_each_time_ends_links_and_the_client_goes_on) {
    beset_client of;
    of.join();
    of.check_service();
    for (int i = 0; i < 1000; ++i) {
        of.announce(beacon_text("good", "epoch-" + std::to_string(i)));
        of.announce(beacon_text("evil", "epoch-" + std::to_string(i)));
    }
    of.time.advance(1s);
    for (int i = 0; i < 20; ++i) {
        of.announce(beacon_text("good", "later-" + std::to_string(i)));
        of.announce(beacon_text("evil", "later-" + std::to_string(i)));
        of.time.advance(100ms);
    }
    of.time.advance(3s);
    of.check_service();
}

BOOST_AUTO_TEST_CASE(a_client_outlives_a_flood_of_names) {
    beset_client of;
    of.join();
    of.check_service();
    for (int i = 0; i < 2000; ++i) {
        of.announce(beacon_text("fake-" + std::to_string(i)));
    }
    of.time.advance(100ms);
    of.check_service();
}

// Links

BOOST_DATA_TEST_CASE(
    bytes_that_are_no_hello_end_the_link,
    data::make<std::string>({"garbage of a length that is not allowed", std::string(8, '\0'), raw_frame(""),
                             raw_frame("[]"), raw_frame("{}"), raw_frame(R"({"type":"ready"})"),
                             raw_frame(R"({"type":"result","id":1,"value":1})"),
                             raw_frame(R"({"type":"call","id":1})"), hello_with("0"), hello_with("-1"),
                             hello_with("null"), hello_with("\"x\""), hello_with("18446744073709551616"),
                             hello_with("1") + hello_with("1")}),
    bytes) {
    beset_client of;
    int links = 0;
    of.serve([&](raw_link& link) {
        ++links;
        of.evil->post(link, bytes);
    });
    of.time.advance(1s);
    BOOST_TEST(links >= 1);
    of.join();
    of.time.advance(1s);
    of.check_service();
}

BOOST_DATA_TEST_CASE(a_node_may_have_any_number_of_slots,
                     data::make<std::string>({"65535", "65536", "65537", "4294967296", "9223372036854775807",
                                              "18446744073709551615"}),
                     slots) {
    beset_client of;
    int calls = 0;
    of.serve(
        [&](raw_link& link) {
            of.evil->post(link, hello_with(slots));
            of.evil->post(link, raw_frame(R"({"type":"ready"})"));
        },
        [&](raw_link&, const json::object& message) { calls += message.at("type") == "call"; });
    for (int i = 0; i < 500; ++i) {
        asio::co_spawn(of.context, of.client->execute(request("double").arg("n", i).timeout(20s)),
                       [](const std::exception_ptr&, const reply&) {});
    }
    of.time.advance(100ms);
    BOOST_TEST(calls <= 500);
    of.time.advance(25s);
}

BOOST_DATA_TEST_CASE(a_node_that_breaks_the_protocol_loses_its_calls_and_its_link,
                     data::make<std::string>({"garbage of a length that is not allowed", raw_frame("[]"),
                                              raw_frame(R"({"type":"result","id":999,"value":1})"),
                                              raw_frame(R"({"type":"error","id":999,"error":{"type":"T"}})"),
                                              raw_frame(R"({"type":"chunk","id":1,"value":1})"),
                                              raw_frame(R"({"type":"hello"})"),
                                              raw_frame(R"({"type":"call","id":1,"command":"x","args":{}})"),
                                              raw_frame(R"({"type":"result","id":-1,"value":1})"),
                                              raw_frame(R"({"type":"tool_call","id":999,"tool_call":1,)"
                                                        R"("name":"t","args":{}})")}),
                     bytes) {
    beset_client of;
    of.serve_answers([&](const json::object&) { return bytes; });
    const auto failure = of.failure_of_call();
    BOOST_TEST((failure.kind() == errc::node_lost), failure.what());
    BOOST_TEST(failure.info().node == "evil");
    BOOST_TEST(std::string(failure.what()).starts_with("node evil was lost while it had the call: "),
               failure.what());
}

// Facts of answers

BOOST_DATA_TEST_CASE(an_answer_with_any_facts_is_an_answer,
                     data::make<std::string>({"null", "1", "[]", R"("x")", "{}",
                                              R"({"worker":7,"attempts":"x","wait_ms":[]})",
                                              R"({"worker":"a/b#c","attempts":-1,"wait_ms":-1})",
                                              R"({"attempts":9223372036854775807,)"
                                              R"("wait_ms":9223372036854775807})",
                                              R"({"attempts":1e300,"wait_ms":18446744073709551615})"}),
                     facts) {
    beset_client of;
    of.serve_answers([&](const json::object& call) {
        return raw_frame(R"({"type":"result","id":)" + text_of_id(call) + R"(,"node":)" + facts +
                         R"(,"value":1})");
    });
    const auto answer = of.time.run(of.client->execute(request("double").arg("n", 1)));
    BOOST_TEST(answer.as<int>() == 1);
    BOOST_TEST((answer.node == "evil"));
    BOOST_TEST(answer.worker.pool == "default");
    BOOST_TEST(answer.attempts >= 1);
    BOOST_TEST((answer.queue_time >= 0s));
    BOOST_TEST((answer.run_time >= 0s));
}

BOOST_AUTO_TEST_CASE(a_node_that_loses_links_again_and_again_gets_no_calls_for_a_time) {
    beset_client of;
    int calls = 0;
    of.join();
    const auto make_calls = [&](duration span) {
        const auto calls_before = calls;
        for (duration made{}; made < span; made += 250ms) {
            of.announce(beacon_text("evil"));
            for (int i = 0; i < 4; ++i) {
                asio::co_spawn(of.context, of.client->execute(request("double").arg("n", i).idempotent(true)),
                               [](const std::exception_ptr& failure, const reply&) { BOOST_TEST(!failure); });
            }
            of.time.advance(250ms);
        }
        return calls - calls_before;
    };
    of.serve_answers([&](const json::object&) {
        ++calls;
        return "no frame of a length that is allowed";
    });
    const auto before = make_calls(3s);
    BOOST_TEST(before >= 5);
    BOOST_TEST(make_calls(3s) == 0);
    BOOST_TEST(make_calls(4s) == 1); // the trial
    BOOST_TEST(make_calls(4s) == 0);
}

BOOST_AUTO_TEST_CASE(a_node_that_is_well_again_gets_all_calls) {
    beset_client of;
    of.join();
    bool is_well = false;
    std::size_t calls = 0;
    of.serve_answers([&](const json::object& call) {
        ++calls;
        return !is_well     ? "no frame of a length that is allowed"
               : calls == 1 ? raw_frame(R"({"type":"result","id":)" + text_of_id(call) + R"(,"value":2})")
                            : std::string(); // the others stay
    });
    for (int i = 0; i < 20; ++i) {
        of.announce(beacon_text("evil"));
        asio::co_spawn(of.context, of.client->execute(request("double").arg("n", 1).idempotent(true)),
                       [](const std::exception_ptr& failure, const reply&) { BOOST_TEST(!failure); });
        asio::co_spawn(of.context, of.client->execute(request("double").arg("n", 1).idempotent(true)),
                       [](const std::exception_ptr& failure, const reply&) { BOOST_TEST(!failure); });
        of.time.advance(250ms);
    }
    is_well = true;
    calls = 0;
    const auto make_many = [&] {
        of.announce(beacon_text("evil"));
        for (int i = 0; i < 20; ++i) {
            asio::co_spawn(of.context, of.client->execute(request("double").arg("n", 1).timeout(10s)),
                           [](const std::exception_ptr&, const reply&) {});
        }
        of.time.advance(10ms);
    };
    of.time.advance(5s);
    make_many();
    of.time.advance(1s);
    make_many();
    BOOST_TEST(calls == 5u); // one, and after its answer four, as it has four slots
}

// Failures

BOOST_DATA_TEST_CASE(failures_with_codes_that_do_not_exist_are_errors_of_the_worker,
                     data::make<std::string>({"no such code", "success", "WORKER_LOST", "0", "13"}), code) {
    beset_client of;
    of.serve_answers([&](const json::object& call) {
        return raw_frame(failure_text(text_of_id(call), code, R"({"detail":"d"})"));
    });
    const auto failure = of.failure_of_call();
    BOOST_TEST((failure.kind() == errc::remote_error));
    BOOST_TEST(failure.info().remote_type == "skep.Failure");
    BOOST_TEST(failure.info().remote_code == code);
    BOOST_TEST(failure.info().remote_message == "m");
    BOOST_TEST(failure.info().node == "evil");
    BOOST_TEST(!is_callers_fault(failure));
}

BOOST_DATA_TEST_CASE(
    failures_with_any_facts_end_the_call,
    data::make<std::string>({"null", "1", "[]", R"("x")", "{}", R"({"detail":7,"pid":"x"})",
                             R"({"pid":-1,"status":{"signal":-5},"wait_ms":-9})",
                             R"({"wait_ms":9223372036854775807,"queue_depth":1e18,"pid":1e300})",
                             R"({"status":[],"worker":"a/b/c#d","exit_kind":"x"})",
                             R"({"wait_ms":18446744073709551615,"oldest_run_ms":1e308})"}),
    facts) {
    beset_client of;
    of.serve_answers([&](const json::object& call) {
        return raw_frame(failure_text(text_of_id(call), "queue_timeout", facts));
    });
    const auto failure = of.failure_of_call();
    BOOST_TEST((failure.kind() == errc::queue_timeout));
    BOOST_TEST(!std::string(failure.what()).empty());
}

BOOST_AUTO_TEST_CASE(every_code_ends_the_call) {
    beset_client of;
    std::string code;
    int calls = 0;
    of.serve_answers([&](const json::object& call) {
        ++calls;
        return raw_frame(failure_text(text_of_id(call), code, "{}"));
    });
    for (int number = 1; number <= static_cast<int>(errc::node_lost); ++number) {
        code = to_string(static_cast<errc>(number));
        calls = 0;
        const auto failure = of.failure_of_call();
        BOOST_TEST((failure.kind() == static_cast<errc>(number)), code << ": " << failure.what());
        BOOST_TEST(calls <= 3, code);
    }
}

BOOST_AUTO_TEST_CASE(a_call_that_may_be_repeated_is_not_repeated_without_end) {
    beset_client of;
    int calls = 0;
    std::string code = "worker_lost";
    of.serve_answers([&](const json::object& call) {
        ++calls;
        return raw_frame(failure_text(text_of_id(call), code, "{}"));
    });
    of.failure_of_call(request("double").arg("n", 1).idempotent(true));
    BOOST_TEST(calls <= 10);
}

BOOST_AUTO_TEST_CASE(answers_to_one_call_many_times_end_the_link) {
    beset_client of;
    of.serve_answers([](const json::object& call) {
        const auto answer = raw_frame(R"({"type":"result","id":)" + text_of_id(call) + R"(,"value":1})");
        return answer + answer + answer;
    });
    const auto answer = of.time.run(of.client->execute(request("double").arg("n", 1)));
    BOOST_TEST(answer.as<int>() == 1);
    of.time.advance(100ms);
    BOOST_REQUIRE(!of.evil->links().empty());
    BOOST_TEST(of.evil->links().begin()->second.end.has_value());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
