// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/home_choice.hpp"
#include "process/local_context.hpp"
#include "remote/node_core.hpp"
#include "remote/node_pool.hpp"
#include "support/local_bus.hpp"
#include "support/text.hpp"
#include "wire/home_messages.hpp"
#include "wire/node_beacon.hpp"
#include <skep/testing.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// Sessions that several services have on the same nodes.

namespace skep::test {

using namespace std::chrono_literals;
using testing::fake_pool;
using testing::virtual_time;

BOOST_AUTO_TEST_SUITE(session_home_test)

namespace {

pool_config config_for(std::size_t workers) {
    pool_config config;
    config.workers = workers;
    config.log_level = log_level::off;
    config.queue.timeout = 1s;
    return config;
}

/// A program on the bus that keeps the messages of a subject.
class eavesdropper final : private bus_user {
public:
    eavesdropper(asio::io_context& context, local_bus& bus, const std::string& subject)
        : link_(bus.connect()(strand(context.get_executor()), *this)) {
        link_->subscribe(subject);
    }

    std::vector<std::string> messages;

    bus& link() noexcept { return *link_; }

private:
    void on_message(const bus_message& message) override { messages.emplace_back(message.body); }
    void on_connection(bool) override {}

    std::unique_ptr<bus> link_;
};

constexpr std::size_t most_questions = 2000; ///< that a node answers to a client in a second

/// A node with workers of its own.
class home_node {
public:
    home_node(asio::io_context& context, virtual_time& time, local_bus& bus, std::string name)
        : time_(time), workers_(context.get_executor(), config_for(4)) {
        workers_.on("run", [this](worker_call&) { return ++runs_; });
        workers_.on("wait", [](worker_call&) -> asio::awaitable<void> { co_await testing::sleep_for(1h); });
        time_.run(workers_.pool().start());
        node_setup setup;
        setup.name = std::move(name);
        setup.questions_per_second = most_questions;
        setup.pools.emplace("default", served_pool(workers_.pool()));
        agent_ = std::make_shared<node_core>(make_local_context(context.get_executor()), std::move(setup),
                                             bus.connect());
        asio::post(agent_->executor(), [agent = agent_] { agent->start(); });
    }
    ~home_node() {
        leave();
        time_.run(workers_.pool().shutdown());
    }
    home_node(const home_node&) = delete;
    home_node& operator=(const home_node&) = delete;

    void drain() { run(agent_->drain()); }
    void undrain() {
        asio::post(agent_->executor(), [agent = agent_] { agent->undrain(); });
    }
    void leave() {
        if (agent_) {
            run(agent_->stop());
            agent_.reset();
        }
    }

    bool has(const std::string& session) {
        return time_.run(workers_.pool().session_worker(session)).has_value();
    }
    int runs() const noexcept { return runs_; }

private:
    void run(asio::awaitable<void> operation) {
        time_.run(asio::co_spawn(agent_->executor(), std::move(operation), asio::use_awaitable));
    }

    virtual_time& time_;
    fake_pool workers_;
    std::shared_ptr<node_core> agent_;
    int runs_ = 0;
};

struct call_end {
    bool has_ended = false;
    std::optional<errc> failure;
    std::string text; ///< of the failure
    std::string node;
};

/// Nodes, and the pools of services.
struct shared_nodes {
    explicit shared_nodes(std::size_t count, std::size_t services = 2, pool_config config = config_for(1)) {
        for (std::size_t i = 0; i < count; ++i) {
            add_node();
        }
        for (std::size_t i = 0; i < services; ++i) {
            clients.push_back(std::make_unique<pool>(make_node_pool(
                make_local_context(context.get_executor()), config_of_nodes(config), {}, bus.connect())));
            time.run(clients.back()->start());
        }
        for (const auto& each : clients) {
            time.run(each->ready(count));
        }
    }
    ~shared_nodes() {
        for (const auto& each : clients) {
            const auto left = time.run(each->status());
            BOOST_TEST(left.queued == 0u);
            time.run(each->shutdown());
        }
        clients.clear();
        ears.reset();
        nodes.clear();
        time.run_until_idle();
        BOOST_TEST(bus.connections() == 0u);
    }

    void add_node() {
        nodes.push_back(
            std::make_unique<home_node>(context, time, bus, "node-" + std::to_string(nodes.size())));
    }

    home_node& node(const std::string& name) { return *nodes.at(std::stoul(name.substr(5))); }

    /// Asks the nodes as a client does. Returns the number of answers.
    std::size_t ask(const std::string& question, const std::string& subject = "_INBOX.ears.home.1") {
        listen(subject);
        ears->link().publish("skep.default.home", subject, {}, question);
        time.run_until_idle();
        return ears->messages.size();
    }

    void listen(const std::string& subject) { ears.emplace(context, bus, subject); }

    /// Begins a call. The result is known once the call has ended.
    const call_end& begin(std::size_t service, request what, asio::cancellation_slot slot = {}) {
        auto& end = ends.emplace_back();
        const auto on_end = [&end](const std::exception_ptr& problem, const reply& answer) {
            end.has_ended = true;
            end.node = answer.node.value_or("");
            try {
                if (problem) {
                    std::rethrow_exception(problem);
                }
            } catch (const error& failure) {
                end.failure = failure.kind();
                end.text = failure.what();
            }
        };
        asio::co_spawn(context, clients.at(service)->execute(std::move(what)),
                       asio::bind_cancellation_slot(slot, on_end));
        time.run_until_idle();
        return end;
    }

    call_end call(std::size_t service, request what) {
        const auto& end = begin(service, std::move(what));
        for (int i = 0; i < 200 && !end.has_ended; ++i) {
            time.advance(10ms);
        }
        return end;
    }

    asio::io_context context;
    virtual_time time{context};
    local_bus bus;
    std::vector<std::unique_ptr<home_node>> nodes;
    std::vector<std::unique_ptr<pool>> clients;
    std::deque<call_end> ends;
    std::optional<eavesdropper> ears;
};

request run_in(const std::string& session, affinity_mode mode = affinity_mode::strict_queue) {
    return request("run").session(session).affinity(mode);
}

std::string numbered(std::size_t number) {
    return "user-" + std::to_string(number);
}

constexpr auto subject_of_homes = "skep.default.home";

} // namespace

BOOST_AUTO_TEST_CASE(services_share_the_node_of_a_session) {
    shared_nodes site(3);
    for (const auto mode :
         {affinity_mode::hint, affinity_mode::strict_queue, affinity_mode::strict_fail_fast}) {
        for (std::size_t i = 0; i < 10; ++i) {
            const auto session = std::to_string(static_cast<int>(mode)) + numbered(i);
            const auto first = site.call(0, run_in(session, mode));
            const auto second = site.call(1, run_in(session, mode));
            BOOST_TEST(!first.failure.has_value(), first.text);
            BOOST_TEST(first.node != "");
            BOOST_TEST(first.node == second.node);
        }
    }
}

BOOST_AUTO_TEST_CASE(strict_sessions_that_begin_at_the_same_time_meet) {
    shared_nodes site(3);
    for (std::size_t i = 0; i < 20; ++i) {
        const auto& first = site.begin(0, run_in(numbered(i)));
        const auto& second = site.begin(1, run_in(numbered(i)));
        site.time.advance(100ms);
        BOOST_TEST(!first.failure.has_value(), first.text);
        BOOST_TEST(first.node == second.node);
        BOOST_TEST(first.node == [&] {
            const auto session = numbered(i);
            rendezvous choice(session);
            for (const auto* const name : {"node-0", "node-1", "node-2"}) {
                choice.offer(name);
            }
            return choice.winner();
        }());
    }
}

BOOST_AUTO_TEST_CASE(a_session_stays_at_its_node_when_nodes_come) {
    shared_nodes site(1);
    for (std::size_t i = 0; i < 10; ++i) {
        BOOST_TEST(site.call(0, run_in(numbered(i))).node == "node-0");
    }
    site.add_node();
    site.add_node();
    for (const auto& each : site.clients) {
        site.time.run(each->ready(3));
    }
    for (std::size_t i = 0; i < 10; ++i) {
        BOOST_TEST(site.call(1, run_in(numbered(i))).node == "node-0");
        BOOST_TEST(site.call(0, run_in(numbered(i))).node == "node-0");
    }
}

BOOST_AUTO_TEST_CASE(the_calls_of_a_session_ask_one_question) {
    shared_nodes site(2, 1);
    site.listen(subject_of_homes);
    for (int i = 0; i < 10; ++i) {
        site.begin(0, run_in("user-1"));
    }
    site.time.advance(100ms);
    for (const auto& each : site.ends) {
        BOOST_TEST(!each.failure.has_value(), each.text);
        BOOST_TEST(each.node == site.ends.front().node);
    }
    BOOST_TEST(site.ears->messages == std::vector<std::string>{encode_home_question({"default", "user-1"})},
               boost::test_tools::per_element());
    site.call(0, run_in("user-1"));
    site.call(0, request("run"));
    BOOST_TEST(site.ears->messages.size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_call_waits_for_answers_no_longer_than_its_time) {
    shared_nodes site(2, 1);
    const auto& late = site.begin(0, run_in("user-1").timeout(20ms));
    const auto& impatient = site.begin(0, run_in("user-2").queue_timeout(20ms));
    asio::cancellation_signal signal;
    const auto& cancelled = site.begin(0, run_in("user-3"), signal.slot());
    site.time.advance(10ms);
    signal.emit(asio::cancellation_type::terminal);
    site.time.run_until_idle();
    BOOST_TEST((cancelled.failure == errc::cancelled));
    site.time.advance(20ms);
    BOOST_TEST((late.failure == errc::timeout));
    BOOST_TEST((impatient.failure == errc::queue_timeout));
    site.time.advance(2s);
    BOOST_TEST(site.nodes[0]->runs() + site.nodes[1]->runs() == 0);
}

BOOST_AUTO_TEST_CASE(a_drained_node_passes_its_sessions_to_one_node) {
    auto config = config_for(1);
    config.affinity.on_recycle = affinity_on_recycle::move;
    shared_nodes site(3, 2, config);
    const auto before = site.call(0, run_in("user-1"));
    BOOST_TEST(site.call(1, run_in("user-1")).node == before.node);
    site.node(before.node).drain();
    const auto& first = site.begin(0, run_in("user-1"));
    const auto& second = site.begin(1, run_in("user-1"));
    site.time.advance(200ms);
    BOOST_TEST(!first.failure.has_value(), first.text);
    BOOST_TEST(first.node != before.node);
    BOOST_TEST(first.node == second.node);
}

/// A service that does not know the session yet must not begin it at a second node.
BOOST_AUTO_TEST_CASE(a_strict_call_waits_for_the_node_of_its_session_while_it_drains) {
    shared_nodes site(3);
    const auto home = site.call(0, run_in("user-1")).node;
    site.node(home).drain();
    const auto& end = site.begin(1, run_in("user-1"));
    const auto& hint = site.begin(1, run_in("user-1", affinity_mode::hint));
    site.time.advance(500ms);
    BOOST_TEST(!end.has_ended);
    BOOST_TEST((site.call(0, run_in("user-1")).failure == errc::session_worker_unavailable));
    site.node(home).undrain();
    site.time.advance(300ms);
    BOOST_TEST(!end.failure.has_value(), end.text);
    BOOST_TEST(end.node == home);
    BOOST_TEST(hint.has_ended);
}

BOOST_AUTO_TEST_CASE(the_end_of_a_node_that_drains_frees_its_sessions) {
    auto config = config_for(1);
    config.queue.timeout = 5s;
    shared_nodes site(3, 2, config);
    const auto home = site.call(0, run_in("user-1")).node;
    site.node(home).drain();
    const auto& end = site.begin(1, run_in("user-1"));
    site.time.advance(300ms);
    BOOST_TEST(!end.has_ended);
    site.node(home).leave();
    site.time.advance(2s);
    BOOST_TEST(end.has_ended);
    BOOST_TEST(!end.failure.has_value(), end.text);
    BOOST_TEST(end.node != home);
}

BOOST_AUTO_TEST_CASE(the_session_of_a_lost_node_begins_anew_when_it_is_forgotten) {
    shared_nodes site(2);
    const auto home = site.call(0, run_in("user-1")).node;
    BOOST_TEST(site.call(1, run_in("user-1")).node == home);
    site.node(home).leave();
    site.time.advance(10s);
    for (const std::size_t service : {0u, 1u}) {
        const auto lost = site.call(service, run_in("user-1"));
        BOOST_TEST((lost.failure == errc::session_worker_unavailable), lost.text);
    }
    BOOST_TEST(site.time.run(site.clients[0]->forget_session("user-1")));
    const auto anew = site.call(0, run_in("user-1"));
    BOOST_TEST(!anew.failure.has_value(), anew.text);
    BOOST_TEST((site.call(1, run_in("user-1")).failure == errc::session_worker_unavailable));
    site.time.run(site.clients[1]->forget_session("user-1"));
    BOOST_TEST(site.call(1, run_in("user-1")).node == anew.node);
}

BOOST_AUTO_TEST_CASE(nodes_are_told_to_forget_a_session) {
    shared_nodes site(2, 1);
    const auto home = site.call(0, run_in("user-1")).node;
    BOOST_TEST(site.node(home).has("user-1"));
    BOOST_TEST(site.time.run(site.clients[0]->forget_session("user-1")));
    site.time.run_until_idle();
    BOOST_TEST(!site.node(home).has("user-1"));
    site.time.run(site.clients[0]->forget_session("\xff"));
    site.time.run(site.clients[0]->forget_session(""));
}

BOOST_AUTO_TEST_CASE(a_strict_call_waits_for_a_link_to_the_node_of_its_session) {
    shared_nodes site(2, 1);
    site.listen(subject_of_homes);
    node_beacon ghost;
    ghost.node = "ghost";
    ghost.epoch = "e";
    ghost.interval = 1min;
    ghost.pools.emplace("default", load_view{0, 0, 1, true});
    std::size_t of_ghost = 0;
    for (std::size_t i = 0; i < 12; ++i) {
        site.ears->link().publish("skep.default.load", {}, {}, encode_beacon(ghost));
        site.time.run_until_idle();
        const auto session = numbered(i);
        rendezvous choice(session);
        for (const auto* const name : {"node-0", "node-1", "ghost"}) {
            choice.offer(name);
        }
        const auto strict = site.call(0, run_in(numbered(i)));
        if (choice.winner() == "ghost") {
            ++of_ghost;
            BOOST_TEST((strict.failure == errc::queue_timeout), strict.text);
            BOOST_TEST(contains(strict.text, "no link to the node of its session"), strict.text);
        } else {
            BOOST_TEST(strict.node == choice.winner());
        }
        BOOST_TEST(!site.call(0, run_in("hint" + numbered(i), affinity_mode::hint)).failure.has_value());
    }
    BOOST_TEST(of_ghost > 0u);
    BOOST_TEST(of_ghost < 12u);
}

BOOST_AUTO_TEST_CASE(the_questions_at_a_time_are_limited) {
    constexpr std::size_t calls = 1200;
    auto config = config_for(1);
    config.queue.limit = 0;
    shared_nodes site(2, 1, config);
    site.listen(subject_of_homes);
    for (std::size_t i = 0; i < calls; ++i) {
        site.begin(0, run_in(numbered(i), i % 2 == 0 ? affinity_mode::hint : affinity_mode::strict_queue));
    }
    BOOST_TEST(site.ears->messages.size() == 1000u);
    site.time.advance(3s);
    std::size_t refused = 0;
    for (std::size_t i = 0; i < calls; ++i) {
        const bool is_refused = site.ends[i].failure == errc::pool_saturated;
        BOOST_TEST((is_refused || !site.ends[i].failure.has_value()), site.ends[i].text);
        refused += is_refused ? 1 : 0;
    }
    BOOST_TEST(refused < calls / 2);
}

BOOST_AUTO_TEST_CASE(a_node_answers_if_it_has_the_session) {
    shared_nodes site(2, 1);
    const auto question = encode_home_question({"default", "user-1"});
    BOOST_TEST(site.ask(question) == 0u);
    const auto home = site.call(0, run_in("user-1")).node;
    BOOST_TEST(site.ask(question) == 1u);
    const auto answer = decode_home_answer(site.ears->messages.at(0));
    BOOST_REQUIRE(answer.has_value());
    BOOST_TEST(answer->node == home);
    BOOST_TEST(!answer->is_draining);
    BOOST_TEST(site.ask(encode_home_question({"default", "user-2"})) == 0u);
    BOOST_TEST(site.ask(encode_home_question({"other", "user-1"})) == 0u);
    BOOST_TEST(site.ask("no question") == 0u);
    BOOST_TEST(site.ask(question, "victim") == 0u);
    BOOST_TEST(site.ask(question, "skep.default.node.x.y") == 0u);
    site.node(home).drain();
    BOOST_TEST(site.ask(question) == 1u);
    BOOST_TEST(decode_home_answer(site.ears->messages.at(0))->is_draining);
}

BOOST_AUTO_TEST_CASE(a_node_has_the_session_of_a_call_that_waits_for_a_worker) {
    shared_nodes site(1, 1);
    for (int i = 0; i < 4; ++i) {
        site.begin(0, request("wait").timeout(1s));
    }
    site.begin(0, run_in("user-1").timeout(1s));
    site.time.advance(100ms);
    BOOST_TEST(site.nodes[0]->runs() == 0);
    BOOST_TEST(site.ask(encode_home_question({"default", "user-1"})) == 1u);
    site.time.advance(2s);
    BOOST_TEST(site.ask(encode_home_question({"default", "user-1"})) == 0u);
}

BOOST_AUTO_TEST_CASE(a_node_answers_so_many_questions_a_second) {
    shared_nodes site(1, 1);
    site.call(0, run_in("user-1"));
    site.time.advance(2s);
    site.listen("_INBOX.ears.home.1");
    const auto ask_often = [&](const std::string& subject) {
        for (std::size_t i = 0; i < most_questions + 100; ++i) {
            site.ears->link().publish(subject_of_homes, subject, {},
                                      encode_home_question({"default", "user-1"}));
        }
        site.time.run_until_idle();
    };
    ask_often("_INBOX.ears.home.1");
    BOOST_TEST(site.ears->messages.size() == most_questions);
    site.time.advance(1s, 1s);
    ask_often("_INBOX.other.home.1");
    ask_often("_INBOX.ears.home.1");
    BOOST_TEST(site.ears->messages.size() == 2 * most_questions);
}

BOOST_AUTO_TEST_CASE(an_answer_counts_only_from_a_node_that_runs) {
    shared_nodes site(2, 1);
    site.listen(subject_of_homes);
    // A liar answers for each node, with the epoch of another program.
    struct liar final : bus_user {
        void on_message(const bus_message& message) override {
            for (const auto* const name : {"node-0", "node-1", "elsewhere"}) {
                link->publish(message.reply, {}, {}, encode_home_answer({name, "another epoch"}));
            }
            link->publish(message.reply, {}, {}, "garbage");
            ++answers;
        }
        void on_connection(bool) override {}
        std::unique_ptr<bus> link;
        int answers = 0;
    } program;
    program.link = site.bus.connect()(strand(site.context.get_executor()), program);
    program.link->subscribe(subject_of_homes);
    const auto& end = site.begin(0, run_in("user-1"));
    site.time.advance(40ms);
    BOOST_TEST(program.answers == 1);
    BOOST_TEST(!end.has_ended); // nothing but time ends the wait
    site.time.advance(20ms);
    BOOST_TEST(!end.failure.has_value(), end.text);
    program.link.reset();
}

BOOST_AUTO_TEST_CASE(a_question_outlives_a_cut_of_the_bus) {
    shared_nodes site(3);
    const auto home = site.call(0, run_in("user-1")).node;
    site.bus.set_up(false);
    site.time.run_until_idle();
    const auto& asked = site.begin(1, run_in("user-1"));
    site.time.advance(500ms);
    BOOST_TEST(!asked.has_ended);
    site.bus.set_up(true);
    site.time.advance(300ms);
    BOOST_TEST(!asked.failure.has_value(), asked.text);
    BOOST_TEST(asked.node == home);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
