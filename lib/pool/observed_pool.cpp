// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include <skep/observed_node.hpp>
#include <skep/observed_pool.hpp>

namespace skep {

observed_pool::~observed_pool() = default;
observed_node::~observed_node() = default;

} // namespace skep
