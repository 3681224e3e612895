// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// skep_bench_remote MODE KEY=VALUE...: one round of one measurement of calls on nodes, or of the same calls
// on this machine. place=local or remote; nodes=1,4: nodes with so many workers each.

#include "cluster.hpp"
#include "load.hpp"
#include "raw_nats.hpp"
#include <skep/node_agent.hpp>
#include <skep/pool_manager.hpp>
#include <skep/remote_pool.hpp>

#include <boost/asio/signal_set.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <csignal>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

namespace skep::bench {

namespace {

// --- The places of calls -----------------------------------------------------------------------------------

/// What runs the calls, and the CPU time of its processes.
struct place {
    call_interface& calls;
    std::function<cpu_times()> cpu;
};

using measured_at = std::function<asio::awaitable<figures>(place)>;

remote_options options_for(const cluster& machines) {
    remote_options options;
    options.nats.servers = {machines.url()};
    options.queue.timeout = std::chrono::seconds(30);
    return options;
}

/// Starts a node for each number of workers in `list`, such as "1,4". Returns the number of nodes.
std::size_t add_nodes(cluster& machines, const arguments& args, const std::string& list) {
    std::vector<std::string> common;
    for (const auto* key : {"script", "python", "worker", "capacity", "pipeline", "queue_per_place"}) {
        if (args.has(key)) {
            common.push_back(std::string(key) + '=' + args.text(key));
        }
    }
    std::istringstream numbers(list);
    std::size_t count = 0;
    for (std::string workers; std::getline(numbers, workers, ','); ++count) {
        auto pairs = common;
        pairs.push_back("workers=" + workers);
        pairs.push_back("name=node" + std::to_string(count));
        machines.add("node", pairs);
    }
    return count;
}

asio::awaitable<void> start_and_stop_remote(remote_pool& pool, std::size_t nodes,
                                            std::function<asio::awaitable<void>()> body) {
    co_await pool.start();
    co_await pool.ready(nodes);
    co_await body();
    co_await pool.shutdown();
}

figures measure_remote(const arguments& args, const measured_at& measure) {
    cluster machines;
    const auto nodes = add_nodes(machines, args, args.text("nodes", "1"));
    context_group contexts(threads(1));
    remote_pool pool(contexts.first(), options_for(machines));
    figures measured;
    auto body = [&]() -> asio::awaitable<void> {
        place here{pool, [&] { return machines.cpu(); }};
        measured = co_await measure(here);
    };
    asio::co_spawn(contexts.first(), start_and_stop_remote(pool, nodes, body),
                   [&](const std::exception_ptr& problem) {
                       contexts.stop();
                       rethrow(problem);
                   });
    contexts.run();
    return measured;
}

figures measure_local(const arguments& args, const measured_at& measure) {
    figures measured;
    auto body = [&](pool& workers) -> asio::awaitable<void> {
        co_await workers.ready(args.number("workers", 1));
        place here{workers, &local_cpu};
        measured = co_await measure(here);
    };
    with_pool(make_config(args), body);
    return measured;
}

figures measure_place(const arguments& args, const measured_at& measure) {
    return args.text("place") == "local" ? measure_local(args, measure) : measure_remote(args, measure);
}

// --- Calls -------------------------------------------------------------------------------------------------

/// Callers that each make one call after the other.
struct load {
    std::function<request()> make_call;
    std::function<bool(const reply&)> is_right;
    std::size_t callers = 1;

    bool is_measured = false;
    bool stop = false;
    std::size_t at_work = 0;
    std::vector<double> samples;              ///< microseconds
    std::map<std::string, std::size_t> nodes; ///< answers of each; without a name: of this machine
};

asio::awaitable<void> keep_calling(call_interface& calls, load& all) {
    while (!all.stop) {
        auto call = all.make_call();
        const auto begin = now();
        const reply answer = co_await calls.execute(std::move(call));
        const auto time = seconds(now() - begin);
        if (!all.is_right(answer)) {
            throw std::runtime_error("a call has a wrong answer");
        }
        if (all.is_measured) {
            all.samples.push_back(time.count() * 1e6);
            ++all.nodes[answer.node.value_or(std::string())];
        }
    }
}

asio::awaitable<void> gather(call_interface& calls, load& all) {
    const auto executor = co_await asio::this_coro::executor;
    all.samples.reserve(1u << 18);
    all.at_work = all.callers;
    for (std::size_t i = 0; i < all.callers; ++i) {
        asio::co_spawn(executor, keep_calling(calls, all), [&all](const std::exception_ptr& problem) {
            --all.at_work;
            rethrow(problem);
        });
    }
}

/// Measures all calls that end within `span`: calls per second, latencies in microseconds, and CPU time of
/// each kind of process.
asio::awaitable<figures> measure_load(place here, load& all, seconds span) {
    const auto whole = std::chrono::duration_cast<duration>(span);
    co_await gather(here.calls, all);
    co_await pause(whole / 4);
    const auto cpu = here.cpu();
    const auto begin = now();
    all.is_measured = true;
    co_await pause(whole);
    all.is_measured = false;
    const auto calls = static_cast<double>(all.samples.size());
    auto measured = cpu_of_one(here.cpu() - cpu, calls);
    measured.emplace_back("calls_per_s", calls / seconds(now() - begin).count());
    measured.emplace_back("p50_us", percentile(all.samples, 0.5));
    measured.emplace_back("p99_us", percentile(all.samples, 0.99));
    all.stop = true;
    while (all.at_work > 0) {
        co_await pause(std::chrono::milliseconds(1));
    }
    co_return measured;
}

load echo_load(std::size_t callers) {
    load all;
    all.make_call = [] { return request("echo").arg("value", small_value); };
    all.is_right = [](const reply& answer) { return answer.value.is_string(); };
    all.callers = callers;
    return all;
}

double value_of(const figures& measured, const std::string& name) {
    const auto found =
        std::find_if(measured.begin(), measured.end(), [&](const auto& each) { return each.first == name; });
    return found->second;
}

/// place=, callers=, span=: the figures of measure_load.
figures measure_calls(const arguments& args) {
    auto all = echo_load(args.number("callers"));
    const measured_at measure = [&](place here) { return measure_load(here, all, args.span("span")); };
    return measure_place(args, measure);
}

/// form=, span=: p50 and CPU time in microseconds of a message to an echo and back by cnats, plus those of a
/// call of a local pool.
figures measure_strict_parts(const arguments& args) {
    auto all = echo_load(1);
    const measured_at measure = [&](place here) { return measure_load(here, all, args.span("span")); };
    const auto message = measure_raw_strict(args);
    const auto call = measure_local(args, measure);
    figures sums;
    for (const auto* name : {"p50_us", "all_us"}) {
        sums.emplace_back(name, value_of(message, name) + value_of(call, name));
    }
    return sums;
}

/// place=, callers=, span=, microseconds=: calls that take that time; share of the node "node0" in percent,
/// and p99 by p50.
figures measure_split(const arguments& args) {
    load all;
    const auto time = args.number("microseconds");
    all.make_call = [time] { return request("work").arg("microseconds", time); };
    all.is_right = [](const reply& answer) { return answer.value.is_null(); };
    all.callers = args.number("callers");
    const measured_at measure = [&](place here) { return measure_load(here, all, args.span("span")); };
    auto measured = measure_place(args, measure);
    const auto answers = static_cast<double>(all.samples.size());
    measured.emplace_back("first_percent", 100 * static_cast<double>(all.nodes["node0"]) / answers);
    measured.emplace_back("p99_by_p50", value_of(measured, "p99_us") / value_of(measured, "p50_us"));
    return measured;
}

/// place=, bytes=, span=: attachments there and back, one at a time, in MB/s of both ways together.
figures measure_attachments(const arguments& args) {
    const std::string text(args.number("bytes"), 'x');
    const auto bytes = blob::copy_of(std::as_bytes(std::span(text)));
    load all;
    all.make_call = [&] { return request("echo_bytes").attach(bytes); };
    all.is_right = [&](const reply& answer) { return answer.attachments.at(0).size() == bytes.size(); };
    const measured_at measure = [&](place here) { return measure_load(here, all, args.span("span")); };
    auto measured = measure_place(args, measure);
    const auto both_ways = 2 * static_cast<double>(bytes.size());
    measured.emplace_back("mb_per_s", both_ways / value_of(measured, "p50_us"));
    return measured;
}

/// elsewhere=0 or 1, callers=, span=: the figures of measure_load, of the local calls of a pool_manager. With
/// elsewhere=1, the manager has a remote place too, and `worker_us` includes server and node.
figures measure_manager(const arguments& args) {
    std::unique_ptr<cluster> machines;
    context_group contexts(threads(1));
    std::shared_ptr<remote_pool> elsewhere;
    if (args.number("elsewhere") == 1) {
        machines = std::make_unique<cluster>();
        add_nodes(*machines, args, "1");
        elsewhere = std::make_shared<remote_pool>(contexts.first(), options_for(*machines));
    }
    pool_manager manager(contexts.first());
    manager.add(make_config(args));
    auto all = echo_load(args.number("callers"));
    figures measured;
    const auto live = [&]() -> asio::awaitable<void> {
        if (elsewhere) {
            co_await elsewhere->start();
            manager.add("default", elsewhere);
        }
        co_await manager.start();
        place here{manager, &local_cpu};
        measured = co_await measure_load(here, all, args.span("span"));
        co_await manager.shutdown();
        if (elsewhere) {
            co_await elsewhere->shutdown();
        }
    };
    asio::co_spawn(contexts.first(), live(), [&](const std::exception_ptr& problem) {
        contexts.stop();
        rethrow(problem);
    });
    contexts.run();
    if (all.nodes.size() != 1 || !all.nodes.contains("")) {
        throw std::runtime_error("a call went to the other place");
    }
    return measured;
}

// --- Streams -----------------------------------------------------------------------------------------------

asio::awaitable<figures> measure_chunks(place here, seconds span) {
    request call("tokens");
    auto stream = co_await here.calls.stream(std::move(call));
    const auto receive_until = [&](time_point end) -> asio::awaitable<double> {
        double chunks = 0;
        for (; now() < end; ++chunks) {
            co_await stream.next();
        }
        co_return chunks;
    };
    const auto whole = std::chrono::duration_cast<duration>(span);
    const auto warm = now() + whole / 4;
    co_await receive_until(warm);
    const auto cpu = here.cpu();
    const auto begin = now();
    const auto end = begin + whole;
    const auto chunks = co_await receive_until(end);
    const auto rate = chunks / seconds(now() - begin).count();
    auto measured = cpu_of_one(here.cpu() - cpu, chunks);
    measured.emplace_back("chunks_per_s", rate);
    co_return measured;
}

/// place=, span=: chunks per second of one stream, and the CPU time in microseconds for a chunk.
figures measure_stream(const arguments& args) {
    const measured_at measure = [&](place here) { return measure_chunks(here, args.span("span")); };
    return measure_place(args, measure);
}

// --- Clients without calls ---------------------------------------------------------------------------------

asio::awaitable<void> start_all(std::deque<remote_pool>& clients, std::size_t nodes) {
    for (auto& each : clients) {
        co_await each.start();
    }
    for (auto& each : clients) {
        co_await each.ready(nodes);
    }
}

/// CPU time of one node, of the server and of one client in milliseconds per second, and KiB of a node and of
/// a client for one link.
asio::awaitable<figures> measure_idle_links(cluster& machines, std::deque<remote_pool>& clients,
                                            std::size_t nodes, seconds span) {
    const auto links = static_cast<double>(clients.size() * nodes);
    const auto node_memory = machines.resident_bytes();
    const auto client_memory = resident_bytes();
    co_await start_all(clients, nodes);
    co_await pause(std::chrono::seconds(2));
    const auto cpu = machines.cpu();
    co_await pause(std::chrono::duration_cast<duration>(span));
    const auto spent = machines.cpu() - cpu;
    const auto per_second = [span](seconds time, std::size_t programs) {
        return time.count() * 1e3 / span.count() / static_cast<double>(programs);
    };
    figures measured{{"node_ms_per_s", per_second(spent.node, nodes)},
                     {"server_ms_per_s", per_second(spent.server, 1)},
                     {"client_ms_per_s", per_second(spent.client, clients.size())},
                     {"node_kib_per_link", (machines.resident_bytes() - node_memory) / 1024 / links},
                     {"client_kib_per_link", (resident_bytes() - client_memory) / 1024 / links}};
    for (auto& each : clients) {
        co_await each.shutdown();
    }
    co_return measured;
}

/// clients=, nodes=1,1,...: the figures of measure_idle_links.
figures measure_idle_clients(const arguments& args) {
    cluster machines;
    const auto nodes = add_nodes(machines, args, args.text("nodes"));
    context_group contexts(threads(1));
    std::deque<remote_pool> clients;
    for (auto count = args.number("clients"); count > 0; --count) {
        clients.emplace_back(contexts.first(), options_for(machines));
    }
    remote_pool first(contexts.first(), options_for(machines));
    figures measured;
    auto body = [&]() -> asio::awaitable<void> {
        measured = co_await measure_idle_links(machines, clients, nodes, args.span("span"));
    };
    asio::co_spawn(contexts.first(), start_and_stop_remote(first, nodes, body),
                   [&](const std::exception_ptr& problem) {
                       contexts.stop();
                       rethrow(problem);
                   });
    contexts.run();
    return measured;
}

// --- The node's process ------------------------------------------------------------------------------------

asio::awaitable<void> serve_until_signal(pool& workers, const node_options& options) {
    const auto executor = co_await asio::this_coro::executor;
    asio::signal_set end(executor, SIGTERM);
    node_agent agent(executor, workers, options);
    co_await agent.start();
    co_await end.async_wait(asio::use_awaitable);
    co_await agent.stop();
}

/// url=, name=, workers=, queue_per_place= if not the default: a node, until SIGTERM.
figures serve_node(const arguments& args) {
    node_options options;
    options.nats.servers = {args.text("url")};
    options.name = args.text("name");
    if (args.has("queue_per_place")) {
        options.queue_per_place = static_cast<double>(args.number("queue_per_place"));
    }
    auto body = [&](pool& workers) { return serve_until_signal(workers, options); };
    with_pool(make_config(args), body);
    return {};
}

} // namespace

} // namespace skep::bench

int main(int count, char** values) {
    using namespace skep::bench;
    return run_mode(count, values,
                    {{"calls", measure_calls},
                     {"strict-parts", measure_strict_parts},
                     {"split", measure_split},
                     {"attachments", measure_attachments},
                     {"manager", measure_manager},
                     {"stream", measure_stream},
                     {"idle", measure_idle_clients},
                     {"raw-strict", measure_raw_strict},
                     {"raw-deep", measure_raw_deep},
                     {"raw-echo", serve_raw_echo},
                     {"node", serve_node}});
}
