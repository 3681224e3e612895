// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "wire/host_messages.hpp"

#include "core/node_call.hpp"
#include "core/text.hpp"
#include "core/trace_context.hpp"
#include "core/with_detail.hpp"
#include "wire/attachments.hpp"
#include "wire/frame.hpp"
#include "wire/json_writer.hpp"
#include "wire/worker_messages.hpp"
#include <skep/error.hpp>

#include <algorithm>
#include <functional>
#include <string_view>

namespace skep {

namespace {

using namespace std::string_view_literals; // which are appended without counting their length

// Room for the frame's header and the start of a call: type, id, times and batch.
constexpr std::size_t longest_preface = 144;

constexpr std::size_t payload_alignment = 16;

// The longest text of one released place, with a comma, and room for the text around the places.
constexpr std::size_t longest_release = 48;
constexpr std::size_t around_releases = 256;

// Enough for most calls.
constexpr std::size_t small_body = 160;

std::uint64_t to_milliseconds(duration span) {
    const auto count = std::chrono::duration_cast<std::chrono::milliseconds>(span).count();
    return count < 0 ? 0 : static_cast<std::uint64_t>(count);
}

/// Returns true if an argument holds an array. Most calls have no attachments, so the check costs little.
bool has_arrays(const request& call) noexcept {
    return !call.attachments().empty() && !call.arrays().empty();
}

/// Appends the names of the arguments that hold arrays.
void append_arrays(std::string& out, const std::vector<std::string>& names) {
    out += R"(,"arrays":[)";
    for (const auto& name : names) {
        append_json_text(out, name);
        out += ',';
    }
    out.back() = ']';
}

/// Inserts spaces before the end of the JSON text, so that the payload of the frame at `begin` is aligned
/// relative to the frame: the receiver then uses arrays in place.
void align_payload(std::string& out, std::size_t begin) {
    const auto excess = (out.size() - begin) % payload_alignment;
    out.insert(out.size() - 1, excess == 0 ? 0 : payload_alignment - excess, ' ');
}

void append_credit_facts(std::string& out, const stream_credit& credit) {
    out += R"({"chunks":)";
    out += std::to_string(credit.chunks);
    out += R"(,"bytes":)";
    out += std::to_string(credit.bytes);
    out += '}';
}

/// Appends the members before the arguments.
void append_head(std::string& out, const request& call, std::size_t deepest = deepest_nesting,
                 std::span<const region_place> places = {}) {
    out += R"(,"command":)"sv;
    append_json_text(out, call.command());
    if (!call.session().empty()) {
        out += R"(,"session":)"sv;
        append_json_text(out, call.session());
    }
    if (!call.correlation_id().empty()) {
        out += R"(,"correlation_id":)"sv;
        append_json_text(out, call.correlation_id());
    }
    if (!call.metadata().empty()) {
        out += R"(,"metadata":)"sv;
        append_json(out, call.metadata(), deepest);
    }
    if (!call.attachments().empty()) {
        append_attachment_sizes(out, {call.attachments(), places});
    }
    out += R"(,"args":)"sv;
}

/// Appends released places as [region, begin].
void append_released(std::string& out, std::span<const region_place> places) {
    if (places.empty()) {
        return;
    }
    out += R"(,"released":[)";
    for (const auto& each : places) {
        out += '[';
        append_json_number(out, each.region);
        out += ',';
        append_json_number(out, each.begin);
        out += "],";
    }
    out.back() = ']';
}

std::size_t releases_within(std::size_t room) noexcept {
    return room < around_releases ? 0 : (room - around_releases) / longest_release;
}

/// Appends the body of a call whose attachments are in shared memory, at least some of them.
void append_body_with_places(std::string& out, std::string_view body, const request& call,
                             std::span<const region_place> places) {
    if (places.empty()) {
        out += body;
        return;
    }
    std::string head;
    append_head(head, call);
    append_head(out, call, deepest_nesting, places);
    out += body.substr(head.size());
}

/// Appends the attachments that have no place in shared memory. Returns their size.
std::size_t append_payload(send_buffer& buffer, const std::vector<blob>& attachments,
                           std::span<const region_place> places) {
    std::size_t size = 0;
    for_each_in_frame({attachments, places}, [&](const blob& each) {
        buffer.append(each);
        size += each.size();
    });
    return size;
}

/// Appends the facts of a call that only a node needs.
void append_node_facts(std::string& out, const request& call, const std::vector<std::string>& tools) {
    out += R"(,"node":{"tools":[)"sv;
    for (std::size_t i = 0; i < std::min(tools.size(), most_tools_for_node); ++i) {
        out += i == 0 ? "" : ",";
        append_json_text(out, tools[i]);
    }
    out += ']';
    if (call.affinity()) {
        out += R"(,"affinity":)"sv;
        append_json_number(out, static_cast<std::uint64_t>(*call.affinity()));
    }
    if (call.queue_timeout()) {
        out += R"(,"queue_timeout_ms":)"sv;
        append_json_number(out, to_milliseconds(*call.queue_timeout()));
    }
    if (!call.batch_key().empty()) {
        out += R"(,"batch_key":)"sv;
        append_json_text(out, call.batch_key());
    }
    out += '}';
}

[[noreturn]] void refuse(errc code, std::string detail) {
    throw error(code, with_detail(std::move(detail)));
}

/// Checks the length of a name: the pool and all observers of the call keep copies.
void check_name(std::string_view name, const char* role) {
    if (name.size() > longest_name) {
        refuse(errc::invalid_request, std::string(role) + " has " + std::to_string(name.size()) +
                                          " bytes: must have at most " + std::to_string(longest_name));
    }
}

void check_names(const request& call) {
    check_name(call.command(), "its command");
    check_name(call.session(), "its session");
    check_name(call.batch_key(), "its batch_key");
    check_name(call.correlation_id(), "its correlation_id");
    for (const auto& each : call.metadata()) {
        check_name(each.key(), "a key of its metadata");
    }
}

void check_size(std::size_t size, const char* limit, std::size_t most) {
    if (size > most) {
        refuse(errc::frame_too_large, std::to_string(size) + " bytes with its header exceed " + limit +
                                          ", which is " + std::to_string(most));
    }
}

void check_attachments(const std::vector<blob>& attachments, std::size_t json_size,
                       const limit_options& limits) {
    if (attachments.size() > most_attachments) {
        refuse(errc::invalid_request,
               "it has more than " + std::to_string(most_attachments) + " attachments");
    }
    check_size(json_size, "limits.json_bytes", limits.json_bytes);
    check_size(json_size + total_size(attachments), "limits.frame_bytes", limits.frame_bytes);
}

std::size_t deepest_within(const limit_options& limits) {
    return std::min(deepest_nesting, limits.json_depth - 1); // the message itself is one level
}

void append_sendable(std::string& out, const boost::json::value& value, const limit_options& limits) {
    try {
        append_json(out, value, deepest_within(limits));
    } catch (const unsendable& problem) {
        refuse(errc::invalid_request, problem.what());
    }
}

/// Omits data that cannot be sent.
void append_error_data(std::string& out, const boost::json::value& data, const limit_options& limits) {
    const auto before = out.size();
    try {
        out += R"(,"data":)";
        append_json(out, data, deepest_within(limits) - 1);
    } catch (const unsendable&) {
        out.resize(before);
    }
    if (out.size() > limits.json_bytes - longest_preface) {
        out.resize(before);
    }
}

void append_message(std::string& out, std::string_view json) {
    out.reserve(out.size() + frame_header_size +
                json.size()); // no partial frame may stay if memory is lacking
    const auto begin = begin_frame(out);
    out += json;
    end_frame(out, begin, out.size());
}

} // namespace

std::string encode_call(const request& call, const limit_options& limits, const stream_credit* stream,
                        std::string memory) {
    check_names(call);
    const auto deepest = deepest_within(limits);
    auto body = std::move(memory);
    body.clear();
    body.reserve(small_body);
    try {
        append_head(body, call, deepest);
        append_json(body, call.args(), deepest);
        if (has_arrays(call)) {
            append_arrays(body, call.arrays());
        }
        if (stream != nullptr) {
            body += R"(,"stream":)";
            append_credit_facts(body, *stream);
        }
        body += '}';
    } catch (const unsendable& problem) {
        refuse(errc::invalid_request, problem.what());
    }
    const auto padding = has_arrays(call) ? payload_alignment : 0;
    check_attachments(call.attachments(), longest_preface + body.size() + padding, limits);
    return body;
}

keyed_digest::value digest_of(std::string_view body, const request& call, const keyed_digest::key& secret) {
    std::string head;
    append_head(head, call);
    keyed_digest digest(secret);
    digest.add_field(call.command());
    digest.add_field(call.session());
    digest.add_field(body.substr(head.size()));
    digest.add_field(std::to_string(call.attachments().size()));
    for (const auto& attachment : call.attachments()) {
        digest.add_field(attachment.text());
    }
    std::string value;
    for (const auto& each : call.metadata()) {
        if (each.key() != traceparent_key && each.key() != tracestate_key) {
            value.clear();
            append_json(value, each.value());
            digest.add_field(each.key());
            digest.add_field(value);
        }
    }
    return digest.finish();
}

std::size_t room_for_places(std::string_view body, const limit_options& limits) noexcept {
    const auto used = longest_preface + body.size() + payload_alignment;
    return used < limits.json_bytes ? (limits.json_bytes - used) / longest_place : 0;
}

std::size_t room_for_released(std::string_view body, const request& call,
                              const limit_options& limits) noexcept {
    const auto used = longest_preface + body.size() + payload_alignment;
    const auto with_places = used + call.attachments().size() * longest_place;
    const auto with_payload = used + total_size(call.attachments());
    return std::min(releases_within(limits.json_bytes - std::min(limits.json_bytes, with_places)),
                    releases_within(limits.frame_bytes - std::min(limits.frame_bytes, with_payload)));
}

std::size_t room_for_released(const limit_options& limits) noexcept {
    return releases_within(std::min(limits.json_bytes, limits.frame_bytes));
}

std::uint64_t outline_of(const request& call) noexcept {
    constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;
    return std::hash<std::string_view>()(call.command()) ^ odd * total_size(call.attachments());
}

void append_call(send_buffer& buffer, std::uint64_t id, std::string_view body, const request& call,
                 const call_dispatch& facts) {
    auto& out = buffer.text();
    const auto begin = out.size();
    try {
        begin_frame(out);
        out += R"({"type":"call","id":)"sv;
        append_json_number(out, id);
        if (facts.left) {
            out += R"(,"deadline_ms":)"sv;
            append_json_number(out, to_milliseconds(*facts.left));
        }
        if (facts.sent_after) {
            out += R"(,"sent_ms":)"sv;
            append_json_number(out, to_milliseconds(*facts.sent_after));
        }
        if (facts.batch.size > 1) {
            out += R"(,"batch":[)"sv;
            append_json_number(out, facts.batch.number);
            out += ',';
            append_json_number(out, facts.batch.size);
            out += ']';
        }
        if (facts.tools_for_node != nullptr) {
            append_node_facts(out, call, *facts.tools_for_node);
        }
        if ((facts.places.size() | facts.released.size()) == 0) { // almost always
            out += body;
        } else {
            append_released(out, facts.released);
            append_body_with_places(out, body, call, facts.places);
        }
        if (has_arrays(call)) {
            align_payload(out, begin);
        }
        const auto json_end = out.size();
        const auto payload = append_payload(buffer, call.attachments(), facts.places);
        end_frame(out, begin, json_end, payload - (out.size() - json_end));
    } catch (...) { // out of memory: no partial frame may stay
        buffer.truncate(begin);
        throw;
    }
}

void append_welcome(std::string& out, const welcome& facts) {
    const auto& [worker, heartbeat, limits, capacity, correlation, log_level, previous_exit, shared] = facts;
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
    json += R"(,"message_bytes":)";
    append_json_number(json, longest_message);
    json += R"(,"tool_calls":)";
    append_json_number(json, most_tool_calls);
    json += R"(,"tool_call_bytes":)";
    append_json_number(json, std::min(limits.tool_call_bytes, limits.frame_bytes));
    json += R"(},"capacity":)";
    append_json_number(json, capacity);
    json += R"(,"correlation":)";
    append_json_text(json, correlation);
    json += R"(,"records":true,"log_level":)";
    append_json_text(json, log_level);
    if (previous_exit) {
        json += R"(,"previous_exit":)";
        append_json_text(json, to_string(*previous_exit));
    }
    if (shared != nullptr) {
        json += R"(,"shared":{"least":)";
        append_json_number(json, shared->least_result);
        json += R"(,"bytes":)";
        append_json_number(json, shared->bytes);
        json += R"(,"regions":)";
        append_json_number(json, shared->regions);
        json += '}';
    }
    json += "}";
    append_message(out, json);
}

encoded_frame encode_tool_result(std::uint64_t tool_call, tool_reply answer, const limit_options& limits) {
    std::string out;
    begin_frame(out);
    out += R"({"type":"tool_result","tool_call":)";
    append_json_number(out, tool_call);
    if (!answer.attachments.empty()) {
        append_attachment_sizes(out, answer.attachments);
    }
    out += R"(,"value":)";
    append_sendable(out, answer.value, limits);
    out += '}';
    check_attachments(answer.attachments, out.size(), limits);
    end_frame(out, 0, out.size(), total_size(answer.attachments));
    return {std::move(out), std::move(answer.attachments)};
}

void append_frame(send_buffer& out, const encoded_frame& frame) {
    const auto begin = out.text().size();
    try {
        out.text() += frame.text;
        for (const auto& attachment : frame.attachments) {
            out.append(attachment);
        }
    } catch (...) { // out of memory
        out.truncate(begin);
        throw;
    }
}

encoded_frame encode_tool_error(std::uint64_t tool_call, const tool_failure& failure,
                                const limit_options& limits) {
    constexpr std::size_t around = 256;
    constexpr std::size_t longest_escape = 6; // per byte
    const auto name = std::min(longest_name, limits.json_bytes / 32);
    const auto most =
        std::min(longest_error_message, (limits.json_bytes - around) / longest_escape - 2 * name);
    std::string json = R"({"type":"tool_error","tool_call":)";
    append_json_number(json, tool_call);
    json += R"(,"error":{"type":)";
    append_json_text(json, beginning_of(failure.type, name));
    json += R"(,"message":)";
    append_json_text(json, beginning_of(failure.message, most));
    if (!failure.code.empty()) {
        json += R"(,"code":)";
        append_json_text(json, beginning_of(failure.code, name));
        append_error_data(json, failure.data, limits);
    }
    json += "}}";
    encoded_frame frame;
    append_message(frame.text, json);
    return frame;
}

void append_cancel(std::string& out, std::uint64_t id) {
    append_message(out, R"({"type":"cancel","id":)" + std::to_string(id) + "}");
}

void append_recall(std::string& out, std::uint64_t id) {
    append_message(out, R"({"type":"recall","id":)" + std::to_string(id) + "}");
}

void append_credit(std::string& out, std::uint64_t id, stream_credit more,
                   std::span<const region_place> released) {
    std::string json = R"({"type":"credit","id":)" + std::to_string(id);
    append_released(json, released);
    json += R"(,"credit":)";
    append_credit_facts(json, more);
    append_message(out, json + "}");
}

void append_ping(std::string& out, std::uint64_t sequence) {
    append_message(out, R"({"type":"ping","seq":)" + std::to_string(sequence) + "}");
}

void append_shutdown(std::string& out, duration grace) {
    append_message(out, R"({"type":"shutdown","grace_ms":)" + std::to_string(to_milliseconds(grace)) + "}");
}

} // namespace skep
