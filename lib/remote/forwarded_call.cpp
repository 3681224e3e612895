// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "remote/forwarded_call.hpp"

#include "core/failure_json.hpp"
#include "core/request_extras.hpp"
#include "policy/remote_error.hpp"
#include "server/call_failure.hpp"
#include "server/served_call.hpp"
#include "worker/passed_on_tool_error.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace skep {

namespace json = boost::json;

/// Names the arguments of a request that hold arrays, for the worker.
struct forwarded_arrays {
    static void set(request& named_request, const std::vector<std::string>& names) {
        named_request.extras_.own().arrays = names;
    }
};

namespace {

/// A call that a link serves. The owner keeps the link in memory as long as a tool runs.
struct served_by {
    std::weak_ptr<served_call> call;
    std::shared_ptr<void> owner;
    strand executor;
};

/// Asks the client for its tool. On the strand of the link.
boost::asio::awaitable<host_reply> ask_client(served_by caller, tool_call tool_request) {
    const auto call = caller.call.lock();
    if (!call) {
        throw tool_error("skep.Cancelled", "the call has ended");
    }
    auto asking = call->call_host(std::move(tool_request.name), std::move(tool_request.args),
                                  std::move(tool_request.attachments));
    auto answer = co_await std::move(asking);
    co_return answer;
}

/// Runs a tool of the client for a worker of the node.
boost::asio::awaitable<tool_reply> run_tool(served_by caller, tool_call tool_request) {
    const auto executor = caller.executor;
    auto asking =
        asio::co_spawn(executor, ask_client(std::move(caller), std::move(tool_request)), asio::use_awaitable);
    try {
        auto answer = co_await std::move(asking);
        tool_reply passed_on(std::move(answer.value), std::move(answer.attachments));
        co_return passed_on;
    } catch (const host_tool_error& failure) {
        throw passed_on_tool_error({failure.type(), failure.message(), failure.code(), failure.data()});
    }
}

void set_node_facts(request& new_request, const node_call& facts, const served_by& caller) {
    if (facts.affinity) {
        new_request.affinity(*facts.affinity);
    }
    if (facts.queue_timeout) {
        new_request.queue_timeout(*facts.queue_timeout);
    }
    if (!facts.batch_key.empty()) {
        new_request.batch_key(facts.batch_key);
    }
    if (!facts.arrays.empty()) {
        forwarded_arrays::set(new_request, facts.arrays);
    }
    for (const auto& name : facts.tools) {
        new_request.tool(
            name, [caller](tool_call tool_request) { return run_tool(caller, std::move(tool_request)); });
    }
}

/// Takes the arguments of the call.
request request_for(worker_call& call, const link_context& link) {
    auto& served = served_call::behind(call);
    const auto& message = served.message();
    request new_request(message.command, served.take_args());
    for (const auto& each : message.attachments) {
        new_request.attach(each);
    }
    if (!message.session.empty()) {
        new_request.session(message.session);
    }
    new_request.correlation_id(message.correlation_id);
    for (const auto& each : message.metadata) {
        new_request.metadata(each.key(), each.value());
    }
    if (const auto deadline = call.deadline()) {
        new_request.deadline(*deadline);
    } else {
        new_request.timeout(duration::zero());
    }
    if (message.for_node != nullptr) {
        set_node_facts(new_request, *message.for_node, {served.weak_from_this(), link.owner, link.executor});
    }
    new_request.on_progress([&call](const progress& report) { call.progress(report.fraction, report.text); });
    return new_request;
}

/// Returns what the worker's code has said, for the client.
error_message message_of(const error_info& info) {
    error_message message;
    node_answer facts;
    facts.worker = info.worker;
    facts.attempts = info.attempts;
    facts.wait = info.wait_time;
    message.from_node = std::make_shared<const node_answer>(std::move(facts));
    message.type = info.remote_type;
    message.message = info.remote_message;
    message.traceback = info.remote_traceback;
    message.code = info.remote_code;
    message.data = info.remote_data;
    return message;
}

/// Returns the failure of the call, for the client.
error_message message_of(const error& failure) {
    if (!failure.info().remote_type.empty()) {
        return message_of(failure.info());
    }
    error_message message;
    message.type = type_of_failure;
    message.message = failure.what();
    message.code = to_string(failure.kind());
    message.data = failure_to_json(failure.info());
    return message;
}

json::value take_answer(worker_call& call, reply answer) {
    node_answer facts;
    facts.worker = std::move(answer.worker);
    facts.attempts = answer.attempts;
    facts.wait = answer.queue_time;
    served_call::behind(call).describe_node(std::move(facts));
    for (auto& each : answer.attachments) {
        call.attach(std::move(each)); // in order, so that the references in the value stay right
    }
    return std::move(answer.value);
}

boost::asio::awaitable<json::value> forward_stream(call_interface& calls, worker_call& call,
                                                   link_context link) {
    auto opening = calls.stream(request_for(call, link));
    auto chunks = co_await std::move(opening);
    for (;;) {
        auto reading = chunks.next();
        auto next = co_await std::move(reading);
        if (!next) {
            break;
        }
        auto sending = call.send(std::move(next->value), std::move(next->attachments));
        co_await std::move(sending);
    }
    co_return take_answer(call, chunks.result());
}

boost::asio::awaitable<json::value> forward_unary(call_interface& calls, worker_call& call,
                                                  link_context link) {
    auto running = calls.execute(request_for(call, link));
    auto answer = co_await std::move(running);
    co_return take_answer(call, std::move(answer));
}

} // namespace

boost::asio::awaitable<json::value> forward_call(call_interface& calls, worker_call& call,
                                                 link_context link) {
    const bool is_stream = served_call::behind(call).message().stream.has_value();
    try {
        auto running = is_stream ? forward_stream(calls, call, std::move(link))
                                 : forward_unary(calls, call, std::move(link));
        auto value = co_await std::move(running);
        co_return value;
    } catch (const error& failure) {
        throw passed_on_error(message_of(failure));
    }
}

} // namespace skep
