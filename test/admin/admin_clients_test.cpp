// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Clients that say nothing, too much or nonsense, come too many, or at the wrong time.

#include "admin/admin_client.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/use_future.hpp>

#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace skep::test {

BOOST_AUTO_TEST_SUITE(admin_clients)

BOOST_AUTO_TEST_CASE(what_is_no_request) {
    with_page(basic_pool(1), {}, [](pool&, unsigned short port) -> asio::awaitable<void> {
        std::string answer = co_await ask(port, std::string("\x16\x03\x01\0\xff garbage\r\n\r\n", 17));
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
        BOOST_TEST((std::chrono::steady_clock::now() - began < patience));
        const std::string so_far = co_await page.read_until("\"finished\":0,\"failed\":0");
        BOOST_TEST(contains(so_far, "event: history"));
        for (int i = 0; i < 8; ++i) { // it has been told all the time
            const std::string more = co_await page.read_until("event: pools");
            BOOST_TEST(!more.empty());
        }
    });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
