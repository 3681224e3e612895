// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "survey.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json/value_to.hpp>

#include <algorithm>
#include <csignal>
#include <stdexcept>
#include <vector>

namespace asio = boost::asio;
namespace json = boost::json;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t calls_in_flight = 16;

module_facts to_facts(const std::string& path, const json::value& answer) {
    module_facts facts;
    facts.lines = answer.at("lines").to_number<std::size_t>();
    facts.functions = answer.at("functions").to_number<std::size_t>();
    facts.classes = answer.at("classes").to_number<std::size_t>();
    if (const auto* longest = answer.at("longest").if_object()) {
        facts.longest = json::value_to<std::string>(longest->at("name")) + " in " + path;
        facts.longest_lines = longest->at("lines").to_number<std::size_t>();
    }
    return facts;
}

} // namespace

asio::awaitable<void> survey::run() {
    co_await pool_.start();
    co_await list_modules();
    co_await read_modules();
}

asio::awaitable<void> survey::list_modules() {
    const auto answer = co_await pool_.execute("modules");
    found_.root = json::value_to<std::string>(answer.value.at("root"));
    found_.paths = json::value_to<std::vector<std::string>>(answer.value.at("paths"));
}

/// Several coroutines take modules from one list; their number bounds the calls in flight. The first failure,
/// or a cancellation of the caller, ends the other coroutines. Returns when all have ended.
asio::awaitable<void> survey::read_modules() {
    const auto executor = co_await asio::this_coro::executor;
    const auto reader = [&] { return asio::co_spawn(executor, read_until_none_is_left(), asio::deferred); };
    std::vector<decltype(reader())> readers;
    for (std::size_t i = 0; i < calls_in_flight; ++i) {
        readers.push_back(reader());
    }
    auto group = asio::experimental::make_parallel_group(std::move(readers));
    const asio::experimental::wait_for_one_error until;
    const auto ends = co_await group.async_wait(until, asio::use_awaitable);
    const auto& [order, problems] = ends;
    for (const auto index : order) {
        if (problems[index]) {
            std::rethrow_exception(problems[index]);
        }
    }
}

asio::awaitable<void> survey::read_until_none_is_left() {
    while (next_ < found_.paths.size()) {
        const auto& path = found_.paths[next_++];
        co_await read_module(path);
        screen_.progress(found_.done(), found_.paths.size());
        if (!has_killed_ && found_.done() * 2 >= found_.paths.size()) {
            has_killed_ = true;
            co_await kill_a_busy_worker();
        }
    }
}

asio::awaitable<void> survey::read_module(std::string path) {
    // Reading a file twice is harmless, so the pool may repeat the call after the loss of its worker.
    auto call = skep::request("read").arg("path", path).idempotent(true);
    try {
        const auto answer = co_await pool_.execute(std::move(call));
        found_.add(path, to_facts(path, answer.value));
        if (answer.attempts > 1) {
            found_.retried.push_back(path);
        }
    } catch (const skep::error& problem) {
        if (problem.code() == skep::errc::cancelled) throw;
        note_failure(path, problem);
    }
}

void survey::note_failure(const std::string& path, const skep::error& problem) {
    if (problem.code() == skep::errc::remote_error) {
        found_.not_parsed.push_back(
            {path, problem.info().remote_type + ": " + problem.info().remote_message});
    } else {
        found_.lost.push_back({path, problem.what()});
    }
}

asio::awaitable<void> survey::kill_a_busy_worker() {
    const auto before = co_await pool_.status();
    const auto victim = std::find_if(before.workers.begin(), before.workers.end(),
                                     [](const skep::worker_status& worker) { return worker.load > 0; });
    if (victim == before.workers.end()) {
        co_return;
    }
    screen_.line("half-way: SIGKILL to " + describe(*victim) + ", in the middle of a module");
    ::kill(victim->pid, SIGKILL);
    const auto replacement = co_await replacement_of(victim->id);
    const auto after = co_await pool_.status();
    screen_.line(
        "healed:   " + describe(replacement) +
        " took its place; calls sent again to another worker: " + std::to_string(after.counters.retried));
}

asio::awaitable<skep::worker_status> survey::replacement_of(skep::worker_id gone) {
    const auto executor = co_await asio::this_coro::executor;
    asio::steady_timer timer(executor);
    for (int i = 0; i < 1000; ++i) {
        const auto now = co_await pool_.status();
        for (const auto& worker : now.workers) {
            if (worker.id.slot == gone.slot && worker.id.generation > gone.generation &&
                is_running(worker.state)) {
                co_return worker;
            }
        }
        timer.expires_after(10ms);
        co_await timer.async_wait(asio::use_awaitable);
    }
    throw std::runtime_error(to_string(gone) + " was not replaced within 10 s");
}
