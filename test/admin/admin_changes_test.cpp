// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Who may have an admin server do what.

#include "admin/admin_client.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/json/parse.hpp>

#include <exception>
#include <string>
#include <utility>

namespace skep::test {

BOOST_AUTO_TEST_SUITE(admin_changes)

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

BOOST_AUTO_TEST_CASE(calls_are_made_with_it) {
    with_page(basic_pool(1), changeable(), [](pool&, unsigned short port) -> asio::awaitable<void> {
        const std::string call = "/pools/default/call";
        std::string answer = co_await post(port, call, R"({"command": "add", "args": {"a": 2, "b": 3}})");
        BOOST_TEST(status_line(answer) == "HTTP/1.1 200 OK", answer);
        BOOST_TEST(contains(answer, "application/json"));
        const auto result = boost::json::parse(body_of(answer));
        BOOST_TEST(result.at("value") == 5);
        BOOST_TEST(result.at("worker") == "default/0#1");
        answer = co_await post(port, call, R"({"command": "add", "args": {"a": 2}})", "wrong");
        BOOST_TEST(status_line(answer) == "HTTP/1.1 401 Unauthorized");
        answer = co_await post(port, call, R"({"command": "fail", "args": {"message": "no model"}})");
        BOOST_TEST(status_line(answer) == "HTTP/1.1 409 Conflict");
        BOOST_TEST(contains(answer, "no model"), answer);
        BOOST_TEST(contains(answer, ", in fail"), answer);
        answer = co_await post(port, call, R"({"command": "nothing"})");
        BOOST_TEST(status_line(answer) == "HTTP/1.1 404 Not Found");
        answer = co_await post(port, call, R"({"command": "add"})");
        BOOST_TEST(status_line(answer) == "HTTP/1.1 400 Bad Request");
        answer =
            co_await post(port, call, R"({"command": "repeat", "args": {"text": "x", "times": 2000000}})");
        BOOST_TEST(contains(answer, "at most 1 MiB"), answer.substr(0, 1000));
        answer =
            co_await post(port, call, R"({"command": "sleep", "args": {"seconds": 60}, "timeout_ms": 1})");
        BOOST_TEST(status_line(answer) == "HTTP/1.1 504 Gateway Timeout");
    });
}

BOOST_AUTO_TEST_CASE(the_body_of_a_call_has_rules) {
    with_page(basic_pool(1), changeable(), [](pool&, unsigned short port) -> asio::awaitable<void> {
        const std::pair<const char*, const char*> bodies[] = {
            {"", "must be a JSON object"},
            {"[]", "must be a JSON object"},
            {"{}", "must be the name of a command"},
            {R"({"command": 1})", "must be the name of a command"},
            {R"({"command": "add", "arguments": {}})", "not \"arguments\""},
            {R"({"command": "add", "args": 1})", "object"},
            {R"({"command": "add", "timeout_ms": 0})", "must be 1..600000"},
            {R"({"command": "add", "timeout_ms": "1s"})", "must be 1..600000"}};
        for (const auto& [body, rule] : bodies) {
            const std::string answer = co_await post(port, "/pools/default/call", body);
            BOOST_TEST(status_line(answer) == "HTTP/1.1 400 Bad Request", body);
            BOOST_TEST(contains(answer, rule), answer);
        }
    });
}

BOOST_AUTO_TEST_CASE(memory_is_measured_with_it) {
    auto config = basic_pool(2);
    config.launch.preload = true;
    with_page(config, changeable(), [](pool&, unsigned short port) -> asio::awaitable<void> {
        const std::string path = "/pools/default/memory";
        std::string answer = co_await post(port, path, "", "wrong");
        BOOST_TEST(status_line(answer) == "HTTP/1.1 401 Unauthorized");
        answer = co_await post(port, path);
        BOOST_TEST(status_line(answer) == "HTTP/1.1 200 OK", answer);
        const auto measured = boost::json::parse(body_of(answer));
        const auto of = [](const boost::json::value& number) { return number.to_number<std::uint64_t>(); };
        const auto& workers = measured.at("workers");
        const auto sum =
            of(measured.at("template_bytes")) + of(workers.at("default/0#1")) + of(workers.at("default/1#1"));
        BOOST_TEST(of(measured.at("template_bytes")) > 0u);
        BOOST_TEST(of(workers.at("default/0#1")) > 0u);
        BOOST_TEST(of(measured.at("proportional_bytes")) == sum);
    });
}

BOOST_AUTO_TEST_CASE(stacks_are_read_with_it) {
    with_page(basic_pool(1), changeable(), [](pool& workers, unsigned short port) -> asio::awaitable<void> {
        const std::string path = "/pools/default/workers/0.1/stacks";
        std::string answer = co_await post(port, path, "", "wrong");
        BOOST_TEST(status_line(answer) == "HTTP/1.1 401 Unauthorized");
        asio::co_spawn(workers.get_executor(), workers.execute(request("spin").arg("seconds", 60)),
                       [](const std::exception_ptr&, const reply&) {});
        while (!contains(answer, " in spin\n")) { // until the worker has begun the call
            answer = co_await post(port, path);
            BOOST_TEST(status_line(answer) == "HTTP/1.1 200 OK", answer);
        }
        BOOST_TEST(contains(answer, "Thread 0x"), answer);
        answer = co_await post(port, "/pools/default/workers/0.9/stacks");
        BOOST_TEST(status_line(answer) == "HTTP/1.1 404 Not Found");
    });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
