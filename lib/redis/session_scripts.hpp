// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <string_view>

namespace skep {

/// Lua scripts of the operations on sessions. Keys: the session's hash, the index, the last version. The
/// first argument is the session's id. Times of life are in nanoseconds.
namespace session_scripts {

/// Arguments: quota, ttl, creation time, data, limit of data to return in bytes. Reply: 1 if new, the number
/// of sessions, the number of entries removed from the index; then the version of a new session, or the
/// fields (see find) of an existing one. Nothing follows if the quota is exhausted.
std::string_view insert();

/// Arguments: 1 if the operation counts as an access, limit of data to return in bytes. Reply: version, ttl,
/// creation time, data, age and idle time in microseconds, the last worker or nil. Nil if there is no
/// session.
std::string_view find();

/// Arguments: the expected version, ttl, data. Reply: the new version, the age in microseconds and the last
/// worker or nil; 0 if the version differs; nil if there is no session.
std::string_view replace();

/// Argument of record_worker(): the worker. Reply: 1 if the session exists, else 0.
std::string_view touch();
std::string_view record_worker();
std::string_view remove();

/// Key: only the index. Argument: the limit of entries to remove. Reply: the number of entries removed.
std::string_view sweep();

} // namespace session_scripts

} // namespace skep
