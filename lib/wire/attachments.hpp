// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "wire/frame.hpp"
#include "wire/message_members.hpp"
#include <skep/blob.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace skep {

/// Cuts the attachments of a message out of its frame, by the member `attachments`.
std::vector<blob> to_attachments(const message_members& fields, const frame_view& frame);

/// Appends the member `attachments`, with a comma before it.
void append_attachment_sizes(std::string& out, const std::vector<blob>& attachments);

std::size_t total_size(const std::vector<blob>& attachments) noexcept;

} // namespace skep
