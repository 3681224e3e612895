// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/nearest_key.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace skep {

namespace {

/// Returns the Damerau-Levenshtein distance, computed for all prefixes of both (restricted: each character is
/// edited at most once).
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector distance(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i) {
        for (std::size_t j = 0; j <= b.size(); ++j) {
            auto& least = distance[i][j];
            if (i == 0 || j == 0) {
                least = i + j;
                continue;
            }
            const std::size_t substitution = a[i - 1] == b[j - 1] ? 0 : 1;
            least = std::min(
                {distance[i - 1][j] + 1, distance[i][j - 1] + 1, distance[i - 1][j - 1] + substitution});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                least = std::min(least, distance[i - 2][j - 2] + 1);
            }
        }
    }
    return distance[a.size()][b.size()];
}

} // namespace

std::string_view nearest_key(std::string_view unknown_key,
                             const std::set<std::string, std::less<>>& known_keys) {
    std::string_view nearest;
    std::size_t fewest = 0;
    for (const auto& key : known_keys) {
        const auto most = std::max<std::size_t>(1, key.size() / 3);
        const auto [shorter, longer] = std::minmax({key.size(), unknown_key.size()});
        if (longer - shorter > most) { // lower bound of the distance; the unknown key may be huge
            continue;
        }
        const auto distance = edit_distance(unknown_key, key);
        if (distance <= most && (nearest.empty() || distance < fewest)) {
            nearest = key;
            fewest = distance;
        }
    }
    return nearest;
}

} // namespace skep
