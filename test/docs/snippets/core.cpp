// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// The code that lib/core/README.md quotes.

#include <skep/skep.hpp>

#include <boost/beast/http/status.hpp>

#include <iostream>

namespace core_guide {

namespace http = boost::beast::http;
using skep::errc;

http::status status_of(const skep::error& failure) {
    const auto code = failure.kind();
    return is_callers_fault(failure)     ? http::status::bad_request
           : code == errc::timeout       ? http::status::gateway_timeout
           : code == errc::shutting_down ? http::status::service_unavailable
           : retryable(code)             ? http::status::service_unavailable
                                         : http::status::internal_server_error;
}

boost::asio::awaitable<void> ask(skep::pool& pool, skep::request call) {
    try {
        const auto answer = co_await pool.execute(std::move(call));
        std::cout << answer.value << '\n';
    } catch (const skep::error& failure) {
        std::cerr << failure.what() << '\n'; // the whole story, for the log
        if (failure.kind() == skep::errc::remote_error) {
            const auto& info = failure.info();
            std::cerr << info.remote_type << ": " << info.remote_message << '\n' << info.remote_traceback;
            if (!info.remote_code.empty()) { // raised by skep.Error
                std::cerr << info.remote_code << ' ' << info.remote_data << '\n';
            }
        }
    }
}

boost::asio::awaitable<void> try_again(skep::pool& pool) {
    const auto req = skep::request("predict").arg("text", "hello").idempotent(true);
    auto call = [&] { return pool.execute(req); };
    auto trying = skep::retry(skep::retry_policy().attempts(5), call);
    const auto answer = co_await std::move(trying);
    std::cout << answer.value << '\n';
}

} // namespace core_guide
