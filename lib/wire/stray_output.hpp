// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <string>
#include <string_view>

namespace skep {

/// What was printed to where frames were expected, told from `unread_bytes`, the bytes that should begin a frame: their first
/// line, for people, or nothing if they do not begin as text does. A frame's length never looks like text: that would be
/// 150 MB at least. So what a frame holds is never shown.
std::string stray_output(std::string_view unread_bytes);

} // namespace skep
