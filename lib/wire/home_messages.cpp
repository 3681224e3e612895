// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "wire/home_messages.hpp"

#include "core/node_name.hpp"
#include "core/text.hpp"
#include "wire/json_writer.hpp"
#include "wire/read_members.hpp"
#include "wire/worker_messages.hpp"

#include <cstdint>
#include <utility>

namespace skep {

namespace {

constexpr std::int64_t home_version = 1;
constexpr bus_message_rules rules_of_home{most_home_bytes, home_version};

std::string text_of_member(const json_field& field) {
    return std::string(field.value.as_string());
}

} // namespace

bool is_session_id(std::string_view id) noexcept {
    return !id.empty() && id.size() <= longest_name && is_utf8(id);
}

std::string encode_home_question(const home_question& question) {
    std::string out = R"({"v":)" + std::to_string(home_version) + R"(,"pool":)";
    append_json_text(out, question.pool);
    out += R"(,"session":)";
    append_json_text(out, question.session);
    return out += question.is_to_forget ? R"(,"forget":true})" : "}";
}

std::string encode_home_answer(const home_answer& answer) {
    std::string out = R"({"v":)" + std::to_string(home_version) + R"(,"node":)";
    append_json_text(out, answer.node);
    out += R"(,"epoch":)";
    append_json_text(out, answer.epoch);
    return out += answer.is_draining ? R"(,"draining":true})" : R"(,"draining":false})";
}

std::optional<home_question> decode_home_question(std::string_view message) {
    home_question question;
    const bool is_readable = read_members(message, rules_of_home, [&](const json_field& field) {
        if (field.key == "pool") {
            question.pool = text_of_member(field);
        } else if (field.key == "session") {
            question.session = text_of_member(field);
        } else if (field.key == "forget") {
            question.is_to_forget = field.value.as_bool();
        }
    });
    const bool is_whole = is_readable && !question.pool.empty() && is_session_id(question.session);
    return is_whole ? std::optional(std::move(question)) : std::nullopt;
}

std::optional<home_answer> decode_home_answer(std::string_view message) {
    home_answer answer;
    const bool is_readable = read_members(message, rules_of_home, [&](const json_field& field) {
        if (field.key == "node") {
            answer.node = text_of_member(field);
        } else if (field.key == "epoch") {
            answer.epoch = text_of_member(field);
        } else if (field.key == "draining") {
            answer.is_draining = field.value.as_bool();
        }
    });
    const bool is_whole = is_readable && is_node_name(answer.node) && !answer.epoch.empty();
    return is_whole ? std::optional(std::move(answer)) : std::nullopt;
}

} // namespace skep
