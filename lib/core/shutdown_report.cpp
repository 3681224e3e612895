// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include <skep/shutdown_report.hpp>

#include <algorithm>
#include <array>

namespace skep {

std::string_view to_string(stop_stage stage) noexcept {
    static constexpr std::array<std::string_view, 5> names{"none", "ask", "terminate", "kill", "lost"};
    return names.at(static_cast<std::size_t>(stage));
}

bool shutdown_report::clean() const noexcept {
    return std::none_of(workers.begin(), workers.end(), [](const worker_exit& exit) {
        return exit.stage() == stop_stage::lost || exit.status.was_taken();
    });
}

} // namespace skep
