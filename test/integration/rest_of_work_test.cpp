// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// io_context::run() returns after a shutdown, though whoever used the pool has kept all that the pool gave
// out.

#include "support/rest_of_work.hpp"
#include "support/run.hpp"

#include <boost/asio/detached.hpp>
#include <boost/test/unit_test.hpp>

#include <optional>

namespace skep::test {

namespace {

pool_config pool_of(const std::string& script) {
    auto config = quick(python_pool("integration/workers/" + script));
    config.stop.drain_timeout = 100ms;
    return config;
}

asio::awaitable<void> read_all(event_stream<> from, bool& has_ended) {
    for (bool more = true; more;) {
        auto waiting = from.next();
        const std::optional<event> next = co_await std::move(waiting);
        more = next.has_value();
    }
    has_ended = true;
}

} // namespace

BOOST_AUTO_TEST_SUITE(rest_of_work)

BOOST_AUTO_TEST_CASE(subscribers_of_a_pool) {
    const leak_audit audit;
    asio::io_context context;
    pool workers(context, pool_of("basic.py"));
    int told = 0;
    bool has_ended = false;
    const auto listening = workers.events().listen(context.get_executor(), [&](const event&) { ++told; });
    asio::co_spawn(context, read_all(workers.events().subscribe<>(), has_ended), asio::detached);
    auto live = [&]() -> asio::awaitable<void> {
        co_await workers.start();
        co_await workers.shutdown();
    };
    BOOST_TEST(runs_out_of_work(context, live()));
    BOOST_TEST(told > 0);
    BOOST_TEST(has_ended);
    auto late = workers.events().subscribe<>();
    const auto before = told;
    const auto late_listening =
        workers.events().listen(context.get_executor(), [&](const event&) { ++told; });
    auto call_late = [&]() -> asio::awaitable<void> {
        auto calling = workers.execute("echo");
        const auto refusal = co_await failure_of(std::move(calling));
        BOOST_TEST((refusal.kind() == errc::shutting_down));
        auto are_told = [&] { return told >= before + 2; };
        const bool both = co_await eventually(are_told);
        BOOST_TEST(both);
    };
    BOOST_TEST(runs_out_of_work(context, call_late()));
    has_ended = false;
    BOOST_TEST(runs_out_of_work(context, read_all(std::move(late), has_ended)));
    BOOST_TEST(has_ended);
}

BOOST_AUTO_TEST_CASE(a_lease_a_stream_and_a_call) {
    const leak_audit audit;
    asio::io_context context;
    pool workers(context, pool_of("streams.py"));
    pool others(context, pool_of("leases.py"));
    std::optional<reply_stream> stream;
    std::optional<lease> held;
    std::shared_ptr<background_call> calling;
    auto live = [&]() -> asio::awaitable<void> {
        co_await workers.start();
        co_await others.start();
        auto counting = request("count").arg("to", 1'000'000);
        stream = co_await workers.stream(std::move(counting));
        co_await stream->next();
        held = co_await others.checkout();
        co_await held->execute("count");
        calling = begin_call(context, workers, request("cleanups"));
        co_await workers.shutdown();
        co_await others.shutdown();
    };
    BOOST_TEST(runs_out_of_work(context, live()));
    BOOST_TEST(calling->is_done());
}

BOOST_AUTO_TEST_CASE(a_tool_that_waits) {
    const leak_audit audit;
    asio::io_context context;
    pool workers(context, pool_of("tools.py"));
    bool is_asked = false;
    workers.register_tool("wait", [&](tool_call asked) {
        is_asked = true;
        return wait_for_ever(std::move(asked));
    });
    std::shared_ptr<background_call> calling;
    auto live = [&]() -> asio::awaitable<void> {
        co_await workers.start();
        calling =
            begin_call(context, workers, request("ask").arg("name", "wait").arg("args", json::object()));
        auto has_asked = [&] { return is_asked; };
        const bool asked = co_await eventually(has_asked);
        BOOST_TEST(asked);
        co_await workers.shutdown();
    };
    BOOST_TEST(runs_out_of_work(context, live()));
    BOOST_TEST(calling->is_done());
}

BOOST_AUTO_TEST_CASE(a_manager_with_sessions_and_subscribers) {
    const leak_audit audit;
    asio::io_context context;
    manager_config config;
    config.pools = {pool_of("basic.py")};
    pool_manager pools(context, std::move(config));
    bool has_ended = false;
    const auto listening = pools.events().listen(context.get_executor(), [](const event&) {});
    asio::co_spawn(context, read_all(pools.events().subscribe<>(), has_ended), asio::detached);
    auto live = [&]() -> asio::awaitable<void> {
        co_await pools.start();
        auto creating = pools.sessions().create("visitor");
        co_await std::move(creating);
        auto calling = pools.execute(request("echo").arg("value", 1).session("visitor"));
        co_await std::move(calling);
        co_await pools.shutdown();
    };
    BOOST_TEST(runs_out_of_work(context, live()));
    BOOST_TEST(has_ended);
}

BOOST_AUTO_TEST_CASE(the_waits_of_a_shared_bus_are_ended_by_its_owner) {
    const leak_audit audit;
    asio::io_context context;
    auto config = pool_of("basic.py");
    config.events = std::make_shared<event_bus>();
    pool first(context, config);
    pool second(context, config);
    int told = 0;
    const auto listening = config.events->listen(context.get_executor(), [&](const event&) { ++told; });
    auto live = [&]() -> asio::awaitable<void> {
        co_await first.shutdown();
        const int before = told;
        co_await second.start();
        co_await second.shutdown();
        auto more = [&] { return told > before; };
        const bool is_told = co_await eventually(more);
        BOOST_TEST(is_told);
        config.events->end_waits();
        config.events->end_waits();
    };
    BOOST_TEST(runs_out_of_work(context, live()));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
