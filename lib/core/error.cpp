// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/duration_text.hpp"
#include "core/visible_text.hpp"
#include <skep/error.hpp>

#include <boost/describe/enum.hpp>
#include <boost/describe/enum_to_string.hpp>

#include <utility>

namespace skep {

BOOST_DESCRIBE_ENUM(errc, invalid_config, not_started, already_started, shutting_down, start_failed,
                    restart_failed, pool_saturated, queue_timeout, no_worker, timeout, cancelled, worker_lost,
                    remote_error, unknown_command, invalid_arguments, invalid_request, frame_too_large,
                    spawn_failed, startup_timeout, handshake_failed, heartbeat_lost, protocol_error,
                    illegal_transition, unavailable, poisonous_request, unknown_worker, initialization_failed,
                    tool_cycle, type_mismatch, session_quota_exceeded, session_not_found, invalid_session,
                    session_backend_failed, worker_busy, session_worker_unavailable, pool_not_found, forked,
                    out_of_memory, no_node, node_lost)

namespace {

/// A short, neutral phrase, with advice for the caller if there is any.
struct explanation {
    const char* what;
    const char* advice = "";
};

explanation explain(errc code) noexcept {
    switch (code) {
    case errc::invalid_config: return {"invalid configuration"};
    case errc::not_started: return {"the pool is not started", "co_await pool.start() first"};
    case errc::already_started: return {"the pool was already started"};
    case errc::shutting_down: return {"the pool is shutting down"};
    case errc::start_failed: return {"the pool could not start"};
    case errc::restart_failed: return {"the restart failed", "the old workers go on serving"};
    case errc::pool_saturated:
        return {"the pool is saturated", "retry later, or raise workers or queue.limit"};
    case errc::queue_timeout: return {"no worker became free in time"};
    case errc::no_worker: return {"no worker is up", "the pool goes on trying by itself; see status()"};
    case errc::timeout:
        return {"the call took longer than its timeout", "raise the request's timeout if the work needs it"};
    case errc::cancelled: return {"cancelled by the caller"};
    case errc::worker_lost: return {"the worker was lost while it had the call"};
    case errc::remote_error: return {"the worker's code raised an exception"};
    case errc::unknown_command: return {"the worker has no such command"};
    case errc::invalid_arguments: return {"the command does not take these arguments"};
    case errc::invalid_request: return {"the request is invalid"};
    case errc::frame_too_large:
        return {"the request is too large to send", "send less at a time or raise limits.frame_bytes"};
    case errc::spawn_failed: return {"the worker process could not be created"};
    case errc::startup_timeout: return {"the worker was not ready in time"};
    case errc::handshake_failed: return {"the worker failed before it was ready"};
    case errc::heartbeat_lost: return {"the worker stopped answering pings"};
    case errc::protocol_error: return {"the worker broke the wire protocol"};
    case errc::unavailable:
        return {"the pool is unavailable: its workers failed too often and none is left",
                "it tries again by itself"};
    case errc::poisonous_request:
        return {"the request is refused: the same input made workers crash, lie or outgrow their memory",
                "do not send it again"};
    case errc::unknown_worker: return {"no worker of that id is alive", "see status()"};
    case errc::initialization_failed: return {"the initialization delegate refused"};
    case errc::type_mismatch: return {"the value does not fit the type it was to become"};
    case errc::session_quota_exceeded:
        return {"too many sessions", "remove or forget some, let them expire sooner, or raise "
                                     "session_options::quota or affinity.limit"};
    case errc::pool_not_found: return {"there is no such pool"};
    case errc::forked:
        return {"this process is a forked copy of the one that started the pool",
                "make and start pools after fork() or daemon()"};
    case errc::worker_busy:
        return {"the worker of the session is busy",
                "retry later, or let it wait: affinity_mode::strict_queue"};
    case errc::session_worker_unavailable: return {"the worker of the session is not available"};
    case errc::session_not_found: return {"there is no such session, or it has expired"};
    case errc::invalid_session: return {"invalid session"};
    case errc::session_backend_failed: return {"the sessions cannot be reached", "retry later"};
    case errc::tool_cycle:
        return {"every worker waits for a call of its tools", "raise workers, or call another pool"};
    case errc::out_of_memory: return {"the host has no memory left"};
    case errc::no_node:
        return {
            "no node is there",
            "start nodes that offer the pool, within reach of the same bus; links come about by themselves"};
    case errc::node_lost: return {"the node was lost while it had the call"};
    case errc::illegal_transition: return {"the worker's lifecycle does not allow this change of state"};
    }
    return {"unknown error"};
}

/// The id makes two copies of the category equal: a program may link two shared libraries with a copy each.
class skep_category final : public boost::system::error_category {
public:
    constexpr skep_category() noexcept : boost::system::error_category(0x6d1f'50c3'a94e'7b26u) {}

    const char* name() const noexcept override { return "skep"; }

    std::string message(int code) const override { return explain(static_cast<errc>(code)).what; }

    boost::system::error_condition default_error_condition(int code) const noexcept override {
        namespace generic = boost::system::errc;
        switch (static_cast<errc>(code)) {
        case errc::cancelled: return make_error_condition(generic::operation_canceled);
        case errc::timeout:
        case errc::queue_timeout:
        case errc::no_worker:
        case errc::no_node:
        case errc::startup_timeout: return make_error_condition(generic::timed_out);
        case errc::out_of_memory: return make_error_condition(generic::not_enough_memory);
        default: return {code, *this};
        }
    }
};

/// Indents lines after the first, to distinguish them from the lines of the error's own text.
std::string with_indented_lines(std::string_view text) {
    std::string out;
    for (const char c : text) {
        out += c;
        if (c == '\n') {
            out += "    ";
        }
    }
    return out;
}

std::string indented(std::string_view text) {
    auto out = "    " + with_indented_lines(text);
    while (!out.empty() && (out.back() == ' ' || out.back() == '\n')) {
        out.pop_back();
    }
    return out;
}

void append_facts(std::string& text, errc code, const error_info& info) {
    std::string_view before = " [";
    const auto add = [&](const auto&... parts) {
        text += before;
        ((text += parts), ...);
        before = ", ";
    };
    if (!info.command.empty()) {
        add("command '", visible(info.command), "'");
    }
    if (!info.node.empty() && code != errc::node_lost) { // else named before
        add("node ", visible(info.node));
    }
    if (info.worker) {
        add("worker ", to_string(*info.worker));
    } else if (!info.pool.empty()) {
        add("pool ", info.pool);
    }
    if (!info.program.empty()) {
        add("program ", visible(info.program));
    }
    if (info.pid != 0) {
        add("pid ", std::to_string(info.pid));
    }
    if (info.status.known() || info.status.was_taken()) {
        add("ended by ", to_string(info.status));
    }
    if (info.wait_time >= std::chrono::milliseconds(1)) {
        add("waited ", in_milliseconds(info.wait_time));
    }
    if (info.queue_depth > 0) {
        add(std::to_string(info.queue_depth), info.queue_depth == 1 ? " call queued" : " calls queued");
        if (!info.oldest_command.empty()) {
            add(std::to_string(info.running_calls), " running, '", visible(info.oldest_command), "' for ",
                in_milliseconds(info.oldest_run_time));
        }
    }
    if (info.attempts > 1) {
        add("attempt ", std::to_string(info.attempts));
    }
    text += before == ", " ? "]" : "";
}

/// Includes the type where it adds information to the code.
std::string remote_story(errc code, const error_info& info) {
    std::string story;
    if (!info.remote_type.empty() && code == errc::remote_error) {
        story += ": " + with_indented_lines(info.remote_type);
        story += info.remote_code.empty() ? "" : " '" + with_indented_lines(info.remote_code) + "'";
    }
    if (!info.remote_message.empty()) {
        story += ": " + with_indented_lines(info.remote_message);
    }
    return story;
}

std::string cause_of_end(const error_info& info) {
    if (info.exit_kind == exit_class::out_of_memory || info.exit_kind == exit_class::gpu) {
        return std::string(to_string(info.exit_kind)) + ": " + info.exit_evidence;
    }
    return likely_cause(info.status);
}

/// Appends the phrase of the code. The name of a lost node stands in it.
void append_phrase(std::string& text, errc code, const error_info& info, std::string_view phrase) {
    constexpr std::string_view before_name = "the node";
    if (code == errc::node_lost && !info.node.empty()) {
        text.append("node ").append(visible(info.node));
        phrase.remove_prefix(before_name.size());
    }
    text += phrase;
}

std::string compose(errc code, const error_info& info) {
    constexpr std::size_t usual_length = 256;
    const auto [what, advice] = explain(code);
    const bool has_detail = !info.detail.empty() && info.detail != what;
    const bool has_own_advice = has_detail && code == errc::timeout;
    std::string text;
    text.reserve(usual_length);
    append_phrase(text, code, info, what);
    if (has_detail) {
        text += ": " + info.detail;
    }
    text += remote_story(code, info);
    if (*advice != '\0' && !has_own_advice) {
        text.append("; ").append(advice);
    }
    append_facts(text, code, info);
    const auto cause = cause_of_end(info);
    if (!cause.empty()) {
        text += "\n  likely cause: " + cause;
    }
    if (!info.remote_traceback.empty()) {
        text += "\n  worker traceback:\n" + indented(info.remote_traceback);
    }
    if (!info.stacks.empty()) {
        text += "\n  stacks of the worker before it was ended:\n" + indented(info.stacks);
    }
    if (!info.output_tail.empty() && info.stacks.empty()) { // the stacks were printed last
        text += "\n  last output of the worker:\n" + indented(info.output_tail);
    }
    return text;
}

} // namespace

bool retryable(errc code) noexcept {
    switch (code) {
    case errc::pool_saturated:
    case errc::queue_timeout:
    case errc::no_worker:
    case errc::no_node:
    case errc::worker_busy:
    case errc::unavailable:
    case errc::timeout:
    case errc::worker_lost:
    case errc::node_lost:
    case errc::session_backend_failed: return true;
    default: return false;
    }
}

bool is_callers_fault(errc code) noexcept {
    switch (code) {
    case errc::unknown_command:
    case errc::pool_not_found:
    case errc::invalid_arguments:
    case errc::invalid_request:
    case errc::frame_too_large:
    case errc::poisonous_request:
    case errc::unknown_worker:
    case errc::invalid_config:
    case errc::session_not_found:
    case errc::invalid_session: return true;
    default: return false;
    }
}

const boost::system::error_category& error_category() noexcept {
    static const skep_category category;
    return category;
}

std::string_view to_string(errc code) noexcept {
    return boost::describe::enum_to_string(code, "");
}

boost::system::error_code make_error_code(errc code) noexcept {
    return {static_cast<int>(code), error_category()};
}

error::error() : system_error(boost::system::error_code()), story_(std::make_shared<story>(error_info())) {}

error::error(errc code, error_info details) : error(std::make_shared<story>(std::move(details)), code) {}

error::error(std::shared_ptr<story> details, errc code) : system_error(make_error_code(code)) {
    if (details->text.empty()) {
        auto text = visible(compose(code, details->info), line_feeds::keep);
        if (details->info.detail.empty()) {
            details->info.detail = explain(code).what;
        }
        details->text = std::move(text);
    }
    story_ = std::move(details);
}

} // namespace skep
