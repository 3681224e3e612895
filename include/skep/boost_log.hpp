// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

/// @file
/// Log records of pools for the sinks of Boost.Log. Needs the library skep::boost_log beside skep::skep.

#pragma once

#include <skep/export.hpp>
#include <skep/log.hpp>

namespace skep {

/// Returns a handler for pool_config::log_handler that writes to the sinks of Boost.Log, by a logger with a
/// trivial::severity_level and the channel "skep", or "skep.worker" for what workers print and log. Attributes of a record:
/// Pool, Worker, Session, CorrelationID, Logger (all std::string) and Pid (int), each left out without a value. Messages and
/// attributes are escaped as log_line() does it.
/// Thread safety: the handler may be called from several threads at once.
SKEP_API log_handler boost_log_handler();

} // namespace skep
