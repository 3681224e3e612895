// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "wire/host_messages.hpp"

#include "wire/frame.hpp"
#include "wire/utf8.hpp"
#include <skep/error.hpp>

#include <array>
#include <cmath>

namespace skep {

namespace {

void append_number(std::string& out, std::uint64_t number) {
    out += std::to_string(number);
}

std::uint64_t to_milliseconds(duration span) {
    const auto count = std::chrono::duration_cast<std::chrono::milliseconds>(span).count();
    return count < 0 ? 0 : static_cast<std::uint64_t>(count);
}

// Python's JSON decoder goes no deeper than about 1000.
constexpr int deepest = 500;

/// Why `value` cannot be sent; nullptr if it can.
const char* objection_to(const boost::json::value& value, int depth = 0) noexcept {
    if (depth > deepest) {
        return "it is nested more than 500 levels deep";
    }
    if (const auto* number = value.if_double(); number != nullptr && !std::isfinite(*number)) {
        return "it holds a number that is not finite; JSON knows no NaN and no infinity";
    }
    const char* objection = nullptr;
    if (const auto* array = value.if_array()) {
        for (auto each = array->begin(); objection == nullptr && each != array->end(); ++each) {
            objection = objection_to(*each, depth + 1);
        }
    } else if (const auto* object = value.if_object()) {
        for (auto each = object->begin(); objection == nullptr && each != object->end(); ++each) {
            objection = objection_to(each->value(), depth + 1);
        }
    }
    return objection;
}

[[noreturn]] void refuse(errc code, std::string detail) {
    error_info info;
    info.detail = std::move(detail);
    throw error(code, std::move(info));
}

void require_sendable(const boost::json::value& value) {
    if (const char* objection = objection_to(value)) {
        refuse(errc::invalid_request, objection);
    }
}

} // namespace

void host_message_encoder::welcome(std::string& out, const worker_id& worker,
                                   const heartbeat_options& heartbeat) {
    std::string json = R"({"type":"welcome","worker":)";
    append_text(json, to_string(worker));
    json += R"(,"pool":)";
    append_text(json, worker.pool);
    json += R"(,"heartbeat":{"enabled":)";
    json += heartbeat.enabled ? "true" : "false";
    json += R"(,"interval_ms":)";
    append_number(json, to_milliseconds(heartbeat.interval));
    json += R"(,"timeout_ms":)";
    append_number(json, to_milliseconds(heartbeat.timeout));
    json += R"(},"limits":{"frame_bytes":)";
    append_number(json, frame_limit_);
    json += "}}";
    append_message(out, json);
}

void host_message_encoder::call(std::string& out, std::uint64_t id, const request& call,
                                std::optional<duration> time_left) {
    const auto begin = out.size();
    try {
        append_call(out, id, call, time_left);
    } catch (...) {
        out.resize(begin);
        throw;
    }
}

void host_message_encoder::append_call(std::string& out, std::uint64_t id, const request& call,
                                       std::optional<duration> time_left) {
    require_sendable(call.args());
    for (const auto& member : call.metadata()) {
        require_sendable(member.value());
    }
    const auto begin = begin_frame(out);
    out += R"({"type":"call","id":)";
    append_number(out, id);
    out += R"(,"command":)";
    append_text(out, call.command());
    if (time_left) {
        out += R"(,"deadline_ms":)";
        append_number(out, to_milliseconds(*time_left));
    }
    if (!call.session().empty()) {
        out += R"(,"session":)";
        append_text(out, call.session());
    }
    if (!call.correlation_id().empty()) {
        out += R"(,"correlation_id":)";
        append_text(out, call.correlation_id());
    }
    if (!call.metadata().empty()) {
        out += R"(,"metadata":)";
        append_json(out, call.metadata());
    }
    if (!call.attachments().empty()) {
        out += R"(,"attachments":[)";
        for (const auto& attachment : call.attachments()) {
            append_number(out, attachment.size());
            out += ',';
        }
        out.back() = ']';
    }
    out += R"(,"args":)";
    append_json(out, call.args());
    out += '}';
    const auto json_end = out.size();
    if (!is_utf8(std::string_view(out).substr(begin + frame_header_size))) {
        refuse(errc::invalid_request, "its text is not valid UTF-8; send raw bytes with request::attach()");
    }
    auto size = out.size() - begin - 4;
    for (const auto& attachment : call.attachments()) {
        size += attachment.size();
    }
    if (size > frame_limit_) {
        refuse(errc::frame_too_large,
               std::to_string(size) + " bytes exceed the limit of " + std::to_string(frame_limit_));
    }
    for (const auto& attachment : call.attachments()) {
        out.append(reinterpret_cast<const char*>(attachment.data()), attachment.size());
    }
    end_frame(out, begin, json_end);
}

void host_message_encoder::cancel(std::string& out, std::uint64_t id) {
    append_message(out, R"({"type":"cancel","id":)" + std::to_string(id) + "}");
}

void host_message_encoder::ping(std::string& out, std::uint64_t sequence) {
    append_message(out, R"({"type":"ping","seq":)" + std::to_string(sequence) + "}");
}

void host_message_encoder::shutdown(std::string& out, duration grace) {
    append_message(out, R"({"type":"shutdown","grace_ms":)" + std::to_string(to_milliseconds(grace)) + "}");
}

void host_message_encoder::append_json(std::string& out, const boost::json::value& value) {
    serializer_.reset(&value);
    append_serialized(out);
}

void host_message_encoder::append_json(std::string& out, const boost::json::object& object) {
    serializer_.reset(&object);
    append_serialized(out);
}

void host_message_encoder::append_text(std::string& out, std::string_view text) {
    serializer_.reset(boost::json::string_view(text));
    append_serialized(out);
}

void host_message_encoder::append_serialized(std::string& out) {
    std::array<char, 4096> piece;
    while (!serializer_.done()) {
        const auto part = serializer_.read(piece.data(), piece.size());
        out.append(part.data(), part.size());
    }
}

void host_message_encoder::append_message(std::string& out, std::string_view json) {
    const auto begin = begin_frame(out);
    out += json;
    end_frame(out, begin, out.size());
}

} // namespace skep
