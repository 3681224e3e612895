// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <functional>
#include <string>

namespace skep {

/// Progress of a call, as the worker's code reports it by skep.progress(fraction, text).
struct progress {
    double fraction = 0; ///< share of the work that is done, 0..1
    std::string text;    ///< description of the present step; may be empty, at most 4 KiB
};

/// Receives the progress of a call: see request::on_progress.
using progress_handler = std::function<void(const progress&)>;

} // namespace skep
