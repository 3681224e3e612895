// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>

namespace skep {

/// Returns the known key with the smallest edit distance from a misspelt key. Edits are insertions,
/// deletions, substitutions and swaps of two characters. Considers distances up to a third of the known key's
/// length, but at least one. Empty if no key qualifies.
std::string_view nearest_key(std::string_view unknown_key,
                             const std::set<std::string, std::less<>>& known_keys);

} // namespace skep
