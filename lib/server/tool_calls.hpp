// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/latch.hpp"
#include "wire/call_messages.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <variant>

namespace skep {

class served_call;

/// A tool call in flight.
struct open_tool_call {
    open_tool_call(const strand& executor, served_call& parent_call)
        : outer(parent_call), answered(executor) {}

    served_call& outer;
    latch answered;
    std::variant<std::monostate, tool_result_message, tool_error_message> answer;
};

/// The tool calls of a worker that the host has not answered yet. Used on the strand.
class tool_calls {
public:
    explicit tool_calls(const strand& executor) : executor_(executor) {}

    std::uint64_t next_number() noexcept { return ++last_; }

    std::shared_ptr<open_tool_call> begin(std::uint64_t number, served_call& outer) {
        return open_.emplace(number, std::make_shared<open_tool_call>(executor_, outer)).first->second;
    }

    /// Removes and returns the tool call. Returns null if the number is unknown because the outer call was
    /// answered.
    std::shared_ptr<open_tool_call> end(std::uint64_t number) {
        const auto node = open_.extract(number);
        return node ? node.mapped() : nullptr;
    }

    /// Drops the tool calls of an answered call: the host answers no more of them.
    void forget(const served_call& outer) {
        std::erase_if(open_, [&](const auto& entry) { return &entry.second->outer == &outer; });
    }

private:
    strand executor_;
    std::uint64_t last_ = 0;
    std::unordered_map<std::uint64_t, std::shared_ptr<open_tool_call>> open_;
};

} // namespace skep
