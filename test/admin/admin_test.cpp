// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// What an admin server shows, and how it begins and ends.

#include "admin/admin_client.hpp"
#include "support/config.hpp"
#include "support/other_pool.hpp"

#include <boost/json/parse.hpp>

#include <optional>
#include <string>
#include <thread>
#include <utility>

namespace skep::test {

BOOST_AUTO_TEST_SUITE(admin_suite)

BOOST_AUTO_TEST_CASE(shows_what_there_is) {
    with_page(basic_pool(2), {}, [](pool&, unsigned short port) -> asio::awaitable<void> {
        std::string answer = co_await get(port, "/livez");
        BOOST_TEST(status_line(answer) == "HTTP/1.1 200 OK");
        answer = co_await get(port, "/readyz?verbose");
        BOOST_TEST(status_line(answer) == "HTTP/1.1 200 OK");
        BOOST_TEST(body_of(answer) == "ok\n");
        answer = co_await get(port, "/healthz");
        BOOST_TEST(body_of(answer) == "ok\n");
        answer = co_await get(port, "/metrics");
        BOOST_TEST(contains(answer, "Content-Type: text/plain; version=0.0.4"));
        BOOST_TEST(contains(answer, "skep_workers_started_total{pool=\"default\"} 2"));
        answer = co_await get(port, "/status.json");
        const auto seen = json::parse(body_of(answer));
        BOOST_TEST(seen.at("pools").at(0).at("status").at("live").to_number<int>() == 2);
        answer = co_await get(port, "/");
        BOOST_TEST(contains(answer, "Content-Security-Policy: default-src 'none'"));
        BOOST_TEST(contains(answer, "<!DOCTYPE html>"));
        answer = co_await get(port, "/elsewhere");
        BOOST_TEST(status_line(answer) == "HTTP/1.1 404 Not Found");
    });
}

BOOST_AUTO_TEST_CASE(a_pool_that_cannot_serve_is_not_ready) {
    with_page(basic_pool(1), {}, [](pool& workers, unsigned short port) -> asio::awaitable<void> {
        co_await workers.suspend();
        co_await pause(a_moment);
        std::string answer = co_await get(port, "/readyz");
        BOOST_TEST(status_line(answer) == "HTTP/1.1 503 Service Unavailable");
        BOOST_TEST(body_of(answer) == "pool default cannot serve\n");
        answer = co_await get(port, "/livez");
        BOOST_TEST(status_line(answer) == "HTTP/1.1 200 OK");
        co_await workers.resume();
        co_await pause(a_moment);
        answer = co_await get(port, "/readyz");
        BOOST_TEST(status_line(answer) == "HTTP/1.1 200 OK");
    });
}

BOOST_AUTO_TEST_CASE(a_busy_pool_is_ready) {
    with_page(basic_pool(1), {}, [](pool& workers, unsigned short port) -> asio::awaitable<void> {
        const auto executor = co_await asio::this_coro::executor;
        auto& context = static_cast<asio::io_context&>(asio::query(executor, asio::execution::context));
        const auto working = begin_call(context, workers, request("sleep").arg("seconds", 0.3));
        const std::string answer = co_await get(port, "/readyz");
        BOOST_TEST(status_line(answer) == "HTTP/1.1 200 OK");
        auto is_done = [&] { return working->is_done(); };
        co_await eventually(is_done);
    });
}

BOOST_AUTO_TEST_CASE(methods) {
    with_page(basic_pool(1), {}, [](pool&, unsigned short port) -> asio::awaitable<void> {
        std::string answer =
            co_await ask(port, "HEAD / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        BOOST_TEST(status_line(answer) == "HTTP/1.1 200 OK");
        BOOST_TEST(body_of(answer).empty());
        BOOST_TEST(!contains(answer, "Content-Length: 0"));
        for (const auto* path : {"/", "/metrics", "/events"}) {
            answer = co_await post(port, path);
            BOOST_TEST(status_line(answer) == "HTTP/1.1 405 Method Not Allowed", path);
        }
        answer = co_await get(port, "/pools/default/suspend");
        BOOST_TEST(status_line(answer) == "HTTP/1.1 405 Method Not Allowed");
    });
}

BOOST_AUTO_TEST_CASE(a_page_is_told_what_happens) {
    with_page(basic_pool(1), changeable(), [](pool& workers, unsigned short port) -> asio::awaitable<void> {
        const auto executor = co_await asio::this_coro::executor;
        client page(executor);
        co_await page.connect(port);
        co_await page.send("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n");
        const std::string head = co_await page.read_until("\r\n\r\n");
        BOOST_TEST(contains(head, "text/event-stream"));
        const std::string host = co_await page.read_until("\n\n");
        BOOST_TEST(host.starts_with("event: host\ndata: {\"version\":"));
        const std::string history = co_await page.read_until("\n\n");
        BOOST_TEST(history.starts_with("event: history\ndata: {\"events\":["));
        request call = request("say").arg("text", "a line\u2028 of \x01 output").correlation_id("c");
        co_await workers.execute(std::move(call));
        std::string told = co_await page.read_until("event: output");
        BOOST_TEST(contains(told, "event: happened"));
        BOOST_TEST(contains(told, "\"event\":\"request.started\""));
        told = co_await page.read_until("\n\n");
        BOOST_TEST(contains(told, "\\u0001 output"), told);
        told = co_await page.read_until("event: pools");
        told = co_await page.read_until("\n\n");
        BOOST_TEST(contains(told, "\"may_change\":true"));
        BOOST_TEST(contains(told, "\"sample\":{\"at_ms\":"));
    });
}

BOOST_AUTO_TEST_CASE(all_pools_of_a_manager) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        manager_config config;
        config.pools = {quick(basic_pool(1)), quick(basic_pool(1))};
        config.pools[1].name = "second";
        pool_manager pools(context, config);
        co_await pools.start();
        admin_server admin(context.get_executor(), pools, changeable());
        std::string answer = co_await get(admin.port(), "/metrics");
        BOOST_TEST(contains(answer, "skep_pool_can_serve{pool=\"second\"} 1"));
        answer = co_await post(admin.port(), "/pools/second/suspend");
        BOOST_TEST(answer.ends_with("done\n"));
        answer = co_await get(admin.port(), "/readyz");
        BOOST_TEST(body_of(answer) == "pool second cannot serve\n");
        answer = co_await post(admin.port(), "/pools/third/suspend");
        BOOST_TEST(status_line(answer) == "HTTP/1.1 404 Not Found");
        co_await admin.stop();
        co_await pools.shutdown();
    });
}

BOOST_AUTO_TEST_CASE(it_may_go_at_any_time) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        pool workers(context, quick(basic_pool(1)));
        co_await workers.start();
        client page(context.get_executor());
        {
            const admin_server admin(context.get_executor(), workers, {});
            BOOST_TEST(admin.url() == "http://127.0.0.1:" + std::to_string(admin.port()) + "/");
            co_await page.connect(admin.port());
            co_await page.send("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n");
            co_await page.read_until("event: history");
        }
        co_await page.read_all(); // it is closed
        const auto report = co_await workers.shutdown();
        BOOST_TEST(report.clean());
    });
}

BOOST_AUTO_TEST_CASE(a_pool_whose_executor_is_busy_holds_up_nobody) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        asio::io_context busy; // nobody runs it for now
        pool workers(busy, quick(basic_pool(1)));
        admin_server admin(context.get_executor(), workers, {});
        for (int i = 0; i < 2; ++i) {
            const std::string answer = co_await get(admin.port(), "/readyz");
            BOOST_TEST(body_of(answer) == "pool default does not answer\n");
        }
        std::string answer = co_await get(admin.port(), "/status.json");
        BOOST_TEST(body_of(answer) == "{\"pools\":[]}\n");
        auto work = std::make_optional(asio::make_work_guard(busy));
        std::thread runner([&busy] { busy.run(); });
        auto has_answered = [&]() -> asio::awaitable<bool> {
            answer = co_await get(admin.port(), "/readyz");
            co_return body_of(answer) == "pool default cannot serve\n"; // it is not started
        };
        const bool answers = co_await eventually(has_answered);
        work.reset();
        runner.join();
        BOOST_TEST(answers);
        co_await admin.stop();
    });
}

BOOST_AUTO_TEST_CASE(after_stop_nobody_listens) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        pool workers(context, quick(basic_pool(1)));
        admin_server admin(context.get_executor(), workers, {});
        const auto port = admin.port();
        const std::string answer = co_await get(port, "/readyz"); // of a pool that is not started
        BOOST_TEST(status_line(answer) == "HTTP/1.1 503 Service Unavailable");
        co_await admin.stop();
        co_await admin.stop();
        client late(context.get_executor());
        bool refused = false;
        try {
            co_await late.connect(port);
        } catch (const boost::system::system_error&) {
            refused = true;
        }
        BOOST_TEST(refused);
    });
}

BOOST_AUTO_TEST_CASE(options_that_break_a_rule) {
    asio::io_context context;
    pool workers(context, basic_pool(1));
    const auto complaint_about = [&](admin_options options) {
        return complaint([&] { admin_server(context.get_executor(), workers, std::move(options)); });
    };
    admin_options options;
    options.address = "localhost";
    BOOST_TEST(contains(complaint_about(options), "address = \"localhost\": must be an IP address"));
    options = {};
    const std::string with_spaces = "sixteen or more?";
    options.token = with_spaces;
    BOOST_TEST(contains(complaint_about(options), "token"));
    BOOST_TEST(!contains(complaint_about(options), with_spaces));
    options = {};
    options.connections = 0;
    BOOST_TEST(contains(complaint_about(options), "connections = 0: must be 1..10000"));
    const admin_server first(context.get_executor(), workers, {});
    options = {};
    options.port = first.port();
    BOOST_TEST(contains(complaint_about(options), "Address already in use"));
}

BOOST_AUTO_TEST_CASE(a_pool_of_nodes_is_shown_and_its_workers_cannot_be_changed) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        other_pool nodes(context.get_executor(), "nodes");
        nodes.add_node("gpu-7");
        nodes.add_node("gpu-8", node_state::ejected);
        admin_server admin(context.get_executor(), nodes, changeable());
        std::string answer = co_await get(admin.port(), "/status.json");
        BOOST_TEST(contains(answer, R"("name":"gpu-8","epoch":"epoch","state":"ejected")"), answer);
        answer = co_await get(admin.port(), "/metrics");
        BOOST_TEST(contains(answer, R"(skep_nodes{pool="nodes",state="ejected"} 1)"));
        answer = co_await get(admin.port(), "/readyz");
        BOOST_TEST(body_of(answer) == "ok\n");
        for (const auto* const path : {"/pools/nodes/restart", "/pools/nodes/workers/0.1/restart"}) {
            answer = co_await post(admin.port(), path);
            BOOST_TEST(status_line(answer) == "HTTP/1.1 400 Bad Request");
            BOOST_TEST(contains(answer, "the workers of pool nodes are nodes"), answer);
        }
        answer = co_await post(admin.port(), "/pools/nodes/call", R"({"command":"c"})");
        BOOST_TEST(status_line(answer) == "HTTP/1.1 409 Conflict", answer);
        co_await admin.stop();
    });
}

BOOST_AUTO_TEST_CASE(a_place_is_ready_if_the_local_pool_or_the_nodes_can_serve) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        manager_config config;
        config.pools = {quick(basic_pool(1))};
        pool_manager pools(context, config);
        const auto nodes = std::make_shared<other_pool>(context.get_executor(), "default");
        pools.add("default", nodes);
        co_await pools.start();
        admin_server admin(context.get_executor(), pools, changeable());
        std::string answer = co_await get(admin.port(), "/readyz"); // the local pool
        BOOST_TEST(body_of(answer) == "ok\n");
        answer = co_await post(admin.port(), "/pools/default/suspend");
        answer = co_await get(admin.port(), "/readyz");
        BOOST_TEST(body_of(answer) == "pool default cannot serve\npool default-elsewhere cannot serve\n");
        nodes->add_node("gpu-7");
        answer = co_await post(admin.port(), "/pools/default/suspend"); // the next look is a new one
        answer = co_await get(admin.port(), "/readyz");
        BOOST_TEST(body_of(answer) == "ok\n");
        answer = co_await get(admin.port(), "/metrics");
        BOOST_TEST(contains(answer, R"(skep_bus_up{pool="default-elsewhere"} 1)"));
        co_await admin.stop();
        co_await pools.shutdown();
    });
}

BOOST_AUTO_TEST_CASE(a_page_shows_the_clients_of_its_node) {
    class one_node final : public observed_node {
    public:
        explicit one_node(asio::any_io_executor executor) : executor_(std::move(executor)) {}
        asio::any_io_executor get_executor() const noexcept override { return executor_; }
        asio::awaitable<node_status> status() override {
            node_status found;
            found.name = "gpu-7";
            found.links = 1;
            found.clients.push_back({"shop", "default", 3, 4096, 2ms, 1min});
            co_return found;
        }

    private:
        asio::any_io_executor executor_;
    };
    run([](asio::io_context& context) -> asio::awaitable<void> {
        one_node node(context.get_executor());
        pool workers(context, quick(basic_pool(1)));
        co_await workers.start();
        admin_options options;
        options.node = &node;
        admin_server admin(context.get_executor(), workers, options);
        std::string answer = co_await get(admin.port(), "/status.json");
        BOOST_TEST(contains(answer, R"("node":{"name":"gpu-7")"), answer);
        BOOST_TEST(contains(answer, R"({"name":"shop","pool":"default","calls":3,"bytes":4096,)"), answer);
        client page(context.get_executor());
        co_await page.connect(admin.port());
        co_await page.send("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n");
        std::string told = co_await page.read_until("event: pools");
        told = co_await page.read_until("\n\n");
        BOOST_TEST(contains(told, R"("clients":[{"name":"shop")"), told);
        page.close();
        co_await admin.stop();
        co_await workers.shutdown();
    });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
