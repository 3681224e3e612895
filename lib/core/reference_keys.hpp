// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <string_view>

namespace skep {

/// The key of a reference to an attachment: {"$attachment": index}.
inline constexpr std::string_view attachment_key = "$attachment";

/// The key of an array's elements, with a reference as its value.
inline constexpr std::string_view array_key = "$array";

} // namespace skep
