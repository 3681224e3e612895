// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// After stop() nothing of an admin server is left in its context, whoever is still connected.

#include "admin/admin_client.hpp"
#include "support/rest_of_work.hpp"

#include <memory>
#include <string>
#include <vector>

namespace skep::test {

BOOST_AUTO_TEST_SUITE(admin_rest)

namespace {

/// Clients that stay connected.
class crowd {
public:
    explicit crowd(asio::io_context& context) : context_(context) {}

    asio::awaitable<client*> join(unsigned short port, std::string says) {
        clients_.push_back(std::make_unique<client>(context_.get_executor()));
        auto* const fresh = clients_.back().get();
        co_await fresh->connect(port);
        co_await fresh->send(std::move(says));
        co_return fresh;
    }

private:
    asio::io_context& context_;
    std::vector<std::unique_ptr<client>> clients_;
};

std::string request_for(const std::string& path) {
    return "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
}

asio::awaitable<void> watch_events(crowd& clients, unsigned short port) {
    client* const page = co_await clients.join(port, request_for("/events"));
    const std::string told = co_await page->read_until("event: history");
    BOOST_TEST(contains(told, "200 OK"));
}

} // namespace

BOOST_AUTO_TEST_CASE(clients_of_a_pool_s_page) {
    const leak_audit audit;
    asio::io_context context;
    pool workers(context, quick(basic_pool(1)));
    admin_server admin(context.get_executor(), workers, changeable());
    crowd clients(context);
    auto live = [&]() -> asio::awaitable<void> {
        co_await workers.start();
        for (int i = 0; i < 3; ++i) {
            co_await watch_events(clients, admin.port());
        }
        for (const auto* said : {"", "G", "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\nG",
                                 "POST /pools/default/suspend HTTP/1.1\r\nContent-Length: 9\r\n\r\n12"}) {
            co_await clients.join(admin.port(), said);
        }
        std::string many;
        for (int i = 0; i < 2000; ++i) {
            many += request_for("/");
        }
        co_await clients.join(admin.port(), many.substr(0, 100'000)); // reads no answer
        const std::string answer = co_await get(admin.port(), "/livez");
        BOOST_TEST(contains(answer, "200 OK"));
        co_await admin.stop();
        co_await workers.shutdown();
    };
    BOOST_TEST(runs_out_of_work(context, live()));
}

BOOST_AUTO_TEST_CASE(clients_of_a_manager_s_page) {
    const leak_audit audit;
    asio::io_context context;
    manager_config config;
    config.pools = {quick(basic_pool(1))};
    pool_manager pools(context, std::move(config));
    admin_server admin(context.get_executor(), pools, {});
    crowd clients(context);
    auto live = [&]() -> asio::awaitable<void> {
        co_await pools.start();
        co_await watch_events(clients, admin.port());
        co_await admin.stop();
        co_await pools.shutdown();
    };
    BOOST_TEST(runs_out_of_work(context, live()));
}

BOOST_AUTO_TEST_CASE(the_pool_goes_on) {
    const leak_audit audit;
    asio::io_context context;
    asio::io_context of_pool; // which runs on
    pool workers(of_pool, quick(basic_pool(1)));
    admin_server admin(context.get_executor(), workers, {});
    crowd clients(context);
    auto live = [&]() -> asio::awaitable<void> {
        co_await watch_events(clients, admin.port());
        co_await admin.stop();
    };
    BOOST_TEST(runs_out_of_work(context, live()));
    BOOST_TEST(of_pool.run_for(1s) > 0u); // the questions that it was asked
    BOOST_TEST(of_pool.stopped());
}

BOOST_AUTO_TEST_CASE(a_pool_whose_executor_stands_still) {
    const leak_audit audit;
    asio::io_context context;
    asio::io_context busy; // nobody runs it
    pool workers(busy, quick(basic_pool(1)));
    admin_server admin(context.get_executor(), workers, changeable());
    crowd clients(context);
    auto live = [&]() -> asio::awaitable<void> {
        const std::string answer = co_await get(admin.port(), "/readyz");
        BOOST_TEST(body_of(answer) == "pool default does not answer\n");
        co_await clients.join(admin.port(), "POST /pools/default/suspend HTTP/1.1\r\nHost: localhost\r\n"
                                            "Authorization: Bearer " +
                                                good_token + "\r\n\r\n");
        co_await clients.join(admin.port(), request_for("/metrics"));
        const std::string alive = co_await get(admin.port(), "/livez"); // they have been read
        BOOST_TEST(contains(alive, "200 OK"));
        co_await admin.stop();
    };
    BOOST_TEST(runs_out_of_work(context, live()));
    BOOST_TEST(busy.run_for(1s) > 0u); // the change goes on
}

BOOST_AUTO_TEST_CASE(one_that_is_destroyed_without_a_stop) {
    const leak_audit audit;
    asio::io_context context;
    pool workers(context, quick(basic_pool(1)));
    auto admin = std::make_unique<admin_server>(context.get_executor(), workers, admin_options());
    crowd clients(context);
    auto live = [&]() -> asio::awaitable<void> {
        co_await watch_events(clients, admin->port());
        admin.reset();
        co_await workers.shutdown();
    };
    BOOST_TEST(runs_out_of_work(context, live()));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
