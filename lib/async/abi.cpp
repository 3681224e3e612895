// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include <skep/abi.hpp>

namespace skep::built_with {

const char SKEP_SETTING_BOOST = 0;
const char SKEP_SETTING_REACTOR = 0;
const char SKEP_SETTING_TRACKING = 0;
const char SKEP_SETTING_BLOCKS = 0;
const char SKEP_SETTING_FRAMES = 0;
const char SKEP_SETTING_THREADS = 0;
const char SKEP_SETTING_CACHE = 0;
const char SKEP_SETTING_CONTAINERS = 0;

} // namespace skep::built_with
