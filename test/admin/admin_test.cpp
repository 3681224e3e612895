// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// The admin server, as clients meet it: well-behaved, curious, hostile and slow.

#include "support/config.hpp"
#include "support/run.hpp"
#include <skep/admin.hpp>

#include <boost/asio/connect.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/asio/write.hpp>
#include <boost/json/parse.hpp>
#include <boost/test/unit_test.hpp>

#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace skep::test {

using asio::ip::tcp;

BOOST_AUTO_TEST_SUITE(admin_suite)

namespace {

const std::string token = "sixteen or more?"; // not one: it has spaces
const std::string good_token = "0123456789abcdef";

/// For so long, an answer may be that of an earlier look at the pools.
constexpr auto a_moment = 250ms;

/// A connection of a client's.
class client {
public:
    explicit client(const asio::any_io_executor& executor) : socket_(executor) {}

    asio::awaitable<void> connect(unsigned short port) {
        const tcp::endpoint there(asio::ip::address_v4::loopback(), port);
        co_await socket_.async_connect(there, asio::use_awaitable);
    }

    asio::awaitable<void> send(std::string text) {
        const auto buffer = asio::buffer(text);
        co_await asio::async_write(socket_, buffer, asio::use_awaitable);
    }

    /// What has come up to `end`, that included, or until the server has closed.
    asio::awaitable<std::string> read_until(std::string end) {
        boost::system::error_code ec;
        auto into = asio::dynamic_buffer(received_);
        auto token = asio::redirect_error(asio::use_awaitable, ec);
        const std::size_t size = co_await asio::async_read_until(socket_, into, end, token);
        auto taken = received_.substr(0, ec ? received_.size() : size);
        received_.erase(0, taken.size());
        co_return taken;
    }

    asio::awaitable<std::string> read_all() {
        boost::system::error_code ec;
        auto into = asio::dynamic_buffer(received_);
        auto token = asio::redirect_error(asio::use_awaitable, ec);
        co_await asio::async_read(socket_, into, asio::transfer_all(), token);
        co_return std::exchange(received_, {});
    }

private:
    tcp::socket socket_;
    std::string received_;
};

/// The whole response to a request that is all there is to be on its connection.
asio::awaitable<std::string> ask(unsigned short port, std::string request) {
    const auto executor = co_await asio::this_coro::executor;
    client one(executor);
    co_await one.connect(port);
    co_await one.send(std::move(request));
    std::string response = co_await one.read_all();
    co_return response;
}

asio::awaitable<std::string> get(unsigned short port, std::string path) {
    std::string request = "GET " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    std::string response = co_await ask(port, std::move(request));
    co_return response;
}

asio::awaitable<std::string> post(unsigned short port, std::string path, std::string body = "",
                                  std::string with_token = good_token) {
    std::string request =
        "POST " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer " +
        with_token + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
    std::string response = co_await ask(port, std::move(request));
    co_return response;
}

std::string status_line(const std::string& response) {
    return response.substr(0, response.find("\r\n"));
}

std::string body_of(const std::string& response) {
    const auto end = response.find("\r\n\r\n");
    return end == std::string::npos ? "" : response.substr(end + 4);
}

admin_options changeable() {
    admin_options options;
    options.token = good_token;
    return options;
}

/// A pool with its page; `body(pool, port)` is a coroutine.
template <class Body>
void with_page(pool_config config, admin_options options, Body body) {
    with_pool(quick(std::move(config)), [&](pool& workers) -> asio::awaitable<void> {
        const auto executor = co_await asio::this_coro::executor;
        admin_server admin(executor, workers, options);
        co_await body(workers, admin.port());
        co_await admin.stop();
    });
}

} // namespace

BOOST_AUTO_TEST_CASE(shows_what_there_is) {
    with_page(basic_pool(2), {}, [](pool&, unsigned short port) -> asio::awaitable<void> {
        std::string answer = co_await get(port, "/livez");
        BOOST_TEST(status_line(answer) == "HTTP/1.1 200 OK");
        answer = co_await get(port, "/readyz?verbose");
        BOOST_TEST(status_line(answer) == "HTTP/1.1 200 OK");
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

BOOST_AUTO_TEST_CASE(only_who_asks_for_this_machine_is_answered) {
    with_page(basic_pool(1), changeable(), [](pool& workers, unsigned short port) -> asio::awaitable<void> {
        const std::string end = "\r\nConnection: close\r\n\r\n";
        for (const auto* host : {"evil.example", "127.0.0.1.evil.example", "localhost.evil:80", "10.0.0.1"}) {
            for (const auto* path :
                 {"GET /", "GET /events", "GET /status.json", "POST /pools/default/suspend"}) {
                std::string request = std::string(path) + " HTTP/1.1\r\nHost: " + host + end;
                const std::string answer = co_await ask(port, std::move(request));
                BOOST_TEST(status_line(answer) == "HTTP/1.1 421 Misdirected Request", host << path);
            }
        }
        for (const auto* host : {"localhost", "localhost:8090", "127.0.0.1:1", "127.9.9.9", "[::1]:80"}) {
            std::string request = "GET / HTTP/1.1\r\nHost: " + std::string(host) + end;
            const std::string answer = co_await ask(port, std::move(request));
            BOOST_TEST(status_line(answer) == "HTTP/1.1 200 OK", host);
        }
        const auto status = co_await workers.status();
        BOOST_TEST(!status.suspended);
    });
}

BOOST_AUTO_TEST_CASE(changes_need_the_token) {
    with_page(basic_pool(1), {}, [](pool& workers, unsigned short port) -> asio::awaitable<void> {
        for (const auto* given : {"", "0123456789abcdef"}) { // there is none
            const std::string answer = co_await post(port, "/pools/default/suspend", "", given);
            BOOST_TEST(status_line(answer) == "HTTP/1.1 401 Unauthorized");
        }
        const auto status = co_await workers.status();
        BOOST_TEST(!status.suspended);
    });
    with_page(basic_pool(1), changeable(), [](pool& workers, unsigned short port) -> asio::awaitable<void> {
        for (const auto* given : {"", "0123456789abcde", "0123456789abcdeg", "0123456789abcdef0"}) {
            const std::string answer = co_await post(port, "/pools/default/suspend", "", given);
            BOOST_TEST(status_line(answer) == "HTTP/1.1 401 Unauthorized", given);
        }
        const auto status = co_await workers.status();
        BOOST_TEST(!status.suspended);
    });
}

BOOST_AUTO_TEST_CASE(with_it_a_pool_is_changed) {
    auto config = basic_pool(2);
    config.scaling.max = 4;
    with_page(config, changeable(), [](pool& workers, unsigned short port) -> asio::awaitable<void> {
        std::string answer = co_await post(port, "/pools/default/suspend");
        BOOST_TEST(answer.ends_with("done\n"), answer);
        auto status = co_await workers.status();
        BOOST_TEST(status.suspended);
        answer = co_await post(port, "/pools/default/resume");
        BOOST_TEST(answer.ends_with("done\n"), answer);
        answer = co_await post(port, "/pools/default/workers/0.1/suspend");
        BOOST_TEST(answer.ends_with("done\n"), answer);
        status = co_await workers.status();
        BOOST_TEST((status.workers.at(0).state == worker_state::suspended));
        answer = co_await post(port, "/pools/default/workers/0.1/resume");
        BOOST_TEST(answer.ends_with("done\n"), answer);
        answer = co_await post(port, "/pools/default/workers/1.1/restart");
        BOOST_TEST(answer.ends_with("done\n"), answer);
        answer = co_await post(port, "/pools/default/restart");
        BOOST_TEST(answer.ends_with("done\n"), answer);
        status = co_await workers.status();
        BOOST_TEST(status.counters.workers_started == 5u);
        answer = co_await post(port, "/pools/default/resize", R"({"min": 3, "max": 3})");
        BOOST_TEST(answer.ends_with("done\n"), answer);
        const bool healed = co_await is_healed(workers, 3);
        BOOST_TEST(healed);
    });
}

BOOST_AUTO_TEST_CASE(what_cannot_be_done_says_why) {
    with_page(basic_pool(1), changeable(), [](pool&, unsigned short port) -> asio::awaitable<void> {
        for (const auto* body :
             {"", "{}", "no JSON", R"({"min": "1", "max": 2})", R"({"min": 3, "max": 2})", "[1]"}) {
            const std::string answer = co_await post(port, "/pools/default/resize", body);
            BOOST_TEST(status_line(answer) == "HTTP/1.1 400 Bad Request", body);
            BOOST_TEST(contains(answer, "limits.m"), answer);
        }
        std::string answer = co_await post(port, "/pools/default/workers/0.99/restart");
        BOOST_TEST(status_line(answer) == "HTTP/1.1 404 Not Found");
        BOOST_TEST(contains(answer, "no worker of that id"));
        for (const auto* path :
             {"/pools/default/destroy", "/pools/default/workers/0/restart", "/pools/default",
              "/pools/default/workers/x.1/restart", "/pools//restart/x", "/pools/a/workers/0.1/x"}) {
            answer = co_await post(port, path);
            BOOST_TEST(status_line(answer) == "HTTP/1.1 404 Not Found", path);
        }
    });
}

BOOST_AUTO_TEST_CASE(what_is_no_request) {
    with_page(basic_pool(1), {}, [](pool&, unsigned short port) -> asio::awaitable<void> {
        std::string answer = co_await ask(port, std::string("\x16\x03\x01\0\xff garbage\r\n\r\n", 19));
        BOOST_TEST(status_line(answer) == "HTTP/1.1 400 Bad Request");
        answer = co_await ask(port, "GET / HTTP/1.1\r\nCookie: " + std::string(9000, 'x') + "\r\n\r\n");
        BOOST_TEST(status_line(answer) == "HTTP/1.1 431 Request Header Fields Too Large");
        answer = co_await ask(port, "POST /pools/a/resize HTTP/1.1\r\nContent-Length: 5000\r\n\r\n");
        BOOST_TEST(status_line(answer) == "HTTP/1.1 413 Payload Too Large");
        answer = co_await ask(port, "POST / HTTP/1.1\r\nContent-Length: -5\r\n\r\n");
        BOOST_TEST(status_line(answer) == "HTTP/1.1 400 Bad Request");
        answer = co_await get(port, "/livez");
        BOOST_TEST(status_line(answer) == "HTTP/1.1 200 OK");
    });
}

BOOST_AUTO_TEST_CASE(requests_share_a_connection) {
    with_page(basic_pool(1), {}, [](pool&, unsigned short port) -> asio::awaitable<void> {
        const auto executor = co_await asio::this_coro::executor;
        client one(executor);
        co_await one.connect(port);
        co_await one.send(
            "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\nGET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n");
        for (int i = 0; i < 2; ++i) {
            const std::string answer = co_await one.read_until("ok\n");
            BOOST_TEST(status_line(answer) == "HTTP/1.1 200 OK");
        }
    });
}

BOOST_AUTO_TEST_CASE(a_connection_too_many_takes_the_place_of_an_idle_one) {
    admin_options options;
    options.connections = 4;
    with_page(basic_pool(1), options, [](pool&, unsigned short port) -> asio::awaitable<void> {
        const auto executor = co_await asio::this_coro::executor;
        std::vector<std::unique_ptr<client>> idle;
        for (int i = 0; i < 4; ++i) {
            idle.push_back(std::make_unique<client>(executor));
            co_await idle.back()->connect(port);
        }
        const std::string answer = co_await get(port, "/livez");
        BOOST_TEST(status_line(answer) == "HTTP/1.1 200 OK");
        const std::string nothing = co_await idle.front()->read_all(); // it was closed
        BOOST_TEST(nothing.empty());
        co_await idle.back()->send("GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        const std::string last = co_await idle.back()->read_all();
        BOOST_TEST(status_line(last) == "HTTP/1.1 200 OK");
    });
}

BOOST_AUTO_TEST_CASE(pages_leave_room_for_probes) {
    admin_options options;
    options.connections = 4;
    with_page(basic_pool(1), options, [](pool&, unsigned short port) -> asio::awaitable<void> {
        const auto executor = co_await asio::this_coro::executor;
        std::vector<std::unique_ptr<client>> pages;
        for (int i = 0; i < 3; ++i) {
            pages.push_back(std::make_unique<client>(executor));
            co_await pages.back()->connect(port);
            co_await pages.back()->send("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n");
            co_await pages.back()->read_until("event: history");
        }
        std::string answer = co_await get(port, "/events");
        BOOST_TEST(status_line(answer) == "HTTP/1.1 503 Service Unavailable");
        answer = co_await get(port, "/livez");
        BOOST_TEST(status_line(answer) == "HTTP/1.1 200 OK");
        pages.clear();
        auto has_room = [port]() -> asio::awaitable<bool> {
            std::string request = "HEAD /events HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
            std::string refusal = co_await ask(port, std::move(request));
            co_return refusal.find("405") != std::string::npos&& body_of(refusal).empty();
        };
        const bool room = co_await eventually(has_room);
        BOOST_TEST(room);
    });
}

BOOST_AUTO_TEST_CASE(who_connects_as_it_stops_is_not_served) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        pool workers(context, quick(basic_pool(1)));
        for (int i = 0; i < 50; ++i) {
            admin_server admin(context.get_executor(), workers, {});
            client late(context.get_executor());
            co_await late.connect(admin.port());
            co_await late.send("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n");
            if (i % 2 == 0) {
                co_await pause(1ms);
            }
            co_await admin.stop();
            co_await late.read_all(); // it ends
        }
    });
}

BOOST_AUTO_TEST_CASE(who_serves_on_other_threads_may_be_destroyed_here) {
    asio::io_context context(4);
    auto work = asio::make_work_guard(context);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&context] { context.run(); });
    }
    for (int i = 0; i < 20; ++i) {
        auto workers = std::make_unique<pool>(context, quick(basic_pool(1)));
        auto admin = std::make_unique<admin_server>(context.get_executor(), *workers, changeable());
        std::vector<std::future<std::string>> asked;
        for (const auto* path : {"/metrics", "/events", "/status.json", "/readyz"}) {
            asked.push_back(asio::co_spawn(context, get(admin->port(), path), asio::use_future));
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(i % 5));
        admin.reset();
        workers.reset();
        for (auto& each : asked) {
            each.wait();
        }
    }
    work.reset();
    for (auto& each : threads) {
        each.join();
    }
}

BOOST_AUTO_TEST_CASE(who_is_silent_is_dropped_and_others_are_not) {
    with_page(basic_pool(1), {}, [](pool&, unsigned short port) -> asio::awaitable<void> {
        const auto executor = co_await asio::this_coro::executor;
        client half(executor);
        co_await half.connect(port);
        co_await half.send("GET /livez HT");
        client page(executor);
        co_await page.connect(port);
        co_await page.send("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n");
        const auto began = std::chrono::steady_clock::now();
        co_await half.read_all();
        BOOST_TEST((std::chrono::steady_clock::now() - began < 15s));
        const std::string so_far = co_await page.read_until("\"finished\":0,\"failed\":0");
        BOOST_TEST(contains(so_far, "event: history"));
        for (int i = 0; i < 8; ++i) { // it has been told all the time
            const std::string more = co_await page.read_until("event: pools");
            BOOST_TEST(!more.empty());
        }
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
        const std::string history = co_await page.read_until("\n\n");
        BOOST_TEST(history.starts_with("event: history\ndata: {\"pools\":{"));
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
    options.token = token;
    BOOST_TEST(contains(complaint_about(options), "token"));
    BOOST_TEST(!contains(complaint_about(options), token));
    options = {};
    options.connections = 0;
    BOOST_TEST(contains(complaint_about(options), "connections = 0: must be 1..10000"));
    const admin_server first(context.get_executor(), workers, {});
    options = {};
    options.port = first.port();
    BOOST_TEST(contains(complaint_about(options), "Address already in use"));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
