// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/config_problems.hpp"
#include <skep/admin_options.hpp>

namespace skep {

/// Visits every field of admin_options that a document can have: see visit_fields().
template <class Options, class Visitor>
void visit_admin_fields(Options& options, Visitor& visit) {
    visit.text("address", options.address);
    visit.number("port", options.port, 0, 65'535);
    visit.secret("token", options.token);
    visit.number("connections", options.connections, 1, 10'000);
}

/// Adds the violated rules.
void check(const admin_options& options, config_problems& problems);

} // namespace skep
