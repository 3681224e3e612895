// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/timer.hpp"
#include <skep/otlp.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace skep {

/// What a collector has answered, or why it has not.
struct collector_answer {
    bool is_taken = false;
    bool may_be_repeated = false;
    std::uint64_t rejected = 0; ///< spans, of a body that is taken
    std::string problem;
    std::optional<duration> retry_after;
};

/// The way to a collector: one connection, kept as long as the collector keeps it. On its strand.
class collector {
public:
    collector(const strand& executor, const otlp_options& options) : options_(options), stream_(executor) {}

    /// Sends a body, at most for `timeout`, and the time that it takes to look the collector's name up. Throws if it is
    /// cancelled, or there is no memory.
    asio::awaitable<collector_answer> post(std::string body, duration timeout);

private:
    using request = boost::beast::http::request<boost::beast::http::string_body>;
    using response = boost::beast::http::response<boost::beast::http::string_body>;

    request request_of(std::string body) const;
    collector_answer to_answer(const response& http_reply);
    asio::awaitable<void> connect(duration timeout);
    asio::awaitable<asio::ip::tcp::resolver::results_type> find();
    asio::awaitable<response> exchange(const request& query);

    const otlp_options& options_;
    boost::beast::tcp_stream stream_;
    boost::beast::flat_buffer buffer_{128u << 10};
};

} // namespace skep
