// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/session.hpp>
#include <skep/session_backend.hpp>

#include <cstddef>
#include <cstdint>
#include <hiredis/hiredis.h>
#include <string>
#include <string_view>

namespace skep {

/// Ends an operation on the server that failed for `cause`: throws error(errc::session_backend_failed).
[[noreturn]] void throw_failed(std::string_view operation, const std::string& cause);

/// What the replies of session_scripts say. Each function throws error(errc::session_backend_failed) for a reply that the
/// script does not make, whatever it is.
namespace session_replies {

/// A new session that holds `data`, or the one there was; counts how many were taken off the index.
session_insertion insertion(const redisReply& reply, std::string id, session_data data,
                            session::wall_time created_at, std::uint64_t& trimmed_count);

session found(const redisReply& reply, std::string id);
session_replacement replacement(const redisReply& reply, const session& old_session, session_data data);
bool is_one(std::string_view operation, const redisReply& reply);
std::size_t count(std::string_view operation, const redisReply& reply, std::size_t most);

} // namespace session_replies

} // namespace skep
