// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <string>

namespace skep {

/// page.html, as it was when this was built.
std::string admin_page();

} // namespace skep
