// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

/// @file
/// Log records of pools for the sinks of Boost.Log. Link skep::boost_log in addition to skep::skep.

#pragma once

#include <skep/export.hpp>
#include <skep/log.hpp>

namespace skep {

/// Returns a handler for pool_config::log_handler that writes to the sinks of Boost.Log. Its logger has a
/// trivial::severity_level, and the channel "skep", or "skep.worker" for output and log records of workers.
/// Attributes of a record: Pool, Worker, Session, CorrelationID, Logger (all std::string) and Pid (int), each
/// left out without a value. Messages and attributes are escaped as by log_line().
/// Thread safety: the handler may be called from several threads at once.
SKEP_API log_handler boost_log_handler();

} // namespace skep
