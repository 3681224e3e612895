// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// The messages between an operator and a node: see lib/remote/PROTOCOL.md.

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace skep {

/// The most bytes of a request, and of an answer.
inline constexpr std::size_t most_request_bytes = 4096;

/// The operations of a node for operators.
enum class node_action { drain, undrain, restart };

inline constexpr std::array<std::string_view, 3> node_action_names{"drain", "undrain", "restart"};

inline std::string_view to_string(node_action action) noexcept {
    return node_action_names.at(static_cast<std::size_t>(action));
}

/// Returns nullopt for an unknown name.
inline std::optional<node_action> node_action_of(std::string_view name) noexcept {
    const auto* const found = std::find(node_action_names.begin(), node_action_names.end(), name);
    const auto index = found - node_action_names.begin();
    return found == node_action_names.end() ? std::nullopt : std::optional(static_cast<node_action>(index));
}

std::string encode_node_request(node_action action);

/// Returns the name of the action, known or not. Returns nullopt for a message that is no request of this
/// version. Ignores unknown members.
std::optional<std::string> decode_node_request(std::string_view message);

/// The answer of a node.
struct action_outcome {
    bool is_done = false; ///< the node has done it, or had done it before
    std::string text;     ///< for people
};

/// Returns the message. Shortens a text that is too long.
std::string encode_action_outcome(const action_outcome& answer);

/// Returns nullopt for a message that is no answer. Ignores unknown members.
std::optional<action_outcome> decode_action_outcome(std::string_view message);

} // namespace skep
