// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <string>

namespace gateway {

/// A page for trying the service in a browser.
std::string page();

} // namespace gateway
