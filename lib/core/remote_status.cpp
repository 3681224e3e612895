// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include <skep/remote_status.hpp>

#include <array>

namespace skep {

std::string_view to_string(node_state state) noexcept {
    static constexpr std::array<std::string_view, node_state_count> names{
        "opening", "linked", "trial", "draining", "unavailable", "silent", "ejected"};
    return names.at(static_cast<std::size_t>(state));
}

} // namespace skep
