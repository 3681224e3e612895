// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "wire/call_messages.hpp"

#include "wire/message_members.hpp"

#include <chrono>
#include <limits>
#include <utility>

namespace skep {

namespace json = boost::json;

namespace {

// The host started this process, so its messages are trusted. The host nests no deeper.
constexpr json_limits from_host{1000, std::numeric_limits<std::size_t>::max()};

using members = message_members;

json::object& object_in(const members& fields, std::string_view key) {
    auto& value = fields.value(key);
    if (!value.is_object()) {
        fields.refuse(key, "is not an object");
    }
    return value.get_object();
}

std::uint64_t number_in(const members& fields, std::string_view key, const json::object& object,
                        std::string_view name) {
    boost::system::error_code ec;
    const auto* const value = object.if_contains(name);
    const auto number = value != nullptr ? value->to_number<std::uint64_t>(ec) : 0;
    if (value == nullptr || ec) {
        fields.refuse(key, "lacks an integer of 64 bits");
    }
    return number;
}

std::optional<duration> milliseconds(const members& fields, std::string_view key) {
    if (fields.find(key) == nullptr) {
        return std::nullopt;
    }
    constexpr auto most = std::chrono::duration_cast<std::chrono::milliseconds>(duration::max() / 4);
    const auto count = static_cast<std::uint64_t>(fields.signed_number(key));
    return std::min(std::chrono::milliseconds(count), most);
}

stream_credit to_credit(const members& fields, std::string_view key) {
    const auto& credit = object_in(fields, key);
    constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max() / 2);
    const auto amount = [&](std::string_view name) {
        return static_cast<std::int64_t>(std::min(number_in(fields, key, credit, name), most));
    };
    return {amount("chunks"), amount("bytes")};
}

/// Reads [number of the batch, number of calls].
batch_place to_batch(const members& fields) {
    constexpr auto what = "is not an array of two integers of 1 or more";
    const auto* const pair = fields.value("batch").if_array();
    if (pair == nullptr || pair->size() != 2) {
        fields.refuse("batch", what);
    }
    boost::system::error_code no_number, no_size;
    const batch_place place{pair->at(0).to_number<std::uint64_t>(no_number),
                            pair->at(1).to_number<std::size_t>(no_size)};
    if (no_number || no_size || place.number < 1 || place.size < 1) {
        fields.refuse("batch", what);
    }
    return place;
}

region_place to_place(const members& fields, const json::value& value) {
    const auto* const pair = value.if_array();
    boost::system::error_code no_region, no_begin;
    if (pair == nullptr || pair->size() != 2) {
        fields.refuse("released", "has a place that is no pair");
    }
    const region_place place{pair->at(0).to_number<std::uint64_t>(no_region),
                             pair->at(1).to_number<std::size_t>(no_begin)};
    if (no_region || no_begin) {
        fields.refuse("released", "has a place without a region or a beginning");
    }
    return place;
}

/// Reads [[region, begin], ...].
std::vector<region_place> to_released(const members& fields) {
    std::vector<region_place> places;
    if (const auto* const found = fields.find("released")) {
        if (!found->is_array()) {
            fields.refuse("released", "is not an array");
        }
        for (const auto& each : found->get_array()) {
            places.push_back(to_place(fields, each));
        }
    }
    return places;
}

std::optional<shared_limits> to_shared(const members& fields) {
    if (fields.find("shared") == nullptr) {
        return std::nullopt;
    }
    const auto& told = object_in(fields, "shared");
    const auto read = [&](std::string_view name) { return number_in(fields, "shared", told, name); };
    return shared_limits{read("least"), read("bytes"), read("regions")};
}

worker_limits to_limits(const members& fields) {
    const auto& told = object_in(fields, "limits");
    worker_limits limits;
    const auto read = [&](std::string_view name, std::size_t& limit) {
        if (told.contains(name)) {
            limit = number_in(fields, "limits", told, name);
        }
    };
    read("frame_bytes", limits.frame_bytes);
    read("json_bytes", limits.json_bytes);
    read("json_depth", limits.json_depth);
    read("tree_bytes", limits.tree_bytes);
    read("attachments", limits.attachments);
    read("tool_calls", limits.tool_calls);
    read("message_bytes", limits.message_bytes);
    read("tool_call_bytes", limits.tool_call_bytes);
    return limits;
}

/// Reads an array of names.
std::vector<std::string> to_names(const members& fields, const json::value* names) {
    std::vector<std::string> read;
    if (names != nullptr && names->is_array()) {
        for (const auto& each : names->get_array()) {
            read.push_back(fields.to_text("name", each));
        }
    }
    return read;
}

std::shared_ptr<const node_call> to_node_call(const members& fields) {
    const auto& told = object_in(fields, "node");
    const auto made = std::make_shared<node_call>();
    made->tools = to_names(fields, told.if_contains("tools"));
    if (made->tools.size() > most_tools_for_node) {
        fields.refuse("node", "has more than 64 tools");
    }
    made->arrays = to_names(fields, fields.find("arrays"));
    if (told.contains("affinity")) {
        const auto mode = number_in(fields, "node", told, "affinity");
        if (mode > static_cast<std::uint64_t>(affinity_mode::strict_fail_fast)) {
            fields.refuse("node", "has an affinity that does not exist");
        }
        made->affinity = static_cast<affinity_mode>(mode);
    }
    if (told.contains("queue_timeout_ms")) {
        const auto count = number_in(fields, "node", told, "queue_timeout_ms");
        constexpr std::chrono::milliseconds most = std::chrono::hours(24);
        const auto longest = static_cast<std::uint64_t>(most.count());
        made->queue_timeout = std::chrono::milliseconds(std::min(count, longest));
    }
    if (const auto* const key = told.if_contains("batch_key")) {
        made->batch_key = fields.to_text("batch_key", *key);
    }
    return made;
}

call_message to_call(const members& fields, const frame_view& frame, memory_source* memory) {
    call_message call;
    call.id = fields.number("id");
    call.command = fields.text("command");
    object_in(fields, "args");
    call.args = std::move(fields.value("args"));
    call.attachments = to_attachments(fields, frame, memory);
    if (memory != nullptr) {
        call.released = to_released(fields);
    }
    call.session = fields.text_or_empty("session");
    call.correlation_id = fields.text_or_empty("correlation_id");
    if (fields.find("metadata") != nullptr) {
        call.metadata = std::move(object_in(fields, "metadata"));
    }
    call.left = milliseconds(fields, "deadline_ms");
    call.sent_after = milliseconds(fields, "sent_ms");
    if (fields.find("stream") != nullptr) {
        call.stream = to_credit(fields, "stream");
    }
    if (fields.find("batch") != nullptr) {
        call.batch = to_batch(fields);
    }
    if (fields.find("node") != nullptr) {
        call.for_node = to_node_call(fields);
    }
    return call;
}

tool_error_message to_tool_error(const members& fields) {
    auto& body = object_in(fields, "error");
    const auto text = [&](std::string_view key) {
        const auto* const found = body.if_contains(key);
        return found == nullptr ? std::string() : fields.to_text("error", *found);
    };
    tool_error_message error{fields.number("tool_call"), text("type"), text("message"), text("code"), {}};
    if (auto* const data = body.if_contains("data")) {
        error.data = std::move(*data);
    }
    return error;
}

} // namespace

host_message_decoder::host_message_decoder() : reader_(from_host) {}

host_message host_message_decoder::decode(const frame_view& frame, memory_source* memory) {
    auto& read = reader_.read(frame.json);
    const members any(read, "?");
    const auto type = any.to_view("type", any.value("type"));
    const members fields(read, type);
    if (type == "call") {
        return to_call(fields, frame, memory);
    }
    if (type == "credit") {
        return credit_message{fields.number("id"), to_credit(fields, "credit"), to_released(fields)};
    }
    if (type == "ping") {
        return ping_message{fields.number("seq")};
    }
    if (type == "cancel") {
        return cancel_message{fields.number("id")};
    }
    if (type == "recall") {
        return recall_message{fields.number("id")};
    }
    if (type == "tool_result") {
        return tool_result_message{fields.number("tool_call"), std::move(fields.value("value")),
                                   to_attachments(fields, frame)};
    }
    if (type == "tool_error") {
        return to_tool_error(fields);
    }
    if (type == "shutdown") {
        return shutdown_message{};
    }
    if (type == "welcome") {
        const auto capacity = fields.find("capacity") != nullptr ? fields.number("capacity") : 0;
        return welcome_message{to_limits(fields), capacity, fields.text_or_empty("correlation"),
                               fields.text_or_empty("previous_exit"), to_shared(fields)};
    }
    throw protocol_violation("a host may not send a message of that type");
}

} // namespace skep
