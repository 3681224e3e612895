// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// After stop() nothing of an exporter is left in its context, whatever its collector does.

#include "support/leak_audit.hpp"
#include "support/rest_of_work.hpp"
#include "support/run.hpp"
#include <skep/otlp.hpp>

#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/write.hpp>
#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

namespace skep::test {

using asio::ip::tcp;

namespace {

/// Says the same to everybody who has asked it something, and leaves nobody.
class stuck_collector {
public:
    stuck_collector(asio::io_context& context, std::string says)
        : acceptor_(context, {asio::ip::address_v4::loopback(), 0}), says_(std::move(says)) {
        asio::co_spawn(context, serve(), asio::detached);
    }

    unsigned short port() const { return acceptor_.local_endpoint().port(); }
    bool has_answered() const { return has_answered_; }

private:
    asio::awaitable<void> serve() {
        socket_ = co_await acceptor_.async_accept(asio::use_awaitable);
        std::string asked(1 << 16, '\0');
        const auto room = asio::buffer(asked);
        co_await socket_.async_read_some(room, asio::use_awaitable);
        const auto answer = asio::buffer(says_);
        co_await asio::async_write(socket_, answer, asio::use_awaitable);
        has_answered_ = true;
    }

    tcp::acceptor acceptor_;
    tcp::socket socket_{acceptor_.get_executor()};
    std::string says_;
    bool has_answered_ = false;
};

} // namespace

BOOST_AUTO_TEST_SUITE(otlp_rest)

BOOST_AUTO_TEST_CASE(a_collector_that_stops_in_the_middle_of_an_answer) {
    for (const auto* says : {"", "HTTP/1.1 20", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{",
                             "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;a=b"}) {
        const leak_audit audit;
        asio::io_context context;
        event_bus bus;
        stuck_collector collector(context, says);
        otlp_options options;
        options.port = collector.port();
        options.interval = 10ms;
        options.timeout = 300ms;
        otlp_exporter exporter(context.get_executor(), bus, options);
        auto live = [&]() -> asio::awaitable<void> {
            bus.emit<events::span>([] { return events::span(); });
            auto is_stuck = [&] { return collector.has_answered(); };
            const bool stuck = co_await eventually(is_stuck);
            BOOST_TEST(stuck);
            co_await exporter.stop();
        };
        BOOST_TEST(runs_out_of_work(context, live()), says);
        BOOST_TEST(exporter.counts().sent == 0u);
    }
}

BOOST_AUTO_TEST_CASE(an_answer_that_never_ends_is_not_kept) {
    for (const std::string head : {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;",
                                   "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"}) {
        const leak_audit audit;
        asio::io_context context;
        event_bus bus;
        stuck_collector collector(context, head + std::string(1 << 20, 'x'));
        otlp_options options;
        options.port = collector.port();
        options.interval = 10ms;
        options.timeout = 1min;
        otlp_exporter exporter(context.get_executor(), bus, options);
        auto live = [&]() -> asio::awaitable<void> {
            bus.emit<events::span>([] { return events::span(); });
            auto is_lost = [&] { return exporter.counts().lost == 1; };
            const bool lost = co_await eventually(is_lost); // long before its timeout
            BOOST_TEST(lost);
            co_await exporter.stop();
        };
        BOOST_TEST(runs_out_of_work(context, live()));
    }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
