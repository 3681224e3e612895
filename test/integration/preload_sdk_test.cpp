// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Templates with the SDKs: the memory that their workers share, and the reasons against a fork. The whole
// suite runs with forked workers as well: see SKEP_TEST_PRELOAD.

#include "support/log_capture.hpp"
#include "support/run.hpp"

#include <set>

namespace skep::test {

namespace {

constexpr auto script_beginning = R"(
import os, socket, threading, time
import skep
try:
    from numpy import random
except ImportError:
    import random
worker = skep.Worker()
loaded_by = []
model = None

@worker.on_preload
def load():
    global model
    loaded_by.append(os.getpid())
    model = bytearray(b'1') * (96 << 20)

@worker.command
def about():
    return {"pid": os.getpid(), "loaded_by": loaded_by, "ones": model.count(b"1"), "draw": random.random()}
)";

/// A pool of a script with `lines` before its run.
pool_config preloaded(const scratch_folder& folder, const std::string& lines = {}, std::size_t workers = 1) {
    auto config = quick(python_pool("", workers));
    config.launch.args = {write_file(folder / "script.py", script_beginning + lines + "\nworker.run()\n")};
    config.launch.preload = true;
    config.start.timeout = 60s;
    config.schedule = scheduling::round_robin;
    return config;
}

asio::awaitable<json::object> about(pool& workers) {
    request call("about");
    const auto value = co_await value_of(workers, std::move(call));
    co_return value.as_object();
}

/// Checks that workers of a script start without a template, because of the objections.
void check_objections(const std::string& lines, const std::vector<std::string>& objections) {
    const scratch_folder folder;
    with_pool(preloaded(folder, lines), [&](pool& workers) -> asio::awaitable<void> {
        const auto facts = co_await about(workers);
        BOOST_TEST((facts.at("loaded_by") == json::array{facts.at("pid")}));
        const auto status = co_await workers.status();
        BOOST_REQUIRE(status.preload);
        BOOST_TEST((status.preload->state == template_state::refused));
        BOOST_TEST(status.preload->objections == objections, boost::test_tools::per_element());
    });
}

} // namespace

BOOST_AUTO_TEST_SUITE(preload_sdk)

BOOST_AUTO_TEST_CASE(workers_share_what_the_template_has_loaded_and_draw_different_numbers) {
    const scratch_folder folder;
    auto config = preloaded(folder, {}, 3);
    config.launch.preload_fallback = false;
    with_pool(config, [](pool& workers) -> asio::awaitable<void> {
        const auto status = co_await workers.status();
        std::set<std::int64_t> pids;
        std::set<double> drawn;
        for (int i = 0; i < 3; ++i) {
            const auto facts = co_await about(workers);
            BOOST_TEST((facts.at("loaded_by") == json::array{status.preload->pid}));
            BOOST_TEST(facts.at("ones").as_int64() == 96 << 20);
            pids.insert(facts.at("pid").as_int64());
            drawn.insert(facts.at("draw").as_double());
        }
        BOOST_TEST(pids.size() == 3u);
        BOOST_TEST(drawn.size() == 3u);
    });
}

BOOST_AUTO_TEST_CASE(memory_of_the_template_does_not_count_for_a_worker) {
    const scratch_folder folder;
    auto config = preloaded(folder);
    config.launch.preload_fallback = false;
    config.recycle.hard_memory = 64u << 20;
    config.recycle.memory_interval = 10ms;
    with_pool(config, [](pool& workers) -> asio::awaitable<void> {
        const auto first = co_await about(workers);
        auto is_measured = [&]() -> asio::awaitable<bool> {
            const auto status = co_await workers.status();
            co_return !status.workers.empty() && status.workers[0].resident_bytes > 0;
        };
        const bool measured = co_await eventually(is_measured);
        BOOST_TEST(measured);
        const auto second = co_await about(workers);
        BOOST_TEST((first.at("pid") == second.at("pid")));
    });
}

BOOST_AUTO_TEST_CASE(threads) {
    check_objections("threading.Thread(target=time.sleep, args=(600,), name='poller', daemon=True).start()",
                     {"1 thread: poller; start them in on_start"});
}

BOOST_AUTO_TEST_CASE(threads_of_a_library) {
    check_objections("import ctypes\nctypes.CDLL('" SKEP_THREAD_POOL "').start_pool(3, b'numeric')",
                     {"3 threads: numeric, numeric, numeric; start them in on_start"});
}

/// As of a channel of gRPC.
BOOST_AUTO_TEST_CASE(threads_and_an_event_loop) {
    check_objections("import ctypes, select\nctypes.CDLL('" SKEP_THREAD_POOL
                     "').start_pool(1, b'grpc_global_tim')\n"
                     "loop = select.epoll()\nos.dup2(loop.fileno(), 60)\nloop.close()",
                     {"1 thread: grpc_global_tim; start them in on_start",
                      "descriptor 60 is [eventpoll], as of an event loop: create it in on_start"});
}

BOOST_AUTO_TEST_CASE(connections) {
    check_objections(
        "ends = socket.socketpair()\nos.dup2(ends[0].fileno(), 60)\n[each.close() for each in ends]",
        {"descriptor 60 is a socket: open it in on_start"});
}

BOOST_AUTO_TEST_CASE(a_hook_that_fails_is_quoted) {
    const scratch_folder folder;
    auto config = preloaded(folder, "@worker.on_preload\ndef fail(): raise ValueError('no weights')\n");
    config.launch.preload_fallback = false;
    const auto failure = start_failure(config);
    BOOST_TEST(contains(failure.what(), "ValueError: no weights"), failure.what());
}

BOOST_AUTO_TEST_CASE(workers_in_cpp) {
    auto config = quick(python_pool("", 3));
    config.launch.args.clear();
    config.launch.program = SKEP_CPP_WORKER;
    config.launch.preload = true;
    config.launch.preload_fallback = false;
    config.schedule = scheduling::round_robin;
    with_pool(config, [](pool& workers) -> asio::awaitable<void> {
        const auto status = co_await workers.status();
        BOOST_TEST(status.preload->forks == 3u);
        for (int i = 0; i < 3; ++i) {
            request call("loader");
            const auto loader = co_await value_of(workers, std::move(call));
            BOOST_TEST(loader.to_number<pid_t>() == status.preload->pid);
        }
    });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
