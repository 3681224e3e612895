// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/taint.hpp"

#include <algorithm>

namespace skep {

namespace {

bool taints(exit_class kind, const crash_barrier_options& options) {
    const auto& names = options.taint_on;
    return options.enabled && std::find(names.begin(), names.end(), to_string(kind)) != names.end();
}

} // namespace

bool taint::ended(exit_class kind, duration served, const crash_barrier_options& options, time_point now) {
    if (served >= last_) {
        last_ = duration::zero();
    }
    if (!taints(kind, options)) {
        return false;
    }
    last_ = last_ == duration::zero() ? options.taint : std::min(2 * last_, options.max_taint);
    until_ = now + last_;
    return true;
}

} // namespace skep
