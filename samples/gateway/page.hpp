// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <string>

namespace gateway {

/// A page to try the service with in a browser.
std::string page();

} // namespace gateway
