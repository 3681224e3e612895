// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "command/admin_client.hpp"

#include "command/usage_error.hpp"
#include "core/text.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>

#include <chrono>
#include <optional>

namespace skep {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using namespace std::chrono_literals;

namespace {

using query = http::request<http::string_body>;

constexpr auto patience = 10s;
constexpr std::uint64_t longest_answer = 256u << 20;

/// One request and its answer.
class exchange {
public:
    explicit exchange(const admin_url& service) : where_(service), stream_(context_) {
        parser_.body_limit(longest_answer);
    }

    /// `limit`: the time for the answer, beyond patience; empty: the answer may take any time.
    admin_answer run(const query& request, std::optional<duration> limit) {
        stream_.expires_after(patience);
        await([&](auto done) { stream_.async_connect(resolve(), std::move(done)); });
        await([&](auto done) { http::async_write(stream_, request, std::move(done)); });
        if (limit) {
            stream_.expires_after(patience + *limit);
        } else {
            stream_.expires_never();
        }
        await([&](auto done) { http::async_read(stream_, buffer_, parser_, std::move(done)); });
        return {parser_.get().result_int(), std::move(parser_.get().body())};
    }

private:
    tcp::resolver::results_type resolve() {
        boost::system::error_code ec;
        auto found = tcp::resolver(context_).resolve(where_.host, where_.port, ec);
        check(ec);
        return found;
    }

    /// Blocks until an operation has ended.
    template <class Start>
    void await(Start start) {
        boost::system::error_code result;
        start([&](boost::system::error_code ec, const auto&...) { result = ec; });
        context_.restart();
        context_.run();
        check(result);
    }

    void check(const boost::system::error_code& ec) const {
        if (ec) {
            throw service_unreachable("http://" + where_.authority() + " does not answer: " + ec.message());
        }
    }

    const admin_url& where_;
    asio::io_context context_;
    beast::tcp_stream stream_;
    beast::flat_buffer buffer_;
    http::response_parser<http::string_body> parser_;
};

} // namespace

admin_client::admin_client(admin_url service, std::string token)
    : where_(std::move(service)), token_(std::move(token)) {
    if (!is_visible_ascii(token_)) {
        throw usage_error("SKEP_ADMIN_TOKEN has characters that no token has (it is visible ASCII)");
    }
}

admin_answer admin_client::get(const std::string& path) const {
    query sent(http::verb::get, path, 11);
    sent.set(http::field::host, where_.authority());
    sent.keep_alive(false);
    return exchange(where_).run(sent, 0s);
}

admin_answer admin_client::post(const std::string& path, const std::string& body,
                                std::optional<duration> limit) const {
    query sent(http::verb::post, path, 11);
    sent.set(http::field::host, where_.authority());
    sent.set(http::field::authorization, "Bearer " + token_);
    sent.body() = body;
    sent.keep_alive(false);
    sent.prepare_payload();
    auto answer = exchange(where_).run(sent, limit);
    if (answer.status == 401) {
        throw service_unreachable(token_.empty()
                                      ? "this needs the token of the admin port in SKEP_ADMIN_TOKEN"
                                      : "the service does not accept the token in SKEP_ADMIN_TOKEN");
    }
    return answer;
}

} // namespace skep
