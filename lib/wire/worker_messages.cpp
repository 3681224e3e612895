// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "wire/worker_messages.hpp"

#include "core/utf8.hpp"
#include "wire/protocol_violation.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <algorithm>
#include <array>
#include <csignal>
#include <limits>

namespace skep {

namespace json = boost::json;

namespace {

/// The members of one message, fetched with the type that the protocol gives them.
class members {
public:
    members(std::vector<json_field>& fields, std::string_view type) : fields_(fields), type_(type) {}

    json::value* find(std::string_view key) const noexcept {
        for (auto& field : fields_) {
            if (field.key == key) {
                return &field.value;
            }
        }
        return nullptr;
    }

    json::value& value(std::string_view key) const {
        if (auto* found = find(key)) {
            return *found;
        }
        refuse(key, "is missing");
    }

    std::uint64_t number(std::string_view key) const {
        boost::system::error_code ec;
        const auto number = value(key).to_number<std::uint64_t>(ec);
        if (ec) {
            refuse(key, "is not an integer of at most 64 bits, 0 or more");
        }
        return number;
    }

    std::int64_t signed_number(std::string_view key) const {
        const auto found = number(key);
        if (found > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
            refuse(key, "is too large");
        }
        return static_cast<std::int64_t>(found);
    }

    std::string text(std::string_view key) const { return to_text(key, value(key)); }

    std::string text_or_empty(std::string_view key) const {
        auto* found = find(key);
        return found == nullptr ? std::string() : to_text(key, *found);
    }

    std::string to_text(std::string_view key, const json::value& value) const {
        return std::string(to_view(key, value));
    }

    std::string_view to_view(std::string_view key, const json::value& value) const {
        if (!value.is_string()) {
            refuse(key, "is not a string");
        }
        return value.get_string();
    }

    [[noreturn]] void refuse(std::string_view key, const char* problem) const {
        throw protocol_violation("field '" + std::string(key) + "' of a '" + std::string(type_) +
                                 "' message " + problem);
    }

private:
    std::vector<json_field>& fields_;
    std::string_view type_;
};

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
    if (const auto* own = fields.find("own_health_check")) {
        if (!own->is_bool()) {
            fields.refuse("own_health_check", "is neither true nor false");
        }
        hello.own_health_check = own->get_bool();
    }
    if (fields.find("stack_signal") != nullptr) {
        const auto number = fields.number("stack_signal");
        if (number != SIGUSR1 && number != SIGUSR2) { // a worker must not choose what it is signalled with
            fields.refuse("stack_signal", "is neither SIGUSR1 nor SIGUSR2");
        }
        hello.stack_signal = static_cast<int>(number);
    }
    return hello;
}

std::vector<blob> to_attachments(const members& fields, std::span<const std::byte> payload) {
    std::vector<blob> attachments;
    const auto* lengths = fields.find("attachments");
    if (lengths == nullptr) {
        if (!payload.empty()) {
            fields.refuse("attachments", "is missing though the frame has a payload");
        }
        return attachments;
    }
    if (!lengths->is_array() || lengths->get_array().size() > most_attachments) {
        fields.refuse("attachments", "is not an array of at most 65,536");
    }
    for (const auto& item : lengths->get_array()) {
        boost::system::error_code ec;
        const auto length = item.to_number<std::uint64_t>(ec);
        if (ec || length > payload.size()) {
            fields.refuse("attachments", "does not match the frame's payload");
        }
        attachments.push_back(blob::copy_of(payload.first(length)));
        payload = payload.subspan(length);
    }
    if (!payload.empty()) {
        fields.refuse("attachments", "does not match the frame's payload");
    }
    return attachments;
}

/// Nothing else has any.
void refuse_attachments(const members& fields, std::span<const std::byte> payload) {
    const auto* lengths = fields.find("attachments");
    const bool none = lengths == nullptr || (lengths->is_array() && lengths->get_array().empty());
    if (!none || !payload.empty()) {
        fields.refuse("attachments", "is allowed in a result only");
    }
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
    return error;
}

} // namespace

worker_message worker_message_decoder::decode(const frame_view& frame) {
    auto& read = reader_.read(frame.json);
    const members any(read, "?");
    const auto type = any.to_view("type", any.value("type"));
    static constexpr std::array<std::string_view, 5> known{"result", "pong", "error", "ready", "hello"};
    if (std::find(known.begin(), known.end(), type) == known.end()) {
        throw protocol_violation("a worker may not send a message of that type");
    }
    const members fields(read, type);
    if (type == "result") {
        auto attachments = to_attachments(fields, frame.payload);
        return result_message{fields.number("id"), std::move(fields.value("value")), std::move(attachments)};
    }
    refuse_attachments(fields, frame.payload);
    if (type == "pong") {
        return pong_message{fields.number("seq"), fields.number("in_flight"), fields.number("completed")};
    }
    if (type == "error") {
        return to_error(fields);
    }
    if (type == "ready") {
        return ready_message{};
    }
    return to_hello(fields);
}

} // namespace skep
