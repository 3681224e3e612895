// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include <skep/template_status.hpp>

#include <array>
#include <cstddef>

namespace skep {

std::string_view to_string(template_state state) noexcept {
    static constexpr std::array<std::string_view, 3> names{"absent", "ready", "refused"};
    return names.at(static_cast<std::size_t>(state));
}

} // namespace skep
