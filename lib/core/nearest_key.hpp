// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>

namespace skep {

/// Which of the known keys a misspelt one was meant to be: the one that fewest edits (a character more, less, another,
/// or two swapped) lead to, if these are no more than one, or a third of its length. Empty if there is none.
std::string_view nearest_key(std::string_view unknown_key,
                             const std::set<std::string, std::less<>>& known_keys);

} // namespace skep
