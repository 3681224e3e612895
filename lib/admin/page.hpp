// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <string>

namespace skep {

/// Returns page.html as of the build.
std::string admin_page();

} // namespace skep
