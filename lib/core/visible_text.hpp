// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <string>
#include <string_view>

namespace skep {

/// Whether a line feed ends a line of the result, or is escaped like other controls.
enum class line_feeds { keep, escape };

/// `text` as people may see it: on a terminal, in a log, in a browser. Escapes whatever acts instead of being seen: controls
/// but for tabs, C1 controls, marks of direction, separators of lines and paragraphs, as \n, \x1b, \u202e; and each byte
/// of ill-formed UTF-8, as \xff. The result is well-formed UTF-8, and the same again if it is made visible once more. A
/// worker can neither forge a line nor tell a terminal what to do.
std::string visible(std::string_view text, line_feeds feeds = line_feeds::escape);

/// JSON text of the same meaning, in which such characters are escaped by JSON's own rules. `serialized` is compact and
/// well-formed.
std::string visible_json(std::string_view serialized);

} // namespace skep
