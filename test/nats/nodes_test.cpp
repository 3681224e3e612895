// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Calls on nodes, through a server.

#include "support/node_process.hpp"
#include <skep/remote_pool.hpp>
#include <skep/testing.hpp>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace skep::test {

BOOST_AUTO_TEST_SUITE(nats_nodes_test)

namespace {

remote_pool make_client(asio::io_context& context, const nats_server& server) {
    remote_options options;
    options.nats = server.options();
    options.log_level = log_level::off;
    options.retry.budget = 0;
    return remote_pool(context, std::move(options));
}

/// The calls of several callers, while nodes come and go.
struct traffic {
    asio::awaitable<void> make_calls(remote_pool& client, int first, bool is_idempotent) {
        for (int number = first; !is_over; ++number) {
            auto call = request("work").arg("number", number).arg("ms", 20).idempotent(is_idempotent);
            try {
                co_await client.execute(std::move(call).timeout(1min));
                done.insert(number);
            } catch (const error& failure) {
                BOOST_TEST(!is_idempotent);
                BOOST_TEST((failure.kind() == errc::node_lost));
                lost.insert(number);
            }
        }
        ++ended;
    }

    asio::awaitable<void> wait_for_calls(std::size_t more) const {
        const auto goal = done.size() + more;
        while (done.size() < goal) {
            co_await testing::sleep_for(5ms);
        }
    }

    bool is_over = false;
    std::size_t ended = 0; ///< callers
    std::set<int> done;
    std::set<int> lost;
};

constexpr int callers_of_nodes = 8;
constexpr int calls_of_caller = 1'000'000;

/// Has half of the callers make idempotent calls, and the others plain ones, from the middle on.
void begin_calls(asio::io_context& context, remote_pool& client, traffic& calls) {
    for (int i = 0; i < callers_of_nodes; ++i) {
        asio::co_spawn(context, calls.make_calls(client, i * calls_of_caller, i < callers_of_nodes / 2),
                       [](const std::exception_ptr& problem) { BOOST_TEST(!problem); });
    }
}

asio::awaitable<void> wait_for_runs(const node_process& node, std::size_t runs) {
    while (node.runs().size() < runs) {
        co_await testing::sleep_for(20ms);
    }
}

asio::awaitable<void> end_calls(remote_pool& client, traffic& calls) {
    calls.is_over = true;
    while (calls.ended < callers_of_nodes) {
        co_await testing::sleep_for(5ms);
    }
    co_await client.shutdown();
}

bool is_plain(int number) {
    return number >= callers_of_nodes / 2 * calls_of_caller;
}

} // namespace

BOOST_AUTO_TEST_CASE(a_killed_node_costs_its_plain_calls_only) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        const nats_server server;
        node_process first(server, "first");
        const node_process second(server, "second");
        auto client = make_client(context, server);
        co_await client.start();
        traffic calls;
        begin_calls(context, client, calls);
        co_await wait_for_runs(first, 20);
        co_await wait_for_runs(second, 20);
        first.kill();
        co_await calls.wait_for_calls(100);
        const auto before = first.runs().size();
        first.start();
        co_await wait_for_runs(first, before + 20);
        co_await end_calls(client, calls);
        BOOST_TEST(calls.lost.size() <= callers_of_nodes / 2u);
        auto runs = first.runs();
        for (const auto& [number, times] : second.runs()) {
            runs[number] += times;
        }
        for (const int number : calls.done) {
            BOOST_TEST(runs[number] >= 1);
            BOOST_TEST((!is_plain(number) || runs[number] == 1));
        }
        for (const int number : calls.lost) {
            BOOST_TEST(runs[number] <= 1);
        }
    });
}

BOOST_AUTO_TEST_CASE(a_terminated_node_costs_no_call) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        const nats_server server;
        node_process first(server, "first");
        const node_process second(server, "second");
        auto client = make_client(context, server);
        co_await client.start();
        traffic calls;
        begin_calls(context, client, calls);
        co_await wait_for_runs(first, 20);
        co_await wait_for_runs(second, 20);
        first.signal(SIGTERM);
        co_await calls.wait_for_calls(200);
        co_await end_calls(client, calls);
        BOOST_TEST(calls.lost.size() == 0u);
    });
}

BOOST_AUTO_TEST_CASE(the_calls_of_a_stopped_node_go_elsewhere) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        const nats_server server;
        const node_process first(server, "first");
        const node_process second(server, "second");
        auto client = make_client(context, server);
        co_await client.start();
        traffic calls;
        begin_calls(context, client, calls);
        co_await wait_for_runs(first, 20);
        co_await wait_for_runs(second, 20);
        first.freeze();
        while (calls.lost.empty()) { // after its silence
            co_await testing::sleep_for(20ms);
        }
        first.thaw();
        co_await calls.wait_for_calls(100);
        co_await end_calls(client, calls);
    });
}

namespace {

/// The events of a client.
class told_events {
public:
    told_events(remote_pool& client, asio::io_context& context)
        : listening_(client.events()
                         .listen<events::node_joined, events::node_left, events::node_ejected,
                                 events::node_readmitted, events::link_opened, events::link_lost,
                                 events::bus_up, events::bus_down, events::request_finished>(
                             context.get_executor(), [this](const event& what) { hear(what); })) {}

    /// Returns how often a text was told, such as "node.left first".
    std::size_t count(const std::string& text) const {
        return static_cast<std::size_t>(std::count(told_.begin(), told_.end(), text));
    }

    /// Waits until `text` was told more often than `before`.
    asio::awaitable<void> wait_for(std::string text, std::size_t before = 0) const {
        while (count(text) <= before) {
            co_await testing::sleep_for(5ms);
        }
    }

    /// Returns true if the texts were told in this order, perhaps with others between.
    bool has_sequence(const std::vector<std::string>& texts) const {
        auto next = texts.begin();
        for (const auto& each : told_) {
            next += next != texts.end() && *next == each ? 1 : 0;
        }
        return next == texts.end();
    }

    /// Returns the calls that have ended at nodes, by node and outcome.
    const std::map<std::string, std::uint64_t>& calls() const noexcept { return calls_; }

private:
    void hear(const event& what) {
        if (const auto* const call = std::get_if<events::request_finished>(&what)) {
            if (!call->node.empty()) {
                ++calls_[call->node + " " + call->outcome];
            }
            return;
        }
        const auto facts = to_json(what);
        const auto* const node = facts.if_contains("node");
        const std::string name = node == nullptr ? "" : std::string(node->as_string());
        told_.push_back(std::string(name_of(what)) + (name.empty() ? "" : " " + name));
    }

    std::vector<std::string> told_;
    std::map<std::string, std::uint64_t> calls_;
    subscription listening_;
};

std::map<std::string, std::uint64_t> calls_of(const pool_metrics& figures) {
    std::map<std::string, std::uint64_t> calls;
    for (const auto& [node, counts] : figures.nodes) {
        if (counts.succeeded > 0) {
            calls[node + " ok"] = counts.succeeded;
        }
        for (const auto& [code, count] : counts.failed) {
            calls[node + " " + std::string(to_string(code))] = count;
        }
    }
    return calls;
}

/// Kills the node under its calls, and starts it again, until the client does not want it any more.
asio::awaitable<void> kill_until_ejected(node_process& node, const told_events& told) {
    while (told.count("node.ejected first") == 0) {
        const auto links = told.count("link.opened first");
        const auto losses = told.count("link.lost first");
        const auto runs = node.runs().size();
        co_await wait_for_runs(node, runs + 1);
        node.kill();
        node.start();
        co_await told.wait_for("link.lost first", losses);
        while (told.count("link.opened first") == links && told.count("node.ejected first") == 0) {
            co_await testing::sleep_for(5ms);
        }
    }
}

} // namespace

BOOST_AUTO_TEST_CASE(events_tell_of_nodes_and_of_the_server_in_order_and_add_up) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        nats_server server;
        node_process first(server, "first");
        const node_process second(server, "second");
        auto client = make_client(context, server);
        const told_events told(client, context);
        co_await client.start();
        co_await told.wait_for("link.opened first");
        traffic calls;
        begin_calls(context, client, calls);
        co_await kill_until_ejected(first, told);
        auto looking = client.status();
        const auto ejected = co_await std::move(looking);
        const auto& nodes = ejected.remote.value().nodes;
        BOOST_REQUIRE(nodes.size() == 2u);
        BOOST_TEST(nodes[0].name == "first");
        BOOST_TEST(nodes[0].ejections == 1u);
        co_await told.wait_for("node.readmitted first");
        server.kill();
        co_await told.wait_for("bus.down");
        server.start();
        co_await told.wait_for("bus.up", 1);
        co_await calls.wait_for_calls(50);
        calls.is_over = true;
        while (calls.ended < callers_of_nodes) {
            co_await testing::sleep_for(5ms);
        }
        auto measuring = client.metrics();
        const auto figures = co_await std::move(measuring);
        for (int looks = 0; looks < 1000 && told.calls() != calls_of(figures); ++looks) {
            co_await testing::sleep_for(5ms); // the last events are on their way
        }
        BOOST_TEST(told.has_sequence({"bus.up", "node.joined first", "link.opened first", "link.lost first",
                                      "node.left first", "node.joined first", "node.ejected first",
                                      "link.opened first", "node.readmitted first", "bus.down", "bus.up"}));
        BOOST_TEST((told.calls() == calls_of(figures)));
        BOOST_TEST(figures.status.remote->reconnects == 1u);
        BOOST_TEST(figures.status.remote->is_connected);
        BOOST_TEST(figures.status.remote->links.resumes >= 1u);
        co_await client.shutdown();
    });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
