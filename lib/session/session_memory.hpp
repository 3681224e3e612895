// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/session.hpp>

#include <boost/json/object.hpp>

#include <cstddef>

namespace skep {

/// About what an object takes on the heap, in bytes. In time proportional to its elements.
std::size_t heap_bytes(const boost::json::object& object) noexcept;

/// About what a session takes, in bytes, with `size` for itself.
std::size_t memory_of(const detail::session_state& state, std::size_t size) noexcept;

} // namespace skep
