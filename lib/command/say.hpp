// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/visible_text.hpp"

#include <iostream>
#include <string>

namespace skep {

/// Prints a message of the program itself.
inline void say(const std::string& text) {
    std::cerr << "skep: " << visible(text, line_feeds::keep) << std::endl;
}

} // namespace skep
