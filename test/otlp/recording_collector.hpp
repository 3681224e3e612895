// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "support/run.hpp"
#include <skep/otlp.hpp>

#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/json/parse.hpp>

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace skep::test {

namespace http = boost::beast::http;
using asio::ip::tcp;

/// A collector on a port of its own, that keeps what it gets.
class recording_collector {
public:
    using request = http::request<http::string_body>;

    explicit recording_collector(const asio::any_io_executor& executor, unsigned short port = 0)
        : acceptor_(executor, {asio::ip::address_v4::loopback(), port}) {
        asio::co_spawn(executor, accept(), asio::detached);
    }

    void close() {
        boost::system::error_code ec;
        acceptor_.close(ec);
        hang_up();
    }

    /// Ends the connections there are.
    void hang_up() {
        boost::system::error_code ec;
        for (auto& each : open_) {
            each->close(ec);
        }
        open_.clear();
    }

    unsigned short port() const { return acceptor_.local_endpoint().port(); }

    /// Of everything that it has taken, by name.
    std::vector<json::object> spans() const {
        std::vector<json::object> found;
        for (const auto& each : taken) {
            for (const auto& span : spans_in(each.body())) {
                found.push_back(span);
            }
        }
        return found;
    }

    static std::vector<json::object> spans_in(const std::string& body) {
        std::vector<json::object> found;
        const auto parsed = json::parse(body);
        for (const auto& resource : parsed.at("resourceSpans").as_array()) {
            for (const auto& scope : resource.at("scopeSpans").as_array()) {
                for (const auto& span : scope.at("spans").as_array()) {
                    found.push_back(span.as_object());
                }
            }
        }
        return found;
    }

    std::vector<request> taken;                            ///< answered by 200
    std::deque<http::response<http::string_body>> answers; ///< instead, the first first
    int connections = 0;
    int refused = 0;
    bool is_silent = false; ///< it answers nothing

    /// Until it has been closed and nobody talks to it: its coroutines refer to it.
    asio::awaitable<void> end() {
        close();
        auto is_idle = [this] { return busy_ == 0; };
        const bool idle = co_await eventually(is_idle);
        BOOST_TEST(idle);
    }

private:
    asio::awaitable<void> accept() {
        const busy_guard here(busy_);
        while (acceptor_.is_open()) {
            boost::system::error_code ec;
            auto token = asio::redirect_error(asio::use_awaitable, ec);
            tcp::socket socket = co_await acceptor_.async_accept(token);
            if (!ec) {
                ++connections;
                open_.push_back(std::make_shared<tcp::socket>(std::move(socket)));
                asio::co_spawn(acceptor_.get_executor(), serve(open_.back()), asio::detached);
            }
        }
    }

    asio::awaitable<void> serve(std::shared_ptr<tcp::socket> with) {
        const busy_guard here(busy_);
        boost::beast::flat_buffer buffer;
        for (;;) {
            boost::system::error_code ec;
            auto token = asio::redirect_error(asio::use_awaitable, ec);
            request asked;
            co_await http::async_read(*with, buffer, asked, token);
            if (ec) {
                co_return;
            }
            if (is_silent) {
                continue;
            }
            auto response = answer_to(std::move(asked));
            co_await http::async_write(*with, response, token);
        }
    }

    http::response<http::string_body> answer_to(request asked) {
        http::response<http::string_body> response(http::status::ok, 11);
        response.body() = "{}";
        if (!answers.empty()) {
            response = std::move(answers.front());
            answers.pop_front();
        }
        const bool is_ok = response.result() == http::status::ok;
        refused += is_ok ? 0 : 1;
        if (is_ok) {
            taken.push_back(std::move(asked));
        }
        response.prepare_payload();
        return response;
    }

    struct busy_guard {
        explicit busy_guard(int& count) : count_(count) { ++count_; }
        ~busy_guard() { --count_; }
        busy_guard(const busy_guard&) = delete;
        busy_guard& operator=(const busy_guard&) = delete;
        int& count_;
    };

    tcp::acceptor acceptor_;
    int busy_ = 0; ///< coroutines
    std::vector<std::shared_ptr<tcp::socket>> open_;
};

inline http::response<http::string_body> refusal(unsigned code, const std::string& retry_after = {}) {
    http::response<http::string_body> response(http::status(code), 11);
    if (!retry_after.empty()) {
        response.set(http::field::retry_after, retry_after);
    }
    return response;
}

} // namespace skep::test
