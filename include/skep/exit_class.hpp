// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/exit_status.hpp>
#include <skep/export.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace skep {

/// How a worker's process came to its end, judged from all the evidence.
enum class exit_class {
    unknown,       ///< nobody knows its status
    clean,         ///< exit code 0
    error,         ///< another exit code
    segfault,      ///< SIGSEGV, SIGBUS, SIGILL, SIGFPE, or the exit codes by which a shell reports them
    abort,         ///< SIGABRT: a failed assertion, an uncaught C++ exception
    out_of_memory, ///< the kernel killed it for lack of memory, as far as can be told, or it said so itself
    gpu,           ///< it failed, and its last words are of the GPU
    killed_by_us,  ///< the pool forced it
    killed_by_someone, ///< SIGKILL, SIGTERM or another signal that the pool did not send
};

/// Its name here, such as "out_of_memory".
SKEP_API std::string_view to_string(exit_class kind) noexcept;

/// The class of that name; nothing if there is none.
SKEP_API std::optional<exit_class> exit_class_of(std::string_view name) noexcept;

/// What is known about an end beyond its status.
struct exit_evidence {
    exit_status status;          ///< how it ended
    bool killed_by_pool = false; ///< the pool had sent SIGKILL or SIGTERM before it ended
    bool oom_kill = false;       ///< the kernel counted an out-of-memory kill on this machine meanwhile
    std::string_view last_words; ///< the end of its output
};

/// What an end is judged to be, and why.
struct exit_verdict {
    exit_class kind = exit_class::unknown; ///< what kind of end it was
    std::string evidence;                  ///< what the judgement rests on, for people
};

/// The class of an end, first match wins: killed by us, out of memory, the crash signals, gpu, the rest.
SKEP_API exit_verdict classify_exit(const exit_evidence& evidence);

/// True where the end may be the fault of what the worker was doing: segfault, abort, out_of_memory, gpu, error.
SKEP_API bool is_crash(exit_class kind) noexcept;

} // namespace skep
