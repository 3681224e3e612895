// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// A service whose workers are on three nodes. One node is killed, and one ends in order. The nodes are
// processes of this machine; the service would not notice if each had a machine of its own.

#include "process.hpp"
#include <skep/remote_pool.hpp>
#include <skep/skep.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include <chrono>
#include <csignal>
#include <exception>
#include <iomanip>
#include <iostream>
#include <map>
#include <string>
#include <tuple>
#include <utility>

namespace asio = boost::asio;
using namespace asio::experimental::awaitable_operators;
using namespace std::chrono_literals;

namespace {

/// The server and the nodes.
struct cluster {
    explicit cluster(const std::string& port)
        : server({NATS_SERVER, "--addr", "127.0.0.1", "--port", port, "--log", "/dev/null"}) {
        for (const auto* name : {"a", "b", "c"}) {
            nodes.emplace(name, process({NODE_PROGRAM, name, "nats://127.0.0.1:" + port}));
        }
    }

    process server;
    std::map<std::string, process> nodes;
};

/// The answers to calls that run at the same time.
struct tally {
    int answers = 0;
    int resent = 0;                   ///< answered by another node than the first one
    std::map<std::string, int> nodes; ///< answers of each
    skep::duration time{};
};

std::ostream& operator<<(std::ostream& output, const tally& result) {
    output << result.answers << " answers in " << std::fixed << std::setprecision(1)
           << std::chrono::duration<double>(result.time).count() << " s:";
    for (const auto& [name, answers] : result.nodes) {
        output << ' ' << name << ' ' << answers;
    }
    return output;
}

asio::awaitable<void> draw(skep::remote_pool& pool, skep::request call, tally& result) {
    const auto answer = co_await pool.execute(std::move(call), skep::as_result);
    if (answer) {
        ++result.answers;
        result.resent += answer->attempts > 1;
        ++result.nodes[answer->as<std::string>()];
    } else {
        std::cout << "failed: " << answer.error().what() << '\n';
    }
}

/// Makes many copies of a call at once, and returns when all have ended.
asio::awaitable<tally> draw_many(skep::remote_pool& pool, int calls, skep::request call) {
    const auto begin = std::chrono::steady_clock::now();
    const auto executor = co_await asio::this_coro::executor;
    asio::steady_timer all_ended(executor, asio::steady_timer::time_point::max());
    tally result;
    int open_calls = calls;
    const auto on_end = [&](const std::exception_ptr&) {
        if (--open_calls == 0) {
            all_ended.cancel();
        }
    };
    for (int i = 0; i < calls; ++i) {
        asio::co_spawn(executor, draw(pool, call, result), on_end);
    }
    boost::system::error_code cancelled;
    co_await all_ended.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
    result.time = std::chrono::steady_clock::now() - begin;
    co_return result;
}

skep::request slow_call(double seconds = 0.2) {
    return skep::request("draw").arg("seconds", seconds);
}

/// Sends a signal to a node that has calls. Returns the node's exit code.
asio::awaitable<int> end(process& node, int signal) {
    const auto executor = co_await asio::this_coro::executor;
    asio::steady_timer pause(executor, 300ms);
    co_await pause.async_wait(asio::use_awaitable);
    node.signal(signal);
    const auto code = co_await node.ended();
    co_return code;
}

asio::awaitable<void> count(skep::remote_pool& pool) {
    auto call = skep::request("count").arg("to", 20);
    auto stream = co_await pool.stream(std::move(call));
    std::cout << "a stream:";
    while (const auto number = co_await stream.next()) {
        std::cout << ' ' << number->as<int>() << std::flush;
    }
    std::cout << ", counted by " << stream.result().as<std::string>() << '\n';
}

asio::awaitable<void> kill(skep::remote_pool& pool, process& node) {
    auto calls = draw_many(pool, 12, slow_call(1).idempotent(true)); // long enough to be killed
    auto killing = end(node, SIGKILL);
    auto both = std::move(calls) && std::move(killing);
    const auto outcome = co_await std::move(both);
    const auto& result = std::get<tally>(outcome);
    std::cout << "a is killed: " << result << "; " << result.resent << " calls were sent again\n";
}

asio::awaitable<void> drain(skep::remote_pool& pool, process& node) {
    auto calls = draw_many(pool, 12, slow_call());
    auto draining = end(node, SIGTERM);
    auto both = std::move(calls) && std::move(draining);
    const auto outcome = co_await std::move(both);
    std::cout << "b drains: " << std::get<tally>(outcome) << "; b has ended with " << std::get<int>(outcome)
              << '\n';
}

asio::awaitable<void> work(skep::remote_pool& pool, cluster& machines) {
    co_await pool.start();
    co_await pool.ready(machines.nodes.size());
    const auto three = co_await draw_many(pool, 24, slow_call());
    std::cout << "three nodes: " << three << '\n';
    co_await count(pool);
    co_await kill(pool, machines.nodes.at("a"));
    co_await drain(pool, machines.nodes.at("b"));
    const auto one = co_await draw_many(pool, 4, slow_call());
    std::cout << "one node: " << one << '\n';
}

/// Ends the service first, then the last node, then the server.
asio::awaitable<void> live(skep::remote_pool& pool, cluster& machines) {
    std::exception_ptr problem;
    try {
        co_await work(pool, machines);
    } catch (...) {
        problem = std::current_exception(); // C++ allows no co_await in here
    }
    co_await pool.shutdown();
    if (problem) {
        std::rethrow_exception(problem); // the processes end with the service
    }
    const auto node = co_await end(machines.nodes.at("c"), SIGTERM);
    const auto server = co_await end(machines.server, SIGINT);
    std::cout << "c has ended with " << node << ", the server with " << server << '\n';
}

std::string free_port(asio::io_context& context) {
    const asio::ip::tcp::endpoint any(asio::ip::address_v4::loopback(), 0);
    const asio::ip::tcp::acceptor probe(context, any);
    return std::to_string(probe.local_endpoint().port());
}

} // namespace

int main() try {
    asio::io_context context(1);
    const auto port = free_port(context);
    cluster machines(port);
    skep::remote_options options;
    options.nats.servers = {"nats://127.0.0.1:" + port};
    options.queue.timeout = 20s; // the nodes have to start
    skep::remote_pool pool(context, options);
    auto ended = asio::co_spawn(context, live(pool, machines), asio::use_future);
    context.run();
    ended.get(); // rethrows the exception of live()
} catch (const std::exception& problem) {
    std::cerr << "nodes: " << problem.what() << '\n';
    return 1;
}
