// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <string>
#include <string_view>

namespace skep {

/// Returns the first line of text printed in place of a frame, made readable, or an empty text if the bytes
/// do not begin like text. `unread_bytes`: the bytes at the start of a frame. A frame's length never looks
/// like text: such a length would be at least 150 MB. So the content of a frame is never shown.
std::string stray_output(std::string_view unread_bytes);

} // namespace skep
