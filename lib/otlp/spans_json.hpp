// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/events.hpp>
#include <skep/otlp.hpp>

#include <string>
#include <vector>

namespace skep {

/// Returns a request body: an ExportTraceServiceRequest of OTLP as JSON.
std::string to_otlp(const std::vector<events::span>& spans, const otlp_options& about);

} // namespace skep
