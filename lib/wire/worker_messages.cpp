// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "wire/worker_messages.hpp"

#include "core/text.hpp"
#include "core/trace_context.hpp"
#include "wire/attachments.hpp"
#include "wire/message_cost.hpp"
#include "wire/message_members.hpp"
#include "wire/protocol_violation.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>

namespace skep {

namespace json = boost::json;

namespace {

using namespace std::string_view_literals;

using members = message_members;

bool flag_or(const members& fields, std::string_view key, bool otherwise) {
    const auto* const found = fields.find(key);
    if (found != nullptr && !found->is_bool()) {
        fields.refuse(key, "is neither true nor false");
    }
    return found != nullptr ? found->get_bool() : otherwise;
}

/// Reads for each command {"most": calls, "wait_ms": milliseconds}.
batch_commands to_batches(const members& fields, const boost::json::value& value) {
    if (!value.is_object()) {
        fields.refuse("batches", "is not an object");
    }
    batch_commands batches;
    for (const auto& each : value.get_object()) {
        const auto* const limits = each.value().if_object();
        const auto* const most = limits != nullptr ? limits->if_contains("most") : nullptr;
        const auto* const wait = limits != nullptr ? limits->if_contains("wait_ms") : nullptr;
        boost::system::error_code problem;
        const auto calls = most != nullptr ? most->to_number<std::size_t>(problem) : 0;
        const auto time = wait != nullptr ? wait->to_number<double>(problem) : 0.0;
        if (problem || calls < 1 || calls > most_in_batch || !(time >= 0 && time <= longest_batch_wait_ms)) {
            fields.refuse("batches", "has no valid most or wait_ms");
        }
        const std::chrono::duration<double, std::milli> wait_time(time);
        batches.insert_or_assign(std::string(each.key()),
                                 batch_limits{calls, std::chrono::duration_cast<duration>(wait_time)});
    }
    return batches;
}

std::uint64_t to_slots(const members& fields) {
    const auto slots = fields.number("slots");
    if (slots < 1 || slots > most_slots) {
        fields.refuse("slots", "is not 1 to 65,536");
    }
    return slots;
}

hello_message to_hello(const members& fields) {
    hello_message hello;
    hello.protocol = fields.signed_number("protocol");
    hello.token = fields.text("token");
    hello.pid = fields.signed_number("pid");
    hello.sdk = fields.text_or_empty("sdk");
    hello.capacity = fields.find("capacity") != nullptr ? fields.number("capacity") : 1;
    if (hello.capacity == 0) {
        fields.refuse("capacity", "must be at least 1");
    }
    if (const auto* commands = fields.find("commands")) {
        if (!commands->is_array()) {
            fields.refuse("commands", "is not an array");
        }
        for (const auto& command : commands->get_array()) {
            hello.commands.push_back(fields.to_text("commands", command));
        }
    }
    hello.health_check = fields.text_or_empty("health_check");
    if (hello.health_check.size() > longest_name) {
        fields.refuse("health_check", "is too long a name");
    }
    hello.own_health_check = flag_or(fields, "own_health_check", true);
    hello.recall = flag_or(fields, "recall", false);
    if (fields.find("stack_signal") != nullptr) {
        const auto number = fields.number("stack_signal");
        if (number != SIGUSR1 && number != SIGUSR2) { // the worker must not choose an arbitrary signal
            fields.refuse("stack_signal", "is neither SIGUSR1 nor SIGUSR2");
        }
        hello.stack_signal = static_cast<int>(number);
    }
    hello.loop = fields.text_or_empty("loop");
    if (hello.loop.size() > longest_name) {
        fields.refuse("loop", "is too long a name");
    }
    if (const auto* batches = fields.find("batches")) {
        hello.batches = to_batches(fields, *batches);
    }
    hello.slots = fields.find("slots") != nullptr ? to_slots(fields) : 0;
    hello.shared = fields.find("shared") != nullptr ? fields.number("shared") : 0;
    return hello;
}

/// Refuses attachments for all other types.
void refuse_attachments(const members& fields, std::span<const std::byte> payload) {
    const auto* lengths = fields.find("attachments");
    const bool none = lengths == nullptr || (lengths->is_array() && lengths->get_array().empty());
    if (!none || !payload.empty()) {
        fields.refuse("attachments", "is allowed in a result, chunk or tool_call only");
    }
}

/// Returns a number of the facts of a node, within its limits; the least one without such a member.
std::int64_t number_of_node(const json::object& facts, std::string_view key, std::int64_t least,
                            std::int64_t most) {
    const auto* const found = facts.if_contains(key);
    return found != nullptr && found->is_int64() ? std::clamp(found->get_int64(), least, most) : least;
}

/// Reads the facts of a node. A worker may send the member for reasons of its own: members of other types are
/// left out.
std::shared_ptr<const node_answer> to_node_answer(const members& fields) {
    constexpr std::chrono::milliseconds longest_wait = std::chrono::hours(24 * 365);
    const auto* const found = fields.find("node");
    const auto* const told = found != nullptr ? found->if_object() : nullptr;
    if (told == nullptr) {
        return nullptr;
    }
    const auto made = std::make_shared<node_answer>();
    const auto* const worker = told->if_contains("worker");
    if (worker != nullptr && worker->is_string() && worker->get_string().size() <= longest_worker_id) {
        made->worker = to_worker_id(worker->get_string());
    }
    made->attempts = static_cast<int>(number_of_node(*told, "attempts", 1, most_attempts_at_node));
    made->wait = std::chrono::milliseconds(number_of_node(*told, "wait_ms", 0, longest_wait.count()));
    return made;
}

error_message to_error(const members& fields) {
    error_message error;
    error.id = fields.number("id");
    auto& body = fields.value("error");
    if (!body.is_object()) {
        fields.refuse("error", "is not an object");
    }
    const auto text = [&](std::string_view key) {
        const auto* found = body.get_object().if_contains(key);
        return found == nullptr ? std::string_view() : fields.to_view(key, *found);
    };
    error.type = beginning_of(text("type"), longest_name);
    error.message = beginning_of(text("message"), longest_error_message);
    error.traceback = end_of(text("traceback"), longest_traceback);
    error.code = beginning_of(text("code"), longest_name);
    if (auto* data = body.get_object().if_contains("data"); data != nullptr && !error.code.empty()) {
        error.data = std::move(*data);
    }
    if (error.type.empty()) {
        fields.refuse("error", "names no type");
    }
    error.from_node = to_node_answer(fields);
    return error;
}

progress_message to_progress(const members& fields) {
    boost::system::error_code ec;
    const auto fraction = fields.value("fraction").to_number<double>(ec);
    if (ec || !(fraction >= 0 && fraction <= 1)) {
        fields.refuse("fraction", "is not a number from 0 to 1");
    }
    return {fields.number("id"),
            {fraction, beginning_of(fields.text_or_empty("text"), longest_progress_text)}};
}

tool_call_message to_tool_call(const members& fields, std::vector<blob> attachments) {
    tool_call_message asked;
    asked.id = fields.number("id");
    asked.number = fields.number("tool_call");
    asked.name = beginning_of(fields.text("name"), longest_name);
    auto& args = fields.value("args");
    if (!args.is_object()) {
        fields.refuse("args", "is not an object");
    }
    asked.args = std::move(args.get_object());
    asked.attachments = std::move(attachments);
    if (fields.find("parent_span") != nullptr) {
        asked.parent_span = fields.text("parent_span");
        if (!is_span_id(asked.parent_span)) {
            fields.refuse("parent_span", "is not 16 hexadecimal digits");
        }
    }
    return asked;
}

json::object object_or_empty(const members& fields, std::string_view key) {
    auto* const found = fields.find(key);
    if (found == nullptr) {
        return {};
    }
    if (!found->is_object()) {
        fields.refuse(key, "is not an object");
    }
    return std::move(found->get_object());
}

/// Keeps an event's memory in proportion to its text.
void check_flat(const members& fields, std::string_view key, const json::object& object) {
    const auto is_nested = [](const auto& member) { return member.value().is_structured(); };
    if (object.size() > most_event_members || std::any_of(object.begin(), object.end(), is_nested)) {
        fields.refuse(key, "has more than 64 members, or nested ones");
    }
}

span_message to_span(const members& fields, json::value& value) {
    constexpr std::int64_t latest = 9'000'000'000'000'000; // the limit of a clock in nanoseconds
    const auto* const object = value.if_object();
    const auto text = [&](const char* key) {
        const auto* const found = object != nullptr ? object->if_contains(key) : nullptr;
        return found != nullptr && found->is_string() ? std::string(found->get_string()) : std::string();
    };
    const auto count = [&](const char* key) {
        const auto* const found = object != nullptr ? object->if_contains(key) : nullptr;
        return found != nullptr && found->is_int64() ? found->get_int64() : -1;
    };
    const auto start = count("start_us");
    const auto time = count("time_us");
    span_message span{text("trace"),
                      text("id"),
                      text("parent"),
                      beginning_of(text("outcome"), longest_name),
                      std::chrono::microseconds(start),
                      std::chrono::microseconds(time)};
    const bool has_times = start >= 0 && start <= latest && time >= 0 && time <= latest - start;
    if (!is_trace_id(span.trace_id) || !is_span_id(span.span_id) || !is_span_id(span.parent_id) ||
        !has_times) {
        fields.refuse("span",
                      "is not an object of trace, id and parent in hexadecimal, start_us and time_us");
    }
    return span;
}

event_message to_event(const members& fields, std::size_t size) {
    event_message told;
    told.name = fields.text("name");
    if (size > longest_event || told.name.empty() || told.name.size() > longest_name) {
        fields.refuse("name", "is empty or too long, or what goes with it is");
    }
    told.measurements = object_or_empty(fields, "measurements");
    for (const auto& [key, value] : told.measurements) {
        if (!value.is_number()) {
            fields.refuse("measurements", "holds something that is no number");
        }
    }
    told.metadata = object_or_empty(fields, "metadata");
    check_flat(fields, "measurements", told.measurements);
    check_flat(fields, "metadata", told.metadata);
    told.correlation_id = beginning_of(fields.text_or_empty("correlation_id"), longest_name);
    told.dropped = fields.find("dropped") != nullptr ? fields.number("dropped") : 0;
    if (auto* const span = fields.find("span")) {
        told.span = to_span(fields, *span);
    }
    return told;
}

log_message to_log(const members& fields) {
    static constexpr std::array<std::string_view, 4> levels{"debug", "info", "warning", "error"};
    const auto level =
        std::find(levels.begin(), levels.end(), fields.to_view("level", fields.value("level")));
    if (level == levels.end()) {
        fields.refuse("level", "is none of debug, info, warning and error");
    }
    return {static_cast<log_level>(level - levels.begin()),
            beginning_of(fields.text_or_empty("logger"), longest_name),
            beginning_of(fields.to_view("text", fields.value("text")), longest_log_text),
            beginning_of(fields.text_or_empty("correlation_id"), longest_name)};
}

/// A result in the usual form: {"type":"result","id":N,"value":V}, without spaces and other members.
struct usual_result {
    std::uint64_t id;
    std::string_view value;

    // The size of the message's tree in front of the value; see json_field_reader.
    static constexpr std::size_t bytes_before = 3 * (40 + 24) + "typeidvalueresult"sv.size() - 24;
};

std::optional<usual_result> usual_result_in(std::string_view json) noexcept {
    constexpr auto head = R"({"type":"result","id":)"sv;
    constexpr auto middle = R"(,"value":)"sv;
    constexpr std::size_t most_digits = 18; // certain to fit
    if (!json.starts_with(head) || !json.ends_with('}')) {
        return std::nullopt;
    }
    json.remove_prefix(head.size());
    json.remove_suffix(1);
    usual_result result{};
    const auto* const end = json.data() + std::min(json.size(), most_digits);
    const auto number = std::from_chars(json.data(), end, result.id);
    const auto digits = static_cast<std::size_t>(number.ptr - json.data());
    const bool is_number = digits > 0 && (json.front() != '0' || digits == 1);
    json.remove_prefix(digits);
    if (!is_number || !json.starts_with(middle)) {
        return std::nullopt;
    }
    result.value = json.substr(middle.size());
    return result;
}

} // namespace

worker_message worker_message_decoder::decode(const frame_view& frame) {
    const auto usual = frame.payload.empty() ? usual_result_in(frame.json) : std::nullopt;
    if (usual) {
        if (auto* const value = reader_.read_value(usual->value, usual_result::bytes_before)) {
            return result_message{usual->id, std::move(*value), {}, nullptr};
        }
    }
    return to_message(reader_.read(frame.json), frame);
}

worker_message worker_message_decoder::finish(const frame_view& frame) {
    return to_message(reader_.fields(), frame);
}

std::size_t worker_message_decoder::cost_of(const worker_message& message,
                                            const frame_view& frame) const noexcept {
    const auto* const asked = std::get_if<tool_call_message>(&message);
    const auto reading = cost_of_reading(frame.json.size(), reader_.tree_bytes());
    return asked == nullptr
               ? reading
               : reading + cost_of_attachments(total_size(asked->attachments), asked->attachments.size());
}

/// Limits the size of unasked messages and tool calls, including unknown members.
void worker_message_decoder::check_size(std::string_view type, const frame_view& frame) const {
    if (type == "result" || type == "chunk" || type == "error") {
        return;
    }
    const bool is_tool_call = type == "tool_call";
    const auto size = is_tool_call ? 4 + frame.json.size() + frame.payload.size() : frame.json.size();
    const auto limit = is_tool_call ? limits_.tool_call_bytes : limits_.message_bytes;
    if (size > limit) {
        throw protocol_violation("a '" + std::string(type) + "' message of " + std::to_string(size) +
                                 " bytes exceeds the limit of " + std::to_string(limit) +
                                 (is_tool_call ? "; see limits.tool_call_bytes" : ""));
    }
}

worker_message worker_message_decoder::to_message(std::vector<json_field>& read,
                                                  const frame_view& frame) const {
    const members any(read, "?");
    const auto type = any.to_view("type", any.value("type"));
    static constexpr std::array<std::string_view, 13> known{
        "result",  "chunk",  "pong",  "error", "progress", "tool_call", "recalled",
        "release", "region", "event", "log",   "ready",    "hello"};
    if (std::find(known.begin(), known.end(), type) == known.end()) {
        throw protocol_violation("a worker may not send a message of that type");
    }
    check_size(type, frame);
    const members fields(read, type);
    if (type == "result") {
        auto attachments = to_attachments(fields, frame, memory_);
        return result_message{fields.number("id"), std::move(fields.value("value")), std::move(attachments),
                              to_node_answer(fields)};
    }
    if (type == "chunk") {
        auto attachments = to_attachments(fields, frame, memory_);
        const auto bytes = frame.json.size() + total_size(attachments);
        return chunk_message{fields.number("id"), std::move(fields.value("value")), std::move(attachments),
                             bytes};
    }
    if (type == "tool_call") {
        return to_tool_call(fields, to_attachments(fields, frame, memory_));
    }
    refuse_attachments(fields, frame.payload);
    if (type == "pong") {
        return pong_message{fields.number("seq"), fields.number("in_flight"), fields.number("completed")};
    }
    if (type == "error") {
        return to_error(fields);
    }
    if (type == "recalled") {
        return recalled_message{fields.number("id")};
    }
    if (type == "release") {
        return release_message{{fields.number("region"), fields.number("at")}};
    }
    if (type == "region") {
        return region_message{fields.number("bytes")};
    }
    if (type == "progress") {
        return to_progress(fields);
    }
    if (type == "event") {
        return to_event(fields, frame.json.size());
    }
    if (type == "log") {
        return to_log(fields);
    }
    if (type == "ready") {
        return ready_message{};
    }
    return to_hello(fields);
}

} // namespace skep
