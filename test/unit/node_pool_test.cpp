// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/local_context.hpp"
#include "remote/node_core.hpp"
#include "remote/node_pool.hpp"
#include "support/local_bus.hpp"
#include <skep/testing.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/test/unit_test.hpp>

#include <csignal>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace skep::test {

namespace json = boost::json;
using namespace std::chrono_literals;
using testing::fake_pool;
using testing::sleep_for;
using testing::virtual_time;

BOOST_AUTO_TEST_SUITE(node_pool_test)

namespace {

pool_config silent(std::size_t workers) {
    pool_config config;
    config.workers = workers;
    config.log_level = log_level::off;
    return config;
}

/// A context whose chance is the same in each run.
pool_context certain_context(asio::io_context& context) {
    auto made = make_local_context(context.get_executor());
    made.random = [source = std::make_shared<std::mt19937>(1)] {
        return std::uniform_real_distribution<double>()(*source);
    };
    return made;
}

using workers_setup = std::function<void(fake_pool&)>;

/// A machine with a pool that is offered on the bus.
struct machine {
    machine(asio::io_context& context, virtual_time& clock, local_bus& server, std::string name,
            std::size_t count, const workers_setup& set_up)
        : time(clock), bus(server), strand_context(context), workers(context.get_executor(), silent(count)) {
        set_up(workers);
        setup.name = std::move(name);
        setup.pools.emplace("default", served_pool(workers.pool()));
        time.run(workers.pool().start());
        join();
    }

    /// The program of the node starts.
    void join() {
        agent = std::make_shared<node_core>(make_local_context(strand_context.get_executor()), setup,
                                            bus.connect());
        asio::post(agent->executor(), [agent = agent] { agent->start(); });
    }

    void leave() {
        run(agent->stop());
        agent.reset();
    }

    /// Runs an operation of the agent, on its strand.
    void run(asio::awaitable<void> operation) {
        time.run(asio::co_spawn(agent->executor(), std::move(operation), asio::use_awaitable));
    }

    void stop() {
        if (agent) {
            leave();
        }
        time.run(workers.pool().shutdown());
    }

    virtual_time& time;
    local_bus& bus;
    asio::io_context& strand_context;
    fake_pool workers;
    node_setup setup;
    std::shared_ptr<node_core> agent;
};

/// A program that claims to be many nodes.
class impostor final : private bus_user {
public:
    impostor(asio::io_context& context, local_bus& server)
        : connection_(server.connect()(asio::make_strand(pool_executor(context.get_executor())), *this)) {}

    void announce(int count) {
        for (int i = 0; i < count; ++i) {
            node_beacon beacon;
            beacon.node = "invented-" + std::to_string(i);
            beacon.epoch = "e";
            beacon.interval = 1s;
            beacon.pools.emplace("default", load_view{0, 0, 1, true});
            connection_->publish("skep.default.load", {}, {}, encode_beacon(beacon));
        }
    }

private:
    void on_message(const bus_message&) override {}
    void on_connection(bool) override {}

    std::unique_ptr<bus> connection_;
};

/// Machines, and a client.
struct cluster {
    explicit cluster(const workers_setup& set_up, std::size_t nodes = 1, std::size_t workers = 1) {
        for (std::size_t i = 0; i < nodes; ++i) {
            const auto name = "node-" + std::to_string(i);
            machines.push_back(std::make_unique<machine>(context, time, bus, name, workers, set_up));
        }
        client.emplace(
            make_node_pool(certain_context(context), config_of_nodes(silent(1)), {}, bus.connect()));
        time.run(client->start());
    }
    ~cluster() {
        time.run(client->shutdown());
        client.reset();
        for (const auto& each : machines) {
            each->stop();
        }
        time.run_until_idle();
        BOOST_TEST(bus.connections() == 0u);
    }

    reply call(request what) { return time.run(client->execute(std::move(what))); }
    error failure_of_call(request what) {
        try {
            call(std::move(what));
        } catch (const error& failure) {
            return failure;
        }
        BOOST_FAIL("the call has succeeded");
        return {};
    }

    asio::io_context context;
    virtual_time time{context};
    local_bus bus;
    std::vector<std::unique_ptr<machine>> machines;
    std::optional<pool> client;
};

void doubles(fake_pool& workers) {
    workers.on("double", [](worker_call& call) { return 2 * call.arg<int>("n"); });
}

void sleeps(fake_pool& workers) {
    workers.on("sleep", [](worker_call& call) -> asio::awaitable<int> {
        const auto span = std::chrono::milliseconds(call.arg<int>("ms"));
        co_await sleep_for(span);
        co_return 1;
    });
}

/// An operation that runs while the test does something else.
template <class T>
class running {
public:
    running(asio::io_context& context, asio::awaitable<T> operation) {
        asio::co_spawn(context, std::move(operation),
                       asio::bind_cancellation_slot(state_->signal.slot(),
                                                    [state = state_](std::exception_ptr failure, T result) {
                                                        try {
                                                            if (failure) {
                                                                std::rethrow_exception(failure);
                                                            }
                                                            state->value.emplace(std::move(result));
                                                        } catch (const error& problem) {
                                                            state->problem.emplace(problem);
                                                        }
                                                    }));
    }

    void cancel() { state_->signal.emit(asio::cancellation_type::terminal); }
    bool has_ended() const noexcept { return state_->value || state_->problem; }
    const std::optional<T>& value() const noexcept { return state_->value; }
    const std::optional<error>& problem() const noexcept { return state_->problem; }

private:
    struct state {
        asio::cancellation_signal signal;
        std::optional<T> value;
        std::optional<error> problem;
    };
    std::shared_ptr<state> state_ = std::make_shared<state>();
};

} // namespace

BOOST_AUTO_TEST_CASE(a_call_runs_on_another_node) {
    cluster all(doubles);
    const auto answer = all.call(request("double").arg("n", 21));
    BOOST_TEST(answer.as<int>() == 42);
    BOOST_TEST((answer.node == "node-0"));
    BOOST_TEST(answer.attempts == 1);
}

BOOST_AUTO_TEST_CASE(an_answer_names_node_and_worker_and_tells_of_the_way_there) {
    int runs = 0;
    cluster all([&](fake_pool& workers) {
        workers.on("crash", [&](worker_call&) -> asio::awaitable<int> {
            if (++runs == 1) {
                throw testing::worker_exit();
            }
            co_await sleep_for(1s);
            co_return runs;
        });
        workers.on("fail", [](worker_call&) -> int { throw std::runtime_error("no"); });
    });
    running<reply> first(all.context, all.client->execute(request("crash").arg("n", 1).idempotent(true)));
    all.time.advance(100ms);
    running<reply> second(all.context, all.client->execute(request("crash").arg("n", 2)));
    all.time.advance(10s);
    BOOST_REQUIRE(first.value().has_value());
    BOOST_TEST((first.value()->node == "node-0"));
    BOOST_TEST(to_string(first.value()->worker) == "default/0#2");
    BOOST_TEST(first.value()->attempts == 2);
    BOOST_REQUIRE(second.value().has_value());
    BOOST_TEST((second.value()->queue_time >= 500ms));
    BOOST_TEST((second.value()->run_time >= 1s));
    BOOST_TEST((second.value()->run_time < 1200ms));
    const auto failure = all.failure_of_call(request("fail"));
    BOOST_TEST(failure.info().node == "node-0");
    BOOST_TEST(to_string(failure.info().worker.value()) == "default/0#2");
    BOOST_TEST(failure.info().attempts == 1);
}

BOOST_AUTO_TEST_CASE(events_and_tools_name_the_node) {
    cluster all([](fake_pool& workers) {
        workers.on("ask", [](worker_call& call) -> asio::awaitable<json::value> {
            auto asking = call.call_host("tool");
            const auto answer = co_await std::move(asking);
            co_return answer.value;
        });
        workers.on("fail", [](worker_call&) -> int { throw std::runtime_error("no"); });
    });
    std::map<std::string, std::string> nodes;
    const auto listening = all.client->events().listen(all.context.get_executor(), [&](const event& what) {
        const auto told = to_json(what);
        if (const auto* const node = told.if_contains("node")) {
            nodes[std::string(name_of(what))] = node->as_string();
        }
    });
    all.client->register_tool("tool", [](tool_call asked) -> asio::awaitable<tool_reply> {
        tool_reply answer(json::value(asked.node));
        co_return answer;
    });
    BOOST_TEST(all.call(request("ask")).as<std::string>() == "node-0");
    all.failure_of_call(request("fail"));
    all.time.advance(10ms);
    for (const auto* const name : {"request.started", "request.finished", "request.failed"}) {
        BOOST_TEST(nodes[name] == "node-0", name);
    }
}

BOOST_AUTO_TEST_CASE(bytes_go_there_and_back) {
    cluster all([](fake_pool& workers) {
        workers.on("twice", [](worker_call& call) {
            json::array all;
            all.push_back(call.attach(call.attachments().at(0)));
            all.push_back(call.attach(call.attachments().at(0)));
            return json::value(all);
        });
    });
    const std::string bytes(3'000'000, 'x');
    const auto answer = all.call(request("twice").attach(std::string_view(bytes)));
    BOOST_TEST(answer.attachments.size() == 2u);
    BOOST_TEST(answer.attachment("/1").size() == bytes.size());
}

BOOST_AUTO_TEST_CASE(an_error_of_the_workers_code_arrives_as_it_is) {
    cluster all([](fake_pool& workers) {
        workers.on("fail", [](worker_call&) -> int { throw std::runtime_error("no such model"); });
        workers.on("refuse", [](worker_call&) -> int { throw worker_error("bad_image", "not an image"); });
    });
    const auto failure = all.failure_of_call(request("fail"));
    BOOST_TEST((failure.kind() == errc::remote_error));
    BOOST_TEST(failure.info().remote_type == "std::runtime_error");
    BOOST_TEST(failure.info().remote_message == "no such model");
    const auto refusal = all.failure_of_call(request("refuse"));
    BOOST_TEST(refusal.info().remote_code == "bad_image");
    BOOST_TEST((all.failure_of_call(request("unknown")).kind() == errc::unknown_command));
}

BOOST_AUTO_TEST_CASE(chunks_come_in_order) {
    cluster all([](fake_pool& workers) {
        workers.on("count", [](worker_call& call) -> asio::awaitable<std::string> {
            const auto most = call.arg<int>("n");
            for (int i = 0; i < most; ++i) {
                co_await call.send(i);
            }
            co_return "done";
        });
    });
    auto stream = all.time.run(all.client->stream(request("count").arg("n", 500)));
    for (int i = 0; i < 500; ++i) {
        const auto next = all.time.run(stream.next());
        BOOST_REQUIRE(next.has_value());
        BOOST_TEST(next->as<int>() == i);
    }
    BOOST_TEST(!all.time.run(stream.next()).has_value());
    BOOST_TEST(stream.result().as<std::string>() == "done");
}

BOOST_AUTO_TEST_CASE(calls_spread_over_the_nodes) {
    std::map<std::string, int> runs;
    std::size_t next = 0;
    cluster all(
        [&](fake_pool& workers) {
            workers.on("name", [&runs, name = std::to_string(next++)](worker_call&) {
                ++runs[name];
                return 0;
            });
        },
        3);
    for (int i = 0; i < 30; ++i) {
        all.call(request("name"));
    }
    BOOST_TEST(runs.size() == 3u);
}

BOOST_AUTO_TEST_CASE(progress_arrives) {
    cluster all([](fake_pool& workers) {
        workers.on("work", [](worker_call& call) -> asio::awaitable<int> {
            call.progress(0.5, "half");
            co_await sleep_for(1s);
            co_return 1;
        });
    });
    std::string text;
    all.call(request("work").on_progress([&](const progress& report) { text = report.text; }));
    BOOST_TEST(text == "half");
}

BOOST_AUTO_TEST_CASE(a_workers_tools_are_the_clients) {
    cluster all([](fake_pool& workers) {
        workers.on("ask", [](worker_call& call) -> asio::awaitable<json::value> {
            auto asking = call.call_host(call.arg<std::string>("tool"), {{"key", "k"}});
            const auto answer = co_await std::move(asking);
            co_return answer.value;
        });
    });
    all.client->register_tool("of_pool", [](tool_call asked) -> asio::awaitable<tool_reply> {
        tool_reply answer(asked.args.at("key"));
        co_return answer;
    });
    const auto own = [](tool_call) -> asio::awaitable<tool_reply> {
        throw tool_error("no_room", "the table is full");
        co_return tool_reply();
    };
    all.machines[0]->workers.pool().register_tool("of_node", [](tool_call) -> asio::awaitable<tool_reply> {
        tool_reply answer(json::value("node"));
        co_return answer;
    });
    BOOST_TEST(all.call(request("ask").arg("tool", "of_pool")).as<std::string>() == "k");
    BOOST_TEST(all.call(request("ask").arg("tool", "of_node")).as<std::string>() == "node");
    const auto failure = all.failure_of_call(request("ask").arg("tool", "own").tool("own", own));
    BOOST_TEST(failure.info().remote_type == "skep.HostError");
    BOOST_TEST(failure.info().remote_message.find("the table is full") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_worker_gets_the_failure_of_a_clients_tool_as_it_is) {
    cluster all([](fake_pool& workers) {
        workers.on("ask", [](worker_call& call) -> asio::awaitable<json::value> {
            auto asking = call.call_host("own", json::object());
            try {
                co_await std::move(asking);
            } catch (const host_tool_error& failure) {
                co_return json::array{failure.type(), failure.message(), failure.code(), failure.data()};
            }
            co_return nullptr;
        });
    });
    const auto refuse = [](tool_call) -> asio::awaitable<tool_reply> {
        throw tool_error("no_room", "the table is full", 7);
        co_return tool_reply();
    };
    const auto fail = [](tool_call) -> asio::awaitable<tool_reply> {
        throw std::runtime_error("trouble");
        co_return tool_reply();
    };
    const auto refused = all.call(request("ask").tool("own", refuse));
    BOOST_TEST(refused.value == (json::array{"skep.ToolError", "the table is full", "no_room", 7}));
    const auto failed = all.call(request("ask").tool("own", fail));
    BOOST_TEST(failed.value == (json::array{"std::runtime_error", "trouble", "", nullptr}));
    const auto absent = all.call(request("ask"));
    BOOST_TEST(absent.value.at(0) == "skep.UnknownTool");
}

BOOST_AUTO_TEST_CASE(a_lost_worker_of_the_node_is_reported_or_replaced) {
    int runs = 0;
    cluster all([&](fake_pool& workers) {
        workers.on("crash", [&](worker_call&) -> int {
            if (++runs % 2 == 1) {
                throw testing::worker_exit(exit_status::signalled(SIGSEGV), "last words");
            }
            return runs;
        });
    });
    const auto failure = all.failure_of_call(request("crash").arg("n", 1));
    BOOST_TEST((failure.kind() == errc::worker_lost));
    BOOST_TEST(failure.info().node == "node-0");
    BOOST_TEST(to_string(failure.info().worker.value()) == "default/0#1");
    BOOST_TEST(failure.info().status.signal() == SIGSEGV);
    BOOST_TEST(failure.info().output_tail.find("last words") != std::string::npos);
    const std::string advice = "mark the request idempotent";
    const auto& detail = failure.info().detail;
    BOOST_TEST(detail.find(advice) != std::string::npos, detail);
    BOOST_TEST(detail.find(advice) == detail.rfind(advice), detail); // of the node's pool and of the client's
    runs = 0;
    BOOST_TEST(all.call(request("crash").arg("n", 2).idempotent(true)).as<int>() == 2);
}

BOOST_AUTO_TEST_CASE(the_loss_of_a_worker_comes_with_the_advice_for_the_client) {
    cluster all([](fake_pool& workers) {
        workers.on("crash", [](worker_call&) -> int {
            throw testing::worker_exit(exit_status::signalled(SIGKILL), "last words");
        });
    });
    const auto repeated = all.failure_of_call(request("crash").arg("n", 1).idempotent(true));
    const std::string detail = repeated.info().detail;
    BOOST_TEST(
        detail.ends_with("its process ended; it is not sent again, as all of retry.attempts are used up"),
        detail);
    const auto bound =
        all.failure_of_call(request("crash").arg("n", 2).session("s").affinity(affinity_mode::strict_queue));
    BOOST_TEST(bound.info().detail.ends_with("its process ended; it is bound to that worker"),
               bound.info().detail);
}

BOOST_AUTO_TEST_CASE(a_failure_of_the_nodes_pool_arrives_as_it_is) {
    cluster all(sleeps);
    running<reply> first(all.context, all.client->execute(request("sleep").arg("ms", 20'000)));
    all.time.advance(100ms);
    const auto failure = all.failure_of_call(request("sleep").arg("ms", 1).queue_timeout(1s));
    BOOST_TEST((failure.kind() == errc::queue_timeout));
    BOOST_TEST((failure.info().wait_time >= 1s));
    BOOST_TEST(failure.info().node == "node-0");
}

BOOST_AUTO_TEST_CASE(a_node_without_room_refuses_and_the_call_goes_elsewhere) {
    cluster all(sleeps, 2);
    auto& workers = all.machines[0]->workers.pool();
    all.machines[0]->setup.pools.clear();
    all.machines[0]->setup.pools.emplace("default", served_pool(
                                                        workers, [&workers] { return workers.load(); }, 0));
    all.machines[0]->leave();
    all.machines[0]->join();
    all.time.advance(2s);
    pool other =
        make_node_pool(certain_context(all.context), config_of_nodes(silent(1)), {}, all.bus.connect());
    all.time.run(other.start());
    std::vector<std::unique_ptr<running<reply>>> calls;
    for (int i = 0; i < 4; ++i) {
        auto& caller = i % 2 == 0 ? *all.client : other;
        calls.push_back(
            std::make_unique<running<reply>>(all.context, caller.execute(request("sleep").arg("ms", 1000))));
        all.time.advance(10ms);
    }
    all.time.advance(10s);
    for (const auto& each : calls) {
        BOOST_TEST(each->value().has_value());
    }
    all.time.run(other.shutdown());
}

BOOST_AUTO_TEST_CASE(a_node_with_more_workers_takes_more_calls) {
    cluster all(sleeps);
    all.time.advance(2s);
    size_limits size;
    size.min = size.max = 10;
    all.time.run(all.machines[0]->workers.pool().resize(size));
    all.time.advance(5s);
    std::vector<std::unique_ptr<running<reply>>> calls;
    for (int i = 0; i < 10; ++i) {
        calls.push_back(std::make_unique<running<reply>>(
            all.context, all.client->execute(request("sleep").arg("ms", 1000))));
    }
    all.time.advance(1500ms);
    for (const auto& each : calls) {
        BOOST_TEST(each->value().has_value());
    }
}

BOOST_AUTO_TEST_CASE(a_session_stays_at_its_node) {
    cluster all(
        [](fake_pool& workers) {
            workers.on("count", [n = std::make_shared<int>(0)](worker_call& call) {
                return call.session() + std::to_string(++*n);
            });
        },
        2);
    for (int i = 1; i <= 3; ++i) {
        const auto answer = all.call(request("count").session("s").affinity(affinity_mode::strict_queue));
        BOOST_TEST(answer.as<std::string>() == "s" + std::to_string(i));
    }
}

BOOST_AUTO_TEST_CASE(a_cancelled_call_ends_on_the_node) {
    bool was_cancelled = false;
    cluster all([&](fake_pool& workers) {
        workers.on("wait", [&](worker_call&) -> asio::awaitable<int> {
            try {
                co_await sleep_for(1h);
            } catch (const boost::system::system_error&) {
                was_cancelled = true;
                throw;
            }
            co_return 1;
        });
    });
    running<reply> call(all.context, all.client->execute(request("wait")));
    all.time.advance(100ms);
    call.cancel();
    all.time.advance(100ms);
    BOOST_TEST((call.problem() && call.problem()->kind() == errc::cancelled));
    BOOST_TEST(was_cancelled);
}

BOOST_AUTO_TEST_CASE(calls_wait_for_a_node_that_comes_later) {
    cluster all(doubles);
    all.machines[0]->leave();
    all.time.advance(100ms);
    running<reply> call(all.context, all.client->execute(request("double").arg("n", 1)));
    all.time.advance(2s);
    BOOST_TEST(!call.has_ended());
    all.machines[0]->join();
    all.time.advance(500ms);
    BOOST_TEST(call.value().has_value());
}

BOOST_AUTO_TEST_CASE(without_a_node_calls_end) {
    cluster all(doubles);
    all.machines[0]->leave();
    all.time.advance(100ms);
    const auto failure = all.failure_of_call(request("double").arg("n", 1));
    BOOST_TEST((failure.kind() == errc::no_node));
    BOOST_TEST(std::string(failure.what()).starts_with("no node is there"), failure.what());
    BOOST_TEST(failure.info().node.empty());
    BOOST_TEST(failure.info().attempts == 0);
}

BOOST_AUTO_TEST_CASE(the_slots_of_nodes_that_are_gone_for_good_go) {
    cluster all(doubles, 3);
    const auto slots = [&] {
        const auto status = all.time.run(all.client->status());
        return status.workers.size();
    };
    all.time.advance(2s);
    BOOST_TEST(slots() == 4u); // one waits for the next node
    all.machines[0]->leave();
    all.machines[1]->leave();
    all.time.advance(9min);
    BOOST_TEST(slots() == 4u);
    all.time.advance(2min);
    BOOST_TEST(slots() == 2u);
    all.machines[0]->join();
    all.time.advance(2s);
    BOOST_TEST(slots() == 3u);
    BOOST_TEST(all.call(request("double").arg("n", 21)).as<int>() == 42);
}

BOOST_AUTO_TEST_CASE(the_slots_of_invented_nodes_go_when_these_are_silent) {
    cluster all(doubles);
    const auto slots = [&] {
        const auto status = all.time.run(all.client->status());
        return status.workers.size();
    };
    all.time.advance(2s);
    {
        impostor crowd(all.context, all.bus);
        crowd.announce(50);
        all.time.advance(1s);
    }
    BOOST_TEST(slots() == 52u);
    BOOST_TEST(all.call(request("double").arg("n", 21)).as<int>() == 42);
    all.time.advance(20s);
    BOOST_TEST(slots() == 2u);
}

BOOST_AUTO_TEST_CASE(a_call_outlives_a_cut_of_the_bus) {
    cluster all(sleeps);
    running<reply> call(all.context, all.client->execute(request("sleep").arg("ms", 1000)));
    all.time.advance(100ms);
    all.bus.set_up(false);
    all.time.advance(3s);
    BOOST_TEST(!call.has_ended());
    all.bus.set_up(true);
    all.time.advance(500ms);
    BOOST_TEST(call.value().has_value());
}

BOOST_AUTO_TEST_CASE(a_silent_node_gets_no_calls_although_its_link_lasts) {
    cluster all(doubles, 2, 2);
    all.time.advance(100ms);
    all.bus.cut(0, true);
    all.time.advance(4s);
    for (int i = 0; i < 20; ++i) {
        const auto answer = all.call(request("double").arg("n", i).timeout(1s));
        BOOST_TEST((answer.node == "node-1"));
    }
    all.bus.cut(0, false);
    all.time.advance(1s); // the link is in reach again
    std::set<std::string> nodes;
    for (int i = 0; i < 20; ++i) {
        nodes.insert(all.call(request("double").arg("n", i)).node.value_or(""));
    }
    BOOST_TEST(nodes.size() == 2u);
    const auto status = all.time.run(all.client->status());
    BOOST_TEST(status.workers[0].id.generation == 1u);
}

BOOST_AUTO_TEST_CASE(calls_of_a_silent_node_are_lost_or_go_elsewhere) {
    cluster all(sleeps, 2, 2);
    all.time.advance(100ms);
    running<reply> plain(all.context, all.client->execute(request("sleep").arg("ms", 20'000)));
    running<reply> again(all.context,
                         all.client->execute(request("sleep").arg("ms", 20'000).idempotent(true)));
    all.time.advance(100ms);
    all.bus.cut(0, true);
    all.time.advance(8s);
    BOOST_TEST(!plain.value().has_value());
    all.time.advance(60s);
    BOOST_TEST(plain.has_ended());
    BOOST_TEST(again.value().has_value());
    BOOST_TEST((plain.problem().has_value() != again.problem().has_value() || plain.value().has_value()));
}

BOOST_AUTO_TEST_CASE(a_lost_node_is_named_with_the_reason) {
    cluster all(sleeps);
    running<reply> call(all.context, all.client->execute(request("sleep").arg("ms", 20'000)));
    all.time.advance(100ms);
    all.bus.cut(0, true);
    all.time.advance(15s);
    BOOST_REQUIRE(call.problem().has_value());
    const std::string text = call.problem()->what();
    BOOST_TEST((call.problem()->kind() == errc::node_lost));
    BOOST_TEST(call.problem()->info().node == "node-0");
    BOOST_TEST(text.starts_with("node node-0 was lost while it had the call: "), text);
    BOOST_TEST(text.find("channel") == std::string::npos, text);
    BOOST_TEST(text.find("mark the request idempotent") != std::string::npos, text);
    const auto absent = all.failure_of_call(request("sleep").arg("ms", 1).timeout(2s));
    BOOST_TEST((absent.kind() == errc::no_node));
    BOOST_TEST(std::string(absent.what()).find("node node-0 was lost: ") != std::string::npos, absent.what());
    all.bus.cut(0, false);
}

BOOST_AUTO_TEST_CASE(a_shutdown_lasts_until_the_connection_is_closed) {
    cluster all(doubles);
    all.bus.set_closing_time(3s);
    const auto begin = all.time.now();
    all.time.run(all.client->shutdown());
    const auto took = all.time.now() - begin;
    BOOST_TEST(took.count() >= duration(3s).count());
}

BOOST_AUTO_TEST_CASE(a_draining_node_finishes_its_calls) {
    cluster all(sleeps, 2);
    all.time.advance(100ms);
    running<reply> first(all.context, all.client->execute(request("sleep").arg("ms", 2'000)));
    running<reply> second(all.context, all.client->execute(request("sleep").arg("ms", 2'000)));
    all.time.advance(100ms);
    all.machines[0]->run(all.machines[0]->agent->drain());
    BOOST_TEST(all.machines[0]->agent->links() <= 1u);
    all.machines[0]->leave();
    all.time.advance(3s);
    BOOST_TEST(first.value().has_value());
    BOOST_TEST(second.value().has_value());
}

namespace {

/// The events of a bus that concern nodes, links and the connection, as "link.lost node-0".
class node_news {
public:
    node_news(event_bus& events, asio::io_context& context)
        : listening_(events.listen(context.get_executor(), [this](const event& what) { hear(what); })) {}

    std::string take() { return std::exchange(told_, {}); }

private:
    void hear(const event& what) {
        const std::string name(name_of(what));
        if (name.starts_with("node.") || name.starts_with("link.") || name.starts_with("bus.")) {
            const auto facts = to_json(what);
            told_ += (told_.empty() ? "" : ", ") + name;
            for (const auto* const fact : {"node", "client", "reason"}) {
                const auto* const text = facts.if_contains(fact);
                told_ += text != nullptr && !text->as_string().empty() ? " " + std::string(text->as_string())
                                                                       : std::string();
            }
        }
    }

    std::string told_;
    subscription listening_;
};

} // namespace

BOOST_AUTO_TEST_CASE(a_node_that_comes_and_goes_is_told_by_events) {
    cluster all(doubles);
    node_news news(all.client->events(), all.context);
    all.machines.push_back(
        std::make_unique<machine>(all.context, all.time, all.bus, "late", 1, workers_setup(doubles)));
    all.time.advance(2s);
    BOOST_TEST(news.take() == "node.joined late, link.opened late");
    all.machines[1]->run(all.machines[1]->agent->drain());
    all.time.advance(2s);
    BOOST_TEST(news.take() == "link.closed late drained, node.left late it drains");
    all.machines[1]->leave();
    all.machines[1]->join();
    all.time.advance(2s);
    BOOST_TEST(news.take() == "node.joined late, link.opened late");
}

BOOST_AUTO_TEST_CASE(a_link_that_is_lost_is_told_with_the_cause) {
    cluster all(doubles);
    node_news news(all.client->events(), all.context);
    all.bus.cut(0, true);
    all.time.advance(10s);
    BOOST_TEST(news.take() == "link.lost node-0 silence, node.left node-0 it is silent");
    all.bus.cut(0, false);
    all.time.advance(2s);
    BOOST_TEST(news.take() == "node.joined node-0, link.opened node-0");
}

BOOST_AUTO_TEST_CASE(a_cut_of_the_bus_is_told_once_and_its_links_go_on) {
    cluster all(doubles);
    node_news news(all.client->events(), all.context);
    all.bus.set_up(false);
    all.time.advance(1s);
    BOOST_TEST(news.take() == "bus.down");
    BOOST_TEST(!all.time.run(all.client->status()).remote->is_connected);
    all.bus.set_up(true);
    all.time.advance(1s);
    BOOST_TEST(news.take() == "bus.up, link.resumed node-0");
    const auto remote = all.time.run(all.client->status()).remote.value();
    BOOST_TEST(remote.is_connected);
    BOOST_TEST(remote.links.resumes == 1u);
}

BOOST_AUTO_TEST_CASE(a_status_has_each_node_with_its_load) {
    cluster all(sleeps, 2);
    running<reply> call(all.context, all.client->execute(request("sleep").arg("ms", 5000)));
    all.time.advance(3s);
    const auto status = all.time.run(all.client->status());
    BOOST_REQUIRE(status.remote.has_value());
    BOOST_REQUIRE(status.remote->nodes.size() == 2u);
    std::size_t own = 0;
    for (const auto& node : status.remote->nodes) {
        BOOST_TEST((node.state == node_state::linked));
        BOOST_TEST(node.places == 1u);
        BOOST_TEST(node.calls == node.own_calls);
        BOOST_TEST(!node.epoch.empty());
        BOOST_REQUIRE(node.worker.has_value());
        const auto worker = std::find_if(status.workers.begin(), status.workers.end(),
                                         [&](const auto& each) { return each.id == *node.worker; });
        BOOST_REQUIRE((worker != status.workers.end()));
        BOOST_TEST(worker->node == node.name);
        own += node.own_calls;
    }
    BOOST_TEST(own == 1u);
    all.time.advance(5s);
    BOOST_TEST(call.has_ended());
}

BOOST_AUTO_TEST_CASE(calls_are_counted_by_node_and_outcome) {
    cluster all([](fake_pool& workers) {
        doubles(workers);
        workers.on("fail", [](worker_call&) -> int { throw std::runtime_error("no"); });
    });
    for (int i = 0; i < 3; ++i) {
        all.call(request("double").arg("n", i));
    }
    all.failure_of_call(request("fail"));
    const auto metrics = all.time.run(all.client->metrics());
    BOOST_REQUIRE(metrics.nodes.size() == 1u);
    const auto& calls = metrics.nodes.at("node-0");
    BOOST_TEST(calls.succeeded == 3u);
    BOOST_TEST(calls.failed.at(errc::remote_error) == 1u);
}

BOOST_AUTO_TEST_CASE(a_node_tells_of_its_clients) {
    cluster all(doubles);
    event_bus events;
    auto& only = *all.machines.front();
    only.leave();
    node_news news(events, all.context);
    auto context = make_local_context(all.context.get_executor());
    context.events = {std::shared_ptr<void>(), &events};
    only.agent = std::make_shared<node_core>(std::move(context), only.setup, all.bus.connect());
    asio::post(only.agent->executor(), [agent = only.agent] { agent->start(); });
    all.time.advance(2s);
    BOOST_TEST(news.take() == "link.opened node-0 default");
    const auto status = only.agent->status();
    BOOST_REQUIRE(status.clients.size() == 1u);
    BOOST_TEST(status.clients[0].name == "default");
    BOOST_TEST(status.clients[0].pool == "default");
    all.bus.cut(0, true);
    all.time.advance(10s);
    BOOST_TEST(news.take() == "link.lost node-0 default silence");
    BOOST_TEST(only.agent->status().clients.empty());
    all.bus.cut(0, false);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
