// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <functional>
#include <string>

namespace skep {

/// How far a worker is with a call, as its code says by skep.progress(fraction, text).
struct progress {
    double fraction = 0; ///< of the work that is done, 0..1
    std::string text;    ///< what it is at; may be empty, at most 4 KiB
};

/// Learns of a call's progress: see request::on_progress.
using progress_handler = std::function<void(const progress&)>;

} // namespace skep
