// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "remote/client_rules.hpp"

#include "wire/protocol_violation.hpp"

#include <algorithm>
#include <string>
#include <variant>

namespace skep {

void client_rules::check(const host_message& message, std::size_t calls) {
    const bool is_welcome = std::holds_alternative<welcome_message>(message);
    if (is_welcome == has_welcome_) {
        throw protocol_violation(is_welcome ? "a second welcome" : "a message before the welcome");
    }
    has_welcome_ = true;
    if (const auto* const call = std::get_if<call_message>(&message)) {
        check_call(*call, calls);
    }
}

void client_rules::check_call(const call_message& call, std::size_t calls) {
    if (call.id <= last_id_) {
        throw protocol_violation("call " + std::to_string(call.id) + " after call " +
                                 std::to_string(last_id_));
    }
    if (call.batch.size > 1) {
        throw protocol_violation("a batch, which a node does not take");
    }
    if (calls >= most_calls) {
        throw protocol_violation("more than " + std::to_string(most_calls) + " calls at a time");
    }
    last_id_ = call.id;
}

worker_limits usable_limits(worker_limits limits) noexcept {
    constexpr std::size_t least_frame = 1024;
    constexpr std::size_t least_depth = 4;
    constexpr std::size_t least_tree = 64u << 10;
    limits.frame_bytes = std::max(limits.frame_bytes, least_frame);
    limits.json_bytes = std::max(limits.json_bytes, least_frame);
    limits.json_depth = std::max(limits.json_depth, least_depth);
    limits.tree_bytes = std::max(limits.tree_bytes, least_tree);
    limits.message_bytes = std::max(limits.message_bytes, least_frame);
    limits.tool_call_bytes = std::max(limits.tool_call_bytes, least_frame);
    limits.tool_calls = std::max<std::size_t>(limits.tool_calls, 1);
    return limits;
}

} // namespace skep
