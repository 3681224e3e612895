// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "remote/forwarded_call.hpp"

#include "server/call_failure.hpp"
#include "server/served_call.hpp"

#include <exception>
#include <utility>

namespace skep {

namespace json = boost::json;

namespace {

request request_for(worker_call& call) {
    const auto& message = served_call::behind(call).message();
    request made(message.command, message.args);
    for (const auto& each : message.attachments) {
        made.attach(each);
    }
    if (!message.session.empty()) {
        made.session(message.session);
    }
    made.correlation_id(message.correlation_id);
    for (const auto& each : message.metadata) {
        made.metadata(each.key(), each.value());
    }
    if (const auto deadline = call.deadline()) {
        made.deadline(*deadline);
    } else {
        made.timeout(duration::zero());
    }
    made.on_progress([&call](const progress& report) { call.progress(report.fraction, report.text); });
    return made;
}

/// Returns the failure of the call as a message for the client.
error_message message_of(const error& failure) {
    const auto& info = failure.info();
    error_message message;
    message.type =
        info.remote_type.empty() ? "skep." + std::string(to_string(failure.kind())) : info.remote_type;
    message.message = info.remote_type.empty() ? info.detail : info.remote_message;
    message.traceback = info.remote_traceback;
    message.code = info.remote_code;
    message.data = info.remote_data;
    return message;
}

json::value take_answer(worker_call& call, reply answer) {
    for (auto& each : answer.attachments) {
        call.attach(std::move(each)); // in order, so that the references in the value stay right
    }
    return std::move(answer.value);
}

boost::asio::awaitable<json::value> forward_stream(call_interface& calls, worker_call& call) {
    auto chunks = co_await calls.stream(request_for(call));
    for (;;) {
        auto next = co_await chunks.next();
        if (!next) {
            break;
        }
        co_await call.send(std::move(next->value), std::move(next->attachments));
    }
    co_return take_answer(call, chunks.result());
}

boost::asio::awaitable<json::value> forward_unary(call_interface& calls, worker_call& call) {
    auto answer = co_await calls.execute(request_for(call));
    co_return take_answer(call, std::move(answer));
}

} // namespace

boost::asio::awaitable<json::value> forward_call(call_interface& calls, worker_call& call) {
    const bool is_stream = served_call::behind(call).message().stream.has_value();
    try {
        auto running = is_stream ? forward_stream(calls, call) : forward_unary(calls, call);
        auto value = co_await std::move(running);
        co_return value;
    } catch (const error& failure) {
        throw passed_on_error(message_of(failure));
    }
}

} // namespace skep
