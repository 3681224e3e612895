// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Sessions of several services on the same nodes, through a server.

#include "support/nats_node.hpp"
#include "support/nats_server.hpp"
#include <skep/remote_pool.hpp>
#include <skep/until.hpp>

#include <array>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace skep::test {

BOOST_AUTO_TEST_SUITE(nats_homes_test)

namespace {

/// Three nodes, and the pools of two services.
class shared_site {
public:
    explicit shared_site(asio::io_context& context) : context_(context) {
        for (const auto* const name : {"first", "second", "third"}) {
            nodes_.push_back(std::make_unique<nats_node>(context, server_.options(), name, [](int) {}));
        }
        remote_options options;
        options.nats = server_.options();
        options.log_level = log_level::off;
        options.queue.timeout = patience;
        options.affinity.on_recycle = affinity_on_recycle::move;
        for (int i = 0; i < 2; ++i) {
            services_.push_back(std::make_unique<remote_pool>(context, options));
        }
    }

    asio::awaitable<void> start() {
        for (const auto& each : nodes_) {
            co_await each->start();
        }
        for (const auto& each : services_) {
            co_await each->start();
            co_await each->ready(nodes_.size());
        }
    }

    asio::awaitable<void> stop() {
        for (const auto& each : services_) {
            const auto status = co_await each->status();
            BOOST_TEST(status.queued == 0u);
            co_await each->shutdown();
        }
        for (const auto& each : nodes_) {
            co_await each->stop();
        }
    }

    /// Returns the node of a strict call of the session.
    asio::awaitable<std::string> node_of(std::size_t service, std::string session) {
        auto what = request("work").session(session).affinity(affinity_mode::strict_queue);
        what.arg("number", 1).arg("ms", 0).timeout(1min);
        const auto answer = co_await services_[service]->execute(std::move(what));
        co_return answer.node.value_or("");
    }

    remote_pool& service(std::size_t number) { return *services_[number]; }
    nats_node& node(const std::string& name) {
        return *nodes_[name == "first" ? 0 : name == "second" ? 1 : 2];
    }
    asio::io_context& context() { return context_; }

private:
    asio::io_context& context_;
    nats_server server_;
    std::vector<std::unique_ptr<nats_node>> nodes_;
    std::vector<std::unique_ptr<remote_pool>> services_;
};

/// Calls of both services at the same time.
asio::awaitable<std::array<std::string, 2>> nodes_of(shared_site& site, std::string session) {
    std::array<std::string, 2> found;
    std::size_t ended = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
        asio::co_spawn(site.context(), site.node_of(i, session),
                       [&found, &ended, i](const std::exception_ptr& problem, const std::string& node) {
                           BOOST_TEST(!problem);
                           found[i] = node;
                           ++ended;
                       });
    }
    while (ended < found.size()) {
        co_await testing::sleep_for(1ms);
    }
    co_return found;
}

std::string named(int number) {
    return "user-" + std::to_string(number);
}

} // namespace

BOOST_AUTO_TEST_CASE(two_services_share_the_nodes_of_strict_sessions) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        shared_site site(context);
        co_await site.start();
        std::set<std::string> nodes;
        for (int i = 0; i < 12; ++i) {
            const auto first = co_await site.node_of(0, named(i));
            const auto second = co_await site.node_of(1, named(i));
            BOOST_TEST(first == second);
            nodes.insert(first);
        }
        BOOST_TEST(nodes.size() > 1u);
        for (int i = 12; i < 24; ++i) {
            const auto both = co_await nodes_of(site, named(i));
            BOOST_TEST(both[0] == both[1]);
        }
        co_await site.stop();
    });
}

BOOST_AUTO_TEST_CASE(sessions_move_from_a_draining_node_to_one_node) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        shared_site site(context);
        co_await site.start();
        std::vector<int> moved;
        const auto home = co_await site.node_of(0, named(0));
        for (int i = 0; i < 8; ++i) {
            const auto before = co_await nodes_of(site, named(i));
            if (before[0] == home) {
                moved.push_back(i);
            }
        }
        co_await site.node(home).agent().drain();
        for (const int number : moved) {
            const auto after = co_await nodes_of(site, named(number));
            BOOST_TEST(after[0] != home);
            BOOST_TEST(after[0] == after[1]);
        }
        co_await site.stop();
    });
}

BOOST_AUTO_TEST_CASE(a_cancelled_question_leaves_nothing) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        shared_site site(context);
        co_await site.start();
        for (int i = 0; i < 20; ++i) {
            auto running =
                until(site.node_of(0, named(i)), testing::sleep_for(std::chrono::milliseconds(i % 5)));
            co_await std::move(running);
        }
        const auto status = co_await site.service(0).status();
        BOOST_TEST(status.queued == 0u);
        for (int i = 0; i < 20; ++i) {
            const auto both = co_await nodes_of(site, named(i));
            BOOST_TEST(both[0] == both[1]);
        }
        co_await site.stop();
    });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
