// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Clients that send without an end, hold connections, or try to get around the rules of who may do what.

#include "admin/admin_client.hpp"

#include <boost/asio/detached.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace skep::test {

BOOST_AUTO_TEST_SUITE(hostile_clients)

namespace {

using clients = std::vector<std::unique_ptr<client>>;

admin_options small(std::size_t connections) {
    admin_options options;
    options.connections = connections;
    return options;
}

/// So many more, each of which has said `text`.
asio::awaitable<void> connect(clients& into, unsigned short port, std::string text, std::size_t count) {
    const auto executor = co_await asio::this_coro::executor;
    for (std::size_t i = 0; i < count; ++i) {
        into.push_back(std::make_unique<client>(executor));
        co_await into.back()->connect(port);
        co_await into.back()->send(text);
    }
}

asio::awaitable<void> expect_probes(unsigned short port) {
    for (const auto* path : {"/livez", "/readyz"}) {
        const std::string answer = co_await get(port, path);
        BOOST_TEST(status_line(answer) == "HTTP/1.1 200 OK", path);
    }
}

/// What comes back to `head`, and then to `text` again and again, up to 64 MiB.
asio::awaitable<std::string> flood(unsigned short port, std::string head, std::string text) {
    const auto executor = co_await asio::this_coro::executor;
    client one(executor);
    co_await one.connect(port);
    co_await one.send(std::move(head));
    std::size_t sent = 0;
    try {
        while (sent < (64u << 20)) {
            co_await one.send(text);
            sent += text.size();
        }
    } catch (const boost::system::system_error&) {} // the server has closed
    BOOST_TEST(sent < (16u << 20));
    std::string answer = co_await one.read_all();
    co_return answer;
}

constexpr const char* a_request = "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n";

} // namespace

BOOST_AUTO_TEST_CASE(what_never_ends_is_refused_and_not_kept) {
    with_page(basic_pool(1), {}, [](pool&, unsigned short port) -> asio::awaitable<void> {
        const std::string post = "POST /pools/default/resize HTTP/1.1\r\nHost: localhost\r\n";
        const std::string chunked = post + "Transfer-Encoding: chunked\r\n\r\n";
        const std::string bytes(64u << 10, '0');
        const std::vector<std::pair<std::string, std::string>> floods{
            {chunked, bytes},                        // the size of a chunk
            {chunked + "1;", bytes},                 // its extension
            {chunked + "0\r\n", "A: b\r\n" + bytes}, // a trailer
            {chunked, "1\r\na\r\n"},                 // a body of small chunks
            {post + "Transfer-Encoding: gzip, chunked\r\n\r\n", bytes},
            {"", bytes},                                           // a method
            {"GET /", bytes},                                      // a target
            {"GET / HTTP/1.1\r\nHost: ", bytes},                   // a value
            {"GET / HTTP/1.1\r\n", "A: b\r\n" + bytes + ": b\r\n"} // fields
        };
        for (const auto& [head, text] : floods) {
            const std::string answer = co_await flood(port, head, text);
            const auto status = status_line(answer).substr(0, 12);
            const bool is_refusal = status == "HTTP/1.1 400" || status == "HTTP/1.1 431" || status.empty();
            BOOST_TEST(is_refusal, head.substr(0, 20) << answer.substr(0, 99));
        }
        const std::string long_body = co_await ask(port, post + "Content-Length: 4097\r\n\r\n");
        BOOST_TEST(status_line(long_body) == "HTTP/1.1 413 Payload Too Large");
        const std::string in_chunks = co_await ask(port, chunked + "0\r\n\r\n");
        BOOST_TEST(status_line(in_chunks) == "HTTP/1.1 400 Bad Request");
        BOOST_TEST(contains(in_chunks, "needs a Content-Length"));
        co_await expect_probes(port);
    });
}

BOOST_AUTO_TEST_CASE(a_refusal_arrives_though_more_is_on_its_way) {
    with_page(basic_pool(1), {}, [](pool&, unsigned short port) -> asio::awaitable<void> {
        const std::string head = "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n";
        const std::string answer = co_await ask(port, head + std::string(100'000, 'x'));
        BOOST_TEST(status_line(answer) == "HTTP/1.1 400 Bad Request");
    });
}

BOOST_AUTO_TEST_CASE(a_connection_with_the_beginning_of_a_request_is_idle) {
    for (const auto* said : {"G", "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\nG", ""}) {
        with_page(basic_pool(1), small(4), [said](pool&, unsigned short port) -> asio::awaitable<void> {
            clients holders;
            for (int i = 0; i < 3; ++i) {
                co_await connect(holders, port, said, 4);
                co_await expect_probes(port);
            }
        });
    }
}

BOOST_AUTO_TEST_CASE(a_connection_that_reads_no_answers_is_idle) {
    with_page(basic_pool(1), small(4), [](pool&, unsigned short port) -> asio::awaitable<void> {
        const auto executor = co_await asio::this_coro::executor;
        std::string pages;
        for (int i = 0; i < 1000; ++i) {
            pages += "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
        }
        clients deaf;
        for (int i = 0; i < 4; ++i) {
            deaf.push_back(std::make_unique<client>(executor));
            co_await deaf.back()->connect(port);
            auto talk = [](client* one, std::string text) -> asio::awaitable<void> {
                try {
                    co_await one->send(std::move(text));
                } catch (const boost::system::system_error&) {} // it has been closed
            };
            asio::co_spawn(executor, talk(deaf.back().get(), pages), asio::detached);
        }
        co_await expect_probes(port);
        co_await pause(200ms); // by now their answers wait for them
        co_await expect_probes(port);
        co_await expect_probes(port);
        for (auto& each : deaf) {
            each->close();
        }
    });
}

BOOST_AUTO_TEST_CASE(the_one_that_has_waited_longest_goes_first) {
    with_page(basic_pool(1), small(3), [](pool&, unsigned short port) -> asio::awaitable<void> {
        clients three;
        co_await connect(three, port, a_request, 3);
        for (auto& each : three) {
            co_await each->read_until("ok\n");
        }
        co_await three[0]->send(a_request); // used since
        co_await three[0]->read_until("ok\n");
        clients one;
        co_await connect(one, port, a_request, 1);
        co_await one[0]->read_until("ok\n");
        const std::string nothing = co_await three[1]->read_all();
        BOOST_TEST(nothing.empty());
        for (const auto i : {0, 2}) {
            co_await three[static_cast<std::size_t>(i)]->send(a_request);
            const std::string answer = co_await three[static_cast<std::size_t>(i)]->read_until("ok\n");
            BOOST_TEST(status_line(answer) == "HTTP/1.1 200 OK");
        }
    });
}

BOOST_AUTO_TEST_CASE(who_comes_while_all_are_at_work_waits_for_a_place) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        asio::io_context busy; // nobody runs it: each look at the pool takes a second
        pool workers(busy, quick(basic_pool(1)));
        admin_server admin(context.get_executor(), workers, small(1));
        clients one;
        co_await connect(one, admin.port(), "GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n", 1);
        const std::string alive = co_await get(admin.port(), "/livez");
        BOOST_TEST(status_line(alive) == "HTTP/1.1 200 OK");
        const std::string answer = co_await one[0]->read_all(); // and then it was idle
        BOOST_TEST(body_of(answer) == "pool default does not answer\n");
        const std::string page = co_await get(admin.port(), "/events"); // would leave no place for probes
        BOOST_TEST(status_line(page) == "HTTP/1.1 503 Service Unavailable");
        co_await admin.stop();
    });
}

BOOST_AUTO_TEST_CASE(pages_that_come_at_once_are_counted_one_by_one) {
    constexpr std::size_t most = 64;
    with_page(basic_pool(1), small(most), [](pool&, unsigned short port) -> asio::awaitable<void> {
        const auto executor = co_await asio::this_coro::executor;
        clients pages;
        co_await connect(pages, port, "", most);
        std::size_t begun = 0;
        std::size_t refused = 0;
        auto talk = [&begun, &refused](client* one) -> asio::awaitable<void> {
            co_await one->send("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n");
            const std::string head = co_await one->read_until("\r\n\r\n");
            begun += contains(head, " 200 ") ? 1 : 0;
            refused += contains(head, " 503 ") ? 1 : 0;
        };
        for (auto& each : pages) { // none waits for the one before
            asio::co_spawn(executor, talk(each.get()), asio::detached);
        }
        auto all_know = [&] { return begun + refused == most; };
        const bool know = co_await eventually(all_know);
        BOOST_TEST(know);
        BOOST_TEST(begun == most * 3 / 4);
        co_await expect_probes(port);
    });
}

BOOST_AUTO_TEST_CASE(hosts_that_are_none_of_this_machine) {
    with_page(basic_pool(1), changeable(), [](pool& workers, unsigned short port) -> asio::awaitable<void> {
        const std::string end = "Connection: close\r\nAuthorization: Bearer " + good_token + "\r\n\r\n";
        const std::vector<std::pair<std::string, std::string>> hosts{
            {"Host: [::1]evil.example\r\n", "421"},
            {"Host: localhost:80.evil.example\r\n", "421"},
            {"Host: localhost@evil.example\r\n", "421"},
            {"Host: evil.example:127.0.0.1\r\n", "421"},
            {"Host: 0.0.0.0\r\n", "421"},
            {"Host: 127.0.0.1.\r\n", "421"},
            {"Host: 2130706433\r\n", "421"},
            {"Host: [::ffff:10.0.0.1]\r\n", "421"},
            {"Host: [\r\n", "421"},
            {"Host: ]\r\n", "421"},
            {"Host: :\r\n", "421"},
            {"Host: localhost\r\nHost: evil.example\r\n", "400"},
            {"Host: localhost\r\nHost: localhost\r\n", "400"},
            {"", "400"},
            {"X: y\r\n Host: localhost\r\n", "400"},
            {"Host: localhost:\r\n", "200"},
            {"Host:\tlocalhost\t\r\n", "200"},
        };
        for (const auto& [host, status] : hosts) {
            for (const auto* request : {"GET /", "GET /events", "POST /pools/default/suspend"}) {
                if (status == "200" && std::string(request) != "GET /") {
                    continue;
                }
                std::string text = std::string(request) + " HTTP/1.1\r\n" + host + end;
                const std::string answer = co_await ask(port, std::move(text));
                BOOST_TEST(status_line(answer).substr(9, 3) == status, request << ' ' << host);
            }
        }
        const std::string old = co_await ask(port, "GET /livez HTTP/1.0\r\n\r\n"); // which knows no hosts
        BOOST_TEST(contains(status_line(old), " 200 "));
        const auto status = co_await workers.status();
        BOOST_TEST(!status.suspended);
    });
}

BOOST_AUTO_TEST_CASE(tokens_that_are_none) {
    with_page(basic_pool(1), changeable(), [](pool& workers, unsigned short port) -> asio::awaitable<void> {
        const std::string begin =
            "POST /pools/default/suspend HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n";
        for (const auto& field :
             {"Authorization: bearer " + good_token, "Authorization: Bearer  " + good_token,
              "Authorization: Bearer " + good_token + "," + good_token, "Authorization: " + good_token,
              "Authorization: Basic " + good_token, "Proxy-Authorization: Bearer " + good_token,
              "Cookie: token=" + good_token,
              "Authorization: Bearer wrong\r\nAuthorization: Bearer " + good_token, std::string("X: y")}) {
            const std::string answer = co_await ask(port, begin + field + "\r\n\r\n");
            BOOST_TEST(status_line(answer) == "HTTP/1.1 401 Unauthorized", field);
        }
        for (const auto* line :
             {"GET /pools/default/suspend", "HEAD /pools/default/suspend", "OPTIONS /pools/default/suspend",
              "TRACE /", "CONNECT localhost:80", "DELETE /pools/default/suspend", "PRI *",
              "POST //pools/default/suspend", "POST /pools/../pools/default/suspend",
              "POST /pools/default/suspend/", "POST /pools/default/workers/0.1/../suspend",
              "POST /POOLS/default/suspend", "POST http://localhost/pools/default/suspend", "POST *",
              "POST /pools/default%2Fsuspend", "POST /pools/default/suspend%00"}) {
            std::string request = std::string(line) +
                                  " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" +
                                  "Authorization: Bearer " + good_token + "\r\n\r\n";
            const std::string answer = co_await ask(port, std::move(request));
            const auto status = status_line(answer).substr(0, 10);
            BOOST_TEST(status == "HTTP/1.1 4", line << ": " << answer);
        }
        const auto status = co_await workers.status();
        BOOST_TEST(!status.suspended);
    });
}

BOOST_AUTO_TEST_CASE(a_request_within_a_request_is_none) {
    with_page(basic_pool(1), changeable(), [](pool& workers, unsigned short port) -> asio::awaitable<void> {
        const std::string inner = "POST /pools/default/suspend HTTP/1.1\r\nHost: localhost\r\n"
                                  "Authorization: Bearer " +
                                  good_token + "\r\n\r\n";
        const std::string outer = "GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n";
        const auto length = std::to_string(inner.size());
        for (const auto& fields :
             {"Content-Length: " + length + "\r\nContent-Length: 0\r\n",
              "Content-Length: " + length + "\r\nTransfer-Encoding: chunked\r\n",
              "Transfer-Encoding: chunked\r\nContent-Length: " + length + "\r\n",
              "Content-Length: +" + length + "\r\n", "Content-Length: " + length + "\r\n",
              std::string("Transfer-Encoding: identity\r\n"),
              std::string("Transfer-Encoding : chunked\r\n")}) {
            const std::string answer = co_await ask(port, outer + fields + "\r\n" + inner);
            const auto status = status_line(answer).substr(9, 3);
            const bool is_expected = status == "400" || status == "200";
            BOOST_TEST(is_expected, fields << answer);
            BOOST_TEST(!contains(answer, "done"));
        }
        const std::string kept = "GET /livez HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: ";
        for (const std::string coding :
             {"identity", "xchunked", "gzip", "chunked, identity", "chunked;q=1", ""}) {
            const std::string answer = co_await ask(port, kept + coding + "\r\n\r\n" + inner);
            BOOST_TEST(status_line(answer) == "HTTP/1.1 400 Bad Request", coding << answer);
            BOOST_TEST(!contains(answer, "done"));
        }
        const auto status = co_await workers.status();
        BOOST_TEST(!status.suspended);
    });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
