// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/session.hpp>

#include <boost/json/object.hpp>

#include <cstddef>

namespace skep {

/// Returns the estimated heap memory of an object, in bytes. Complexity: linear in its elements.
std::size_t heap_bytes(const boost::json::object& object) noexcept;

/// Returns the estimated memory of a session, in bytes. `size`: the size of the session object itself.
std::size_t memory_of(const detail::session_state& state, std::size_t size) noexcept;

} // namespace skep
