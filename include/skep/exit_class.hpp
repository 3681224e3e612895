// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/exit_status.hpp>
#include <skep/export.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace skep {

/// Class of the end of a worker process, judged by all evidence.
enum class exit_class {
    unknown,       ///< the exit status is unknown
    clean,         ///< exit code 0
    error,         ///< another exit code
    segfault,      ///< SIGSEGV, SIGBUS, SIGILL, SIGFPE, or the exit code of a shell for one of these signals
    abort,         ///< SIGABRT: a failed assertion, an uncaught C++ exception
    out_of_memory, ///< probably killed by the kernel for lack of memory, or the output says so
    gpu,           ///< failed, and the last output blames the GPU
    killed_by_us,  ///< killed by the pool
    killed_by_someone, ///< SIGKILL, SIGTERM or another signal that the pool did not send
};

/// Returns the name of the enumerator, for example "out_of_memory".
SKEP_API std::string_view to_string(exit_class kind) noexcept;

/// Returns the class of that name, or std::nullopt if there is no such class.
SKEP_API std::optional<exit_class> exit_class_of(std::string_view name) noexcept;

/// Evidence about the end of a process.
struct exit_evidence {
    exit_status status;          ///< exit status of the process
    bool killed_by_pool = false; ///< the pool sent SIGKILL or SIGTERM before the end
    bool oom_kill = false;       ///< the kernel counted an out-of-memory kill on this machine meanwhile
    std::string_view last_words; ///< end of the process's output
};

/// Result of classify_exit().
struct exit_verdict {
    exit_class kind = exit_class::unknown; ///< class of the end
    std::string evidence;                  ///< reason for the class, for people
};

/// Returns the class of an end. The first match wins: killed by us, out of memory, the crash signals, gpu,
/// the rest.
SKEP_API exit_verdict classify_exit(const exit_evidence& evidence);

/// Returns true if the worker's own work may have caused the end: segfault, abort, out_of_memory, gpu, error.
SKEP_API bool is_crash(exit_class kind) noexcept;

} // namespace skep
