// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "wire/node_request.hpp"

#include "core/text.hpp"
#include "wire/json_writer.hpp"
#include "wire/read_members.hpp"

#include <cstdint>
#include <utility>

namespace skep {

namespace {

constexpr std::int64_t request_version = 1;
constexpr bus_message_rules rules_of_request{most_request_bytes, request_version};

/// Leaves room for the other members, also if JSON escapes each byte by six.
constexpr std::size_t longest_answer_text = (most_request_bytes - 64) / 6;

std::string begin_message() {
    return R"({"v":)" + std::to_string(request_version);
}

} // namespace

std::string encode_node_request(node_action action) {
    auto out = begin_message() + R"(,"do":)";
    append_json_text(out, to_string(action));
    return out += '}';
}

std::optional<std::string> decode_node_request(std::string_view message) {
    std::optional<std::string> action;
    const auto read = [&](const json_field& field) {
        if (field.key == "do" && field.value.is_string()) {
            action = field.value.get_string();
        }
    };
    return read_members(message, rules_of_request, read) ? action : std::nullopt;
}

std::string encode_action_outcome(const action_outcome& answer) {
    auto out = begin_message() + R"(,"ok":)" + (answer.is_done ? "true" : "false") + R"(,"text":)";
    append_json_text(out, beginning_of(to_utf8(answer.text), longest_answer_text));
    return out += '}';
}

std::optional<action_outcome> decode_action_outcome(std::string_view message) {
    action_outcome answer;
    bool has_outcome = false;
    const auto read = [&](const json_field& field) {
        if (field.key == "ok" && field.value.is_bool()) {
            answer.is_done = field.value.get_bool();
            has_outcome = true;
        } else if (field.key == "text" && field.value.is_string()) {
            answer.text = field.value.get_string();
        }
    };
    return read_members(message, rules_of_request, read) && has_outcome ? std::optional(std::move(answer))
                                                                        : std::nullopt;
}

} // namespace skep
