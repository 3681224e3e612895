// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace skep {

/// The most bytes of a home_question and of a home_answer.
inline constexpr std::size_t most_home_bytes = 4096;

/// A client asks all nodes which of them has a session, or tells all nodes to forget a session.
struct home_question {
    std::string pool;
    std::string session;
    bool is_to_forget = false;
};

/// A node that has the session answers.
struct home_answer {
    std::string node;  ///< the name
    std::string epoch; ///< of the node; see node_beacon
    bool is_draining = false;
};

std::string encode_home_question(const home_question& question);
std::string encode_home_answer(const home_answer& answer);

// Return nullopt for a message of another form. Ignore unknown members.
std::optional<home_question> decode_home_question(std::string_view message);
std::optional<home_answer> decode_home_answer(std::string_view message);

/// Returns true if the id can be that of a session in a home_question.
bool is_session_id(std::string_view id) noexcept;

} // namespace skep
