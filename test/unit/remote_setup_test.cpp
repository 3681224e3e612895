// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/remote_fields.hpp"
#include "remote/node_core.hpp"
#include "remote/node_pool.hpp"
#include "support/config_fields.hpp"
#include "support/local_bus.hpp"
#include "support/raw_program.hpp"
#include "support/text.hpp"
#include "wire/link_head.hpp"
#include <skep/testing.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Each option of a client and of a node arrives where it is used.

namespace skep::test {

using namespace std::chrono_literals;
using testing::fake_pool;
using testing::sleep_for;
using testing::virtual_time;

BOOST_AUTO_TEST_SUITE(remote_setup_test)

namespace {

/// A connection of a program, as a test sees it.
struct watched_program {
    std::vector<std::uint32_t> windows; ///< in the messages of links
    std::size_t beacons = 0;
    bus_user* user = nullptr;
};

class watched_bus final : public bus {
public:
    watched_bus(std::unique_ptr<bus> inner, watched_program& program)
        : inner_(std::move(inner)), program_(program) {}

    void publish(std::string_view subject, std::string_view reply, std::string_view head,
                 std::string_view body) override {
        const auto bytes = std::string(head) + std::string(body);
        if (const auto message = decode_link_message(bytes)) {
            program_.windows.push_back(message->window);
        }
        program_.beacons += subject == "skep.own.load" ? 1 : 0;
        inner_->publish(subject, reply, head, body);
    }
    void subscribe(std::string_view subject) override { inner_->subscribe(subject); }
    void unsubscribe(std::string_view subject) override { inner_->unsubscribe(subject); }
    bool is_up() const noexcept override { return inner_->is_up(); }
    std::size_t max_payload() const noexcept override { return inner_->max_payload(); }
    asio::awaitable<void> close() override { return inner_->close(); }

private:
    std::unique_ptr<bus> inner_;
    watched_program& program_;
};

/// Options of a client and a node that belong together, and differ from the defaults.
struct own_options {
    own_options() {
        client.domain = node.domain = "own";
        client.pool = "shop";
        client.name = "buyer";
        client.nats.inbox = node.nats.inbox = "own.inbox";
        client.link.window = 128 << 10;
        node.link.window = 256 << 10;
        node.name = "node";
        client.log_level = node.log_level = log_level::off;
    }
    remote_options client;
    node_options node;
};

/// A node with a pool of one worker, and a client, by their options.
struct own_pair {
    explicit own_pair(own_options options = {}) {
        workers.on("wait", [](worker_call& call) { return wait(call); });
        workers.on("size", [](worker_call& call) { return call.arg<std::string>("text").size(); });
        time.run(workers.pool().start());
        std::map<std::string, served_pool, std::less<>> pools;
        pools.emplace("shop", served_pool(workers.pool(), options.node.queue_per_place));
        node = make_node(context.get_executor(), options.node, std::move(pools), node_events,
                         watch(node_program));
        asio::post(node->executor(), [node = node] { node->start(); });
        client.emplace(make_node_pool(context.get_executor(), options.client, watch(client_program)));
        time.run(client->start());
        time.advance(1s);
    }
    ~own_pair() {
        time.run(client->shutdown());
        client.reset();
        run_at_node(node->stop());
        node.reset();
        time.run(workers.pool().shutdown());
        time.run_until_idle();
    }

    bus_factory watch(watched_program& program) {
        return [connect = server.connect(), &program](const strand& executor, bus_user& user) {
            program.user = &user;
            return std::make_unique<watched_bus>(connect(executor, user), program);
        };
    }
    std::size_t size(std::size_t length) {
        return time.run(client->execute(request("size").arg("text", std::string(length, 'x'))))
            .as<std::size_t>();
    }

    /// Begins calls that last for 20 s.
    void begin_calls(int count) {
        for (int i = 0; i < count; ++i) {
            asio::co_spawn(context, client->execute(request("wait").timeout(1h)),
                           [](const std::exception_ptr&, const reply&) {});
        }
        time.advance(1s);
    }
    void run_at_node(asio::awaitable<void> operation) {
        time.run(asio::co_spawn(node->executor(), std::move(operation), asio::use_awaitable));
    }
    static asio::awaitable<int> wait(worker_call&) {
        co_await sleep_for(20s);
        co_return 1;
    }
    static pool_config one_worker() {
        pool_config config;
        config.name = "shop";
        config.workers = 1;
        config.log_level = log_level::off;
        return config;
    }

    asio::io_context context;
    virtual_time time{context};
    local_bus server;
    fake_pool workers{context.get_executor(), one_worker()};
    watched_program node_program;
    watched_program client_program;
    event_bus node_events;
    std::shared_ptr<node_core> node;
    std::optional<pool> client;
};

} // namespace

BOOST_AUTO_TEST_CASE(the_pool_of_nodes_has_the_options_of_calls) {
    remote_options options;
    field_changer change(1ms);
    visit_call_fields(options, change);
    options.thread = pool_thread::caller;
    options.drain_timeout = 7s;
    options.name = "buyer";
    options.events = std::make_shared<event_bus>();
    std::string logged;
    options.log_handler = [&](const log_record& record) { logged = record.text; };

    asio::io_context context;
    local_bus server;
    const auto made = make_node_pool(context.get_executor(), options, server.connect());
    const auto& config = made.config();
    field_values wanted;
    visit_call_fields(options, wanted);
    field_values found;
    visit_call_fields(config, found);
    for (const auto& [path, value] : wanted.all) {
        BOOST_TEST(found.all.at(path) == value, path << " is " << found.all.at(path) << ", not " << value);
    }
    BOOST_TEST((config.stop.drain_timeout == 7s));
    BOOST_TEST(config.name == "buyer");
    BOOST_TEST((config.events == options.events));
    BOOST_REQUIRE(config.log_handler);
    log_record record;
    record.text = "hello";
    config.log_handler(record);
    BOOST_TEST(logged == "hello");
}

BOOST_AUTO_TEST_CASE(a_pool_of_nodes_may_have_a_thread_of_its_own) {
    remote_options options;
    options.thread = pool_thread::own;
    asio::io_context context;
    local_bus server;
    const auto made = make_node_pool(context.get_executor(), options, server.connect());
    BOOST_TEST((made.config().thread == pool_thread::own));
    BOOST_TEST(made.name() == "default"); // without a name, that of the nodes' pool
}

BOOST_AUTO_TEST_CASE(client_and_node_meet_by_domain_pool_and_inbox) {
    own_pair both;
    BOOST_TEST(both.size(5) == 5u);
    BOOST_TEST(both.node->links() == 1u);
    BOOST_TEST(both.node->status().name == "node");
    BOOST_TEST(both.client->name() == "buyer");
}

BOOST_AUTO_TEST_CASE(another_domain_pool_or_inbox_does_not_fit) {
    const auto links_after = [](auto change) {
        own_options options;
        change(options);
        own_pair both(std::move(options));
        return both.node->links();
    };
    BOOST_TEST(links_after([](own_options&) {}) == 1u);
    BOOST_TEST(links_after([](own_options& options) { options.client.domain = "default"; }) == 0u);
    BOOST_TEST(links_after([](own_options& options) { options.node.domain = "default"; }) == 0u);
    BOOST_TEST(links_after([](own_options& options) { options.client.pool = "default"; }) == 0u);
    BOOST_TEST(links_after([](own_options& options) { options.client.nats.inbox = "_INBOX"; }) == 0u);
    BOOST_TEST(links_after([](own_options& options) { options.node.nats.inbox = "_INBOX"; }) == 0u);
}

BOOST_AUTO_TEST_CASE(links_grant_the_windows_of_the_options) {
    own_pair both;
    BOOST_TEST(both.size(5) == 5u);
    const auto largest = [](const watched_program& program) {
        return *std::max_element(program.windows.begin(), program.windows.end());
    };
    BOOST_TEST(largest(both.client_program) == 128u << 10);
    BOOST_TEST(largest(both.node_program) == 256u << 10);
}

BOOST_AUTO_TEST_CASE(all_windows_of_a_program_are_limited) {
    own_options options;
    options.client.link.all_windows = 64 << 10;
    options.node.link.all_windows = 96 << 10;
    own_pair both(std::move(options));
    BOOST_TEST(both.size(5) == 5u);
    BOOST_TEST(both.client_program.windows.back() == 64u << 10);
    BOOST_TEST(both.node_program.windows.back() == 96u << 10);
}

BOOST_AUTO_TEST_CASE(a_node_takes_as_many_calls_as_may_wait_for_its_places) {
    const auto calls_of_five = [](double queue_per_place) {
        own_options options;
        options.node.queue_per_place = queue_per_place;
        own_pair both(std::move(options));
        both.begin_calls(5);
        return both.node->status().calls;
    };
    BOOST_TEST(calls_of_five(0) == 1u);
    BOOST_TEST(calls_of_five(3) == 4u);
}

BOOST_AUTO_TEST_CASE(a_node_takes_frames_of_limited_size) {
    own_options options;
    options.node.limits.frame_bytes = options.node.limits.json_bytes = 4096; // and 8 KiB for what nodes add
    own_pair both(std::move(options));
    BOOST_TEST(both.size(3000) == 3000u);
    BOOST_CHECK_EXCEPTION(both.size(20'000), error, [](const error& failure) {
        return contains(failure.what(), "exceeds the limit of 12288");
    });
}

BOOST_AUTO_TEST_CASE(a_node_has_limited_links) {
    own_options options;
    options.node.links = 1;
    own_pair both(options);
    auto second = make_node_pool(both.context.get_executor(), options.client, both.server.connect());
    both.time.run(second.start());
    both.time.advance(10s);
    BOOST_TEST(both.node->links() == 1u);
    both.time.run(second.shutdown());
}

BOOST_AUTO_TEST_CASE(a_node_has_limited_memory_for_the_input_of_clients) {
    own_options options;
    options.node.domain = "default";
    options.node.nats.inbox = "_INBOX";
    options.node.memory = 1 << 20;
    options.node.limits.frame_bytes = 8 << 20;
    own_pair both(std::move(options));
    raw_program client(both.context, both.time, both.server);
    auto& link = client.open("node", R"({"v":1,"pool":"shop","client":"raw"})");
    client.send(link, raw_frame(R"({"type":"welcome","limits":{}})"));
    client.send(link, raw_half_frame(4 << 20, 900'000));
    both.time.advance(3s);
    BOOST_TEST(!link.end.has_value());
    client.send(link, std::string(300'000, 'x'));
    both.time.advance(3s);
    BOOST_REQUIRE(link.end.has_value());
    BOOST_TEST(link.end->detail == "the node has no memory for its bytes");
}

BOOST_AUTO_TEST_CASE(a_node_tells_its_load_at_the_interval) {
    own_options options;
    options.node.beacon_interval = 2s;
    own_pair both(std::move(options));
    both.time.advance(10s);
    both.node_program.beacons = 0;
    both.time.advance(20s);
    BOOST_TEST(both.node_program.beacons >= 8u);
    BOOST_TEST(both.node_program.beacons <= 13u);
}

BOOST_AUTO_TEST_CASE(a_node_drains_for_as_long_as_the_option_says) {
    own_options options;
    options.node.drain_timeout = 7s;
    own_pair both(std::move(options));
    both.begin_calls(1);
    const auto begin = clock::now();
    both.run_at_node(both.node->drain());
    BOOST_TEST((clock::now() - begin == 7s));
}

BOOST_AUTO_TEST_CASE(a_node_logs_to_the_handler_of_the_options) {
    own_options options;
    std::vector<log_record> records;
    options.node.log_level = log_level::warning;
    options.node.log_handler = [&](const log_record& record) { records.push_back(record); };
    own_pair both(std::move(options));
    asio::post(both.node->executor(), [&] { both.node_program.user->on_problem("no room"); });
    both.time.run_until_idle();
    BOOST_REQUIRE(records.size() == 1u);
    BOOST_TEST(records[0].text == "no room");
    BOOST_TEST(records[0].pool == "node");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
