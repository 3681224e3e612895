// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "wire/host_messages.hpp"

#include "wire/frame.hpp"
#include "wire/json_writer.hpp"
#include "wire/worker_messages.hpp"
#include <skep/error.hpp>

#include <boost/container_hash/hash.hpp>

#include <algorithm>

namespace skep {

namespace {

// Room for the frame's header and what precedes a call's body: type, id and times.
constexpr std::size_t longest_preface = 104;

// Most calls fit into this.
constexpr std::size_t small_body = 160;

std::uint64_t to_milliseconds(duration span) {
    const auto count = std::chrono::duration_cast<std::chrono::milliseconds>(span).count();
    return count < 0 ? 0 : static_cast<std::uint64_t>(count);
}

void append_attachment_sizes(std::string& out, const std::vector<blob>& attachments) {
    out += R"(,"attachments":[)";
    for (const auto& attachment : attachments) {
        append_json_number(out, attachment.size());
        out += ',';
    }
    out.back() = ']';
}

/// What precedes the arguments.
void append_head(std::string& out, const request& call, std::size_t deepest = deepest_nesting) {
    out += R"(,"command":)";
    append_json_text(out, call.command());
    if (!call.session().empty()) {
        out += R"(,"session":)";
        append_json_text(out, call.session());
    }
    if (!call.correlation_id().empty()) {
        out += R"(,"correlation_id":)";
        append_json_text(out, call.correlation_id());
    }
    if (!call.metadata().empty()) {
        out += R"(,"metadata":)";
        append_json(out, call.metadata(), deepest);
    }
    if (!call.attachments().empty()) {
        append_attachment_sizes(out, call.attachments());
    }
    out += R"(,"args":)";
}

[[noreturn]] void refuse(errc code, std::string detail) {
    error_info info;
    info.detail = std::move(detail);
    throw error(code, std::move(info));
}

void check_size(std::size_t size, const char* limit, std::size_t most) {
    if (size > most) {
        refuse(errc::frame_too_large, std::to_string(size) + " bytes with its header exceed " + limit +
                                          ", which is " + std::to_string(most));
    }
}

void append_message(std::string& out, std::string_view json) {
    out.reserve(out.size() + frame_header_size +
                json.size()); // no part of a frame may stay if there is no memory
    const auto begin = begin_frame(out);
    out += json;
    end_frame(out, begin, out.size());
}

} // namespace

std::string encode_call(const request& call, const limit_options& limits) {
    const auto deepest = std::min(deepest_nesting, limits.json_depth - 1); // the message itself is one level
    std::string body;
    body.reserve(small_body);
    try {
        append_head(body, call, deepest);
        append_json(body, call.args(), deepest);
        body += '}';
    } catch (const unsendable& problem) {
        refuse(errc::invalid_request, problem.what());
    }
    if (call.attachments().size() > most_attachments) {
        refuse(errc::invalid_request,
               "it has more than " + std::to_string(most_attachments) + " attachments");
    }
    auto size = longest_preface + body.size();
    check_size(size, "limits.json_bytes", limits.json_bytes);
    for (const auto& attachment : call.attachments()) {
        size += attachment.size();
    }
    check_size(size, "limits.frame_bytes", limits.frame_bytes);
    return body;
}

std::uint64_t fingerprint(std::string_view body, const request& call) {
    std::string head;
    append_head(head, call);
    std::size_t hash = 0;
    boost::hash_combine(hash, call.command());
    boost::hash_combine(hash, body.substr(head.size()));
    for (const auto& attachment : call.attachments()) {
        boost::hash_range(hash, attachment.begin(), attachment.end());
    }
    return hash;
}

void append_call(std::string& out, std::uint64_t id, std::string_view body, const request& call,
                 const call_times& times) {
    const auto begin = out.size();
    try {
        begin_frame(out);
        out += R"({"type":"call","id":)";
        append_json_number(out, id);
        if (times.left) {
            out += R"(,"deadline_ms":)";
            append_json_number(out, to_milliseconds(*times.left));
        }
        if (times.sent_after) {
            out += R"(,"sent_ms":)";
            append_json_number(out, to_milliseconds(*times.sent_after));
        }
        out += body;
        const auto json_end = out.size();
        for (const auto& attachment : call.attachments()) {
            out += attachment.text();
        }
        end_frame(out, begin, json_end);
    } catch (...) { // out of memory: no part of a frame may stay
        out.resize(begin);
        throw;
    }
}

void append_welcome(std::string& out, const worker_id& worker, const heartbeat_options& heartbeat,
                    const limit_options& limits, std::optional<exit_class> previous_exit) {
    std::string json = R"({"type":"welcome","worker":)";
    append_json_text(json, to_string(worker));
    json += R"(,"pool":)";
    append_json_text(json, worker.pool);
    json += R"(,"heartbeat":{"enabled":)";
    json += heartbeat.enabled ? "true" : "false";
    json += R"(,"interval_ms":)";
    append_json_number(json, to_milliseconds(heartbeat.interval));
    json += R"(,"timeout_ms":)";
    append_json_number(json, to_milliseconds(heartbeat.timeout));
    json += R"(},"limits":{"frame_bytes":)";
    append_json_number(json, limits.frame_bytes);
    json += R"(,"json_bytes":)";
    append_json_number(json, limits.json_bytes);
    json += R"(,"json_depth":)";
    append_json_number(json, limits.json_depth);
    json += R"(,"tree_bytes":)";
    append_json_number(json, limits.tree_bytes);
    json += R"(,"attachments":)";
    append_json_number(json, most_attachments);
    json += "}";
    if (previous_exit) {
        json += R"(,"previous_exit":)";
        append_json_text(json, to_string(*previous_exit));
    }
    json += "}";
    append_message(out, json);
}

void append_cancel(std::string& out, std::uint64_t id) {
    append_message(out, R"({"type":"cancel","id":)" + std::to_string(id) + "}");
}

void append_ping(std::string& out, std::uint64_t sequence) {
    append_message(out, R"({"type":"ping","seq":)" + std::to_string(sequence) + "}");
}

void append_shutdown(std::string& out, duration grace) {
    append_message(out, R"({"type":"shutdown","grace_ms":)" + std::to_string(to_milliseconds(grace)) + "}");
}

} // namespace skep
