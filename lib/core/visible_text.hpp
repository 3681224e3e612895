// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <string>
#include <string_view>

namespace skep {

/// Treatment of line feeds: kept, or escaped like other controls.
enum class line_feeds { keep, escape };

/// Returns `text` in a form safe for a terminal, a log or a browser. Escapes characters that act instead of
/// being visible: controls except tabs, C1 controls, direction marks, and separators of lines and paragraphs,
/// as \n, \x1b, \u202e; and each byte of ill-formed UTF-8, as \xff. The result is well-formed UTF-8; a second
/// call returns it unchanged. So a worker can neither forge a line nor control a terminal.
std::string visible(std::string_view text, line_feeds feeds = line_feeds::escape);

/// Returns JSON text with the same meaning, with such characters escaped by JSON's rules. Preconditions:
/// `serialized` is compact and well-formed.
std::string visible_json(std::string_view serialized);

} // namespace skep
