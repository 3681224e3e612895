// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/serving.hpp"
#include <skep/pool_status.hpp>

#include <algorithm>
#include <array>

namespace skep {

std::string_view to_string(pool_phase phase) noexcept {
    static constexpr std::array<std::string_view, 6> names{"created",  "starting", "running",
                                                           "stopping", "stopped",  "failed"};
    return names.at(static_cast<std::size_t>(phase));
}

std::string_view to_string(circuit_state state) noexcept {
    static constexpr std::array<std::string_view, 3> names{"closed", "open", "half_open"};
    return names.at(static_cast<std::size_t>(state));
}

bool can_serve(const pool_status& status) noexcept {
    const auto serves = [](const worker_status& each) { return is_serving(each.state, each.retiring); };
    return status.phase == pool_phase::running && !status.suspended &&
           std::any_of(status.workers.begin(), status.workers.end(), serves);
}

} // namespace skep
