// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "worker/tool_runner.hpp"

#include "async/calling_executor.hpp"
#include "core/text.hpp"
#include "core/trace_context.hpp"
#include "wire/protocol_violation.hpp"
#include "worker/passed_on_tool_error.hpp"
#include "worker/worker.hpp"
#include <skep/awaitable.hpp>
#include <skep/error.hpp>
#include <skep/execute_with_retry.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/core/demangle.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>
#include <atomic>
#include <new>
#include <optional>
#include <typeinfo>

namespace skep {

namespace {

namespace json = boost::json;

constexpr std::string_view nobody_waits = "nobody waits for the call any more";

/// Returns the members of a call's metadata that carry its trace context.
json::object trace_in(const json::object& metadata) {
    json::object trace;
    for (const char* const key : {traceparent_key, tracestate_key}) {
        if (const auto* const value = metadata.if_contains(key)) {
            trace[key] = *value;
        }
    }
    return trace;
}

bool is_cancellation(const boost::system::system_error& problem) {
    return problem.code() == asio::error::operation_aborted || problem.code() == errc::cancelled;
}

/// Returns the failure to report to the worker's code for a tool's exception.
tool_failure failure_of(const std::exception_ptr& problem) {
    try {
        std::rethrow_exception(problem);
    } catch (const passed_on_tool_error& failure) {
        return failure.failure();
    } catch (const tool_error& failure) {
        return {"skep.ToolError", to_utf8(failure.what()), to_utf8(failure.code()), failure.data()};
    } catch (const boost::system::system_error& failure) {
        const auto type = is_cancellation(failure) ? std::string("skep.Cancelled")
                                                   : boost::core::demangle(typeid(failure).name());
        return {type, to_utf8(failure.what()), {}, {}};
    } catch (const std::exception& failure) {
        return {boost::core::demangle(typeid(failure).name()), to_utf8(failure.what()), {}, {}};
    } catch (...) {
        return {"unknown", "it threw something that is no std::exception", {}, {}};
    }
}

} // namespace

/// The result of a tool.
struct tool_runner::answer {
    encoded_frame frame;
    std::string outcome; ///< for the span; empty if the tool has not run
};

/// One tool call.
struct tool_runner::tool_run {
    tool_run(const strand& executor, const call_ptr& parent_call, std::uint64_t id, tool_call tool_request)
        : executor(executor.get_inner_executor()),
          caller(parent_call),
          number(id),
          asked(std::move(tool_request)) {}

    const strand executor; ///< of the tool
    const call_ptr caller;
    const std::uint64_t number;
    tool_call asked;
    std::optional<events::span> span; ///< if traced: the facts known at the request
    time_point begun;
    asio::cancellation_signal cancellation; ///< used on the tool's strand
    bool has_begun = false;
    std::atomic<bool> is_stopped = false; ///< a tool that has not begun is skipped
};

void tool_runner::start(const call_ptr& caller, tool_call_message& message, std::string correlation_id) {
    if (message.number <= last_number_) {
        throw protocol_violation("tool call " + std::to_string(message.number) + " after " +
                                 std::to_string(last_number_) + ": their numbers must rise");
    }
    last_number_ = message.number;
    if (answers_ == nullptr) { // the worker's calls are lost to it already
        return;
    }
    const auto is_callers = [&](const tool_run_ptr& each) { return each->caller == caller; };
    if (std::count_if(open_.begin(), open_.end(), is_callers) ==
        static_cast<std::ptrdiff_t>(most_tool_calls)) {
        throw protocol_violation("more than " + std::to_string(most_tool_calls) +
                                 " tool calls without an answer during call " + std::to_string(message.id));
    }
    tool_call what{.name = std::move(message.name),
                   .args = std::move(message.args),
                   .attachments = std::move(message.attachments),
                   .command = caller->req.command(),
                   .worker = core_.id,
                   .node = core_.node,
                   .session = caller->req.session(),
                   .correlation_id = std::move(correlation_id),
                   .metadata = caller->req.metadata(),
                   .deadline = caller->deadline};
    auto mine = std::make_shared<tool_run>(core_.context.executor, caller, message.number, std::move(what));
    join_trace(*mine, std::move(message.parent_span));
    open_.push_back(mine);
    if (!is_clogged()) {
        begin(mine);
    }
}

/// Makes the tool's span a child of the call, or of the span named by the worker.
void tool_runner::join_trace(tool_run& active_run, std::string parent_span) const {
    const auto& ties = active_run.caller->ties;
    if (!ties || !ties->trace) {
        return;
    }
    auto& span = active_run.span.emplace();
    span.pool = core_.id.pool;
    span.worker = core_.id;
    span.node = core_.node;
    span.what = active_run.asked.name;
    span.kind = "server";
    span.trace_id = ties->trace->trace_id;
    span.span_id = to_span_id(core_.context.make_span_id());
    span.parent_id = parent_span.empty() ? ties->trace->run_id : std::move(parent_span);
    span.correlation_id = active_run.asked.correlation_id;
    active_run.asked.metadata[traceparent_key] = to_traceparent({span.trace_id, span.span_id});
}

void tool_runner::publish_span(tool_run& ended_run, const std::string& outcome) const noexcept {
    if (!ended_run.span || outcome.empty()) {
        return;
    }
    core_.context.publish<events::span>([&] {
        ended_run.span->time = core_.context.now() - ended_run.begun;
        ended_run.span->start_time =
            core_.context.wall_now() -
            std::chrono::duration_cast<std::chrono::microseconds>(ended_run.span->time);
        ended_run.span->outcome = outcome;
        return std::move(*ended_run.span);
    });
}

/// Returns true if the worker does not read its answers; no more answers are then sent.
bool tool_runner::is_clogged() const noexcept {
    return answers_->unsent() > core_.config.limits.frame_bytes;
}

void tool_runner::go_on() {
    const auto next = [this] {
        return std::find_if(open_.begin(), open_.end(),
                            [](const tool_run_ptr& each) { return !each->has_begun; });
    };
    for (auto found = next(); found != open_.end() && !is_clogged(); found = next()) {
        begin(tool_run_ptr(*found));
    }
}

void tool_runner::begin(const tool_run_ptr& active_run) {
    active_run->has_begun = true;
    if (active_run->caller->state == call_state::abandoned) {
        refuse(active_run, "skep.Cancelled", nobody_waits);
        return;
    }
    const auto* const extras = active_run->caller->extras();
    tool_ptr handler;
    if (extras != nullptr && extras->tools) {
        const auto own = extras->tools->find(active_run->asked.name);
        handler = own == extras->tools->end() ? nullptr : own->second;
    }
    handler = handler ? handler : core_.surroundings.tools.find(active_run->asked.name);
    if (!handler) {
        refuse(active_run, "skep.UnknownTool", "there is no such tool: ", active_run->asked.name);
        return;
    }
    try {
        run(active_run, handler);
    } catch (const std::exception& problem) { // out of memory
        refuse(active_run, "skep.NoMemory", problem.what());
    }
}

void tool_runner::run(const tool_run_ptr& active_run, const tool_ptr& handler) {
    auto tie = std::make_shared<const tool_tie>(tool_tie{active_run->caller, active_run->asked.name,
                                                         active_run->asked.correlation_id,
                                                         trace_in(active_run->asked.metadata)});
    active_run->begun = core_.context.now();
    const calling_executor executor(active_run->executor, std::move(tie));
    auto running =
        make_answer(handler, std::move(active_run->asked), active_run->number, core_.config.limits);
    const std::shared_ptr<tool_runner> self(core_.self.shared_from_this(), this);
    auto on_end = [weak = std::weak_ptr(self), active_run,
                   executor = core_.context.executor](const std::exception_ptr&, answer result) {
        auto submit_answer = [weak, active_run, result = std::move(result)] {
            if (const auto runner = weak.lock()) {
                runner->end(active_run, result);
            }
        };
        execute_with_retry(executor, std::move(submit_answer));
    };
    // Posted, never run from within this function: the tool may call the pool at once.
    auto start = [executor, active_run, running = std::move(running), on_end = std::move(on_end)]() mutable {
        if (active_run->is_stopped) {
            on_end(nullptr, {});
            return;
        }
        try {
            asio::co_spawn(executor, std::move(running),
                           asio::bind_cancellation_slot(active_run->cancellation.slot(), on_end));
        } catch (const std::exception&) { // out of memory
            on_end(nullptr, {});
        }
    };
    asio::post(active_run->executor, std::move(start));
    ++running_;
}

asio::awaitable<tool_runner::answer> tool_runner::make_answer(tool_ptr handler, tool_call tool_request,
                                                              std::uint64_t number, limit_options limits) {
    std::exception_ptr problem;
    try {
        auto running = detail::checked((*handler)(std::move(tool_request)), "the tool");
        tool_reply result = co_await std::move(running);
        answer made{encode_tool_result(number, std::move(result), limits), "ok"};
        co_return made;
    } catch (...) {
        problem = std::current_exception();
    }
    const auto failure = failure_of(problem);
    answer made{encode_tool_error(number, failure, limits),
                failure.code.empty() ? failure.type : failure.code};
    co_return made;
}

void tool_runner::end(const tool_run_ptr& active_run, const answer& result) {
    if (--running_ == 0) {
        all_ended_.open();
    }
    publish_span(*active_run, result.outcome);
    if (std::find(open_.begin(), open_.end(), active_run) == open_.end()) {
        return; // no caller waits
    }
    try {
        submit_answer(active_run, result.frame);
        go_on();
    } catch (const std::exception&) { // out of memory
        refuse(active_run, "skep.NoMemory", "there was no memory for the answer");
    }
}

void tool_runner::refuse(const tool_run_ptr& active_run, const char* type, std::string_view message,
                         std::string_view about) noexcept {
    try {
        tool_failure failure{type, std::string(message), {}, {}};
        failure.message += about;
        submit_answer(active_run, encode_tool_error(active_run->number, failure, core_.config.limits));
    } catch (const std::exception&) { // out of memory: the worker's code waits until its call ends
        std::erase(open_, active_run);
    }
}

void tool_runner::submit_answer(const tool_run_ptr& active_run, const encoded_frame& frame) {
    if (frame.text.empty()) {
        throw std::bad_alloc();
    }
    append_frame(answers_->outbox(), frame);
    std::erase(open_, tool_run_ptr(active_run));
    if (active_run->caller->stream != nullptr) {
        active_run->caller->stream->heard = core_.context.now(); // the worker has waited for the host
    }
    answers_->flush();
}

void tool_runner::drop(const call& answered_call) noexcept {
    std::erase_if(open_, [&](const tool_run_ptr& each) {
        const bool is_its = each->caller.get() == &answered_call;
        if (is_its) {
            stop(each);
        }
        return is_its;
    });
}

void tool_runner::cancel(const call& abandoned_call) noexcept {
    const auto next = [&] {
        return std::find_if(open_.begin(), open_.end(),
                            [&](const tool_run_ptr& each) { return each->caller.get() == &abandoned_call; });
    };
    for (auto found = next(); found != open_.end(); found = next()) {
        const tool_run_ptr cancelled(*found);
        stop(cancelled);
        refuse(cancelled, "skep.Cancelled", nobody_waits);
    }
}

void tool_runner::close() noexcept {
    answers_ = nullptr;
    std::for_each(open_.begin(), open_.end(), stop);
    open_.clear();
}

/// Cancels the tool. If memory is lacking, the tool goes on, and its answer is dropped.
void tool_runner::stop(const tool_run_ptr& active_run) noexcept {
    active_run->is_stopped = true;
    auto cancel = [active_run] {
        try {
            active_run->cancellation.emit(asio::cancellation_type::terminal);
        } catch (const std::exception&) {}
    };
    try {
        asio::post(active_run->executor, std::move(cancel));
    } catch (const std::exception&) {}
}

asio::awaitable<void> tool_runner::join(time_point limit) {
    bool in_time = true;
    while (in_time && running_ > 0) {
        all_ended_.close();
        in_time = co_await all_ended_.wait_until(limit);
    }
}

bool tool_runner::is_asked_by(const call& caller) const noexcept {
    return std::any_of(open_.begin(), open_.end(),
                       [&](const tool_run_ptr& each) { return each->caller.get() == &caller; });
}

} // namespace skep
