// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// The template's side of the messages in template_messages.hpp.

#pragma once

#include "wire/template_messages.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace skep {

/// Both throw unsendable for text that is not UTF-8.
std::string encode_template_report(const template_report& report);
std::string encode_fork_answer(const fork_answer& answer);

/// Returns nullopt for any other message. Ignores unknown members.
std::optional<fork_order> decode_fork_order(std::string_view message);

} // namespace skep
