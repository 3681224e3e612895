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

/// Reports a failed operation on the server: throws error(errc::session_backend_failed) with `cause`.
[[noreturn]] void throw_failed(std::string_view operation, const std::string& cause);

/// Converts the replies of session_scripts. Each function throws error(errc::session_backend_failed) for any
/// reply that its script does not send.
namespace session_replies {

/// Returns the new session with `data`, or the existing one; `trimmed_count` is the number of entries removed
/// from the index.
session_insertion insertion(const redisReply& reply, std::string id, session_data data,
                            session::wall_time created_at, std::uint64_t& trimmed_count);

session found(const redisReply& reply, std::string id);
session_replacement replacement(const redisReply& reply, const session& old_session, session_data data);
bool is_one(std::string_view operation, const redisReply& reply);
std::size_t count(std::string_view operation, const redisReply& reply, std::size_t most);

} // namespace session_replies

} // namespace skep
