// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/slot_launch.hpp"

#include <utility>

namespace skep {

launch_options for_slot(launch_options common, std::uint32_t slot) {
    if (const auto lists = std::exchange(common.slot_args, {}); !lists.empty()) {
        const auto& mine = lists[slot % lists.size()];
        common.args.insert(common.args.end(), mine.begin(), mine.end());
    }
    for (const auto& [name, values] : std::exchange(common.slot_environment, {})) {
        common.environment[name] = values[slot % values.size()];
    }
    return common;
}

} // namespace skep
