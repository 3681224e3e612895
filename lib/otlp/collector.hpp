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

/// A collector's answer, or the reason of its absence.
struct collector_answer {
    bool is_taken = false;
    bool may_be_repeated = false;
    std::uint64_t rejected = 0; ///< rejected spans of an accepted body
    std::string problem;
    std::optional<duration> retry_after;
};

/// The connection to a collector, kept open as long as the collector allows. Used on its strand.
class collector {
public:
    collector(const strand& executor, const otlp_options& options) : options_(options), stream_(executor) {}

    /// Sends a body. `timeout` limits the exchange, not the look-up of the collector's name. Throws if
    /// cancelled or out of memory.
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
