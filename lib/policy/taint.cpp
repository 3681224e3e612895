// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/taint.hpp"

#include <algorithm>
#include <string>
#include <string_view>

namespace skep {

namespace {

bool taints(exit_class kind, const exit_status& status, const crash_barrier_options& options) {
    const auto& ends = options.taint_on;
    const auto named = [&ends](std::string_view end) {
        return std::find(ends.begin(), ends.end(), end) != ends.end();
    };
    const bool by_code = kind != exit_class::killed_by_us && named(std::to_string(status.code()));
    return options.enabled && (named(to_string(kind)) || by_code);
}

} // namespace

bool taint::ended(exit_class kind, const exit_status& status, duration service_time,
                  const crash_barrier_options& options, time_point now) {
    if (service_time >= last_) {
        last_ = duration::zero();
    }
    if (!taints(kind, status, options)) {
        return false;
    }
    last_ = last_ == duration::zero() ? options.taint : std::min(2 * last_, options.max_taint);
    end_time_ = now + last_;
    return true;
}

} // namespace skep
