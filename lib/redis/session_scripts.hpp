// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <string_view>

namespace skep {

/// What the operations on a session are in Redis. Keys: the session's hash, the index, the last version; the first
/// argument is the session's id. Times of life are nanoseconds.
namespace session_scripts {

/// Arguments: quota, ttl, when it was created, data, how many bytes of data may be read. Replies: whether it is new, how many there are, how many were taken
/// off the index; then a new one's version, or the fields (see find) of the one there was, or nothing: too many.
std::string_view insert();

/// Arguments: 1 if it is an access, how many bytes of data may be read. Replies: version, ttl, when it was created, data,
/// age and idle time in microseconds, the last worker or nil; or nil.
std::string_view find();

/// Arguments: the version it is to have, ttl, data. Replies: its new version, its age in microseconds and the last worker
/// or nil; 0 if another was faster; nil if it has gone.
std::string_view replace();

/// Argument of record_worker(): the worker. Reply: 1 if there was one, else 0.
std::string_view touch();
std::string_view record_worker();
std::string_view remove();

/// Key: the index alone; argument: how many at most. Reply: how many were taken off it.
std::string_view sweep();

} // namespace session_scripts

} // namespace skep
