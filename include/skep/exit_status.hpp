// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/export.hpp>

#include <string>

namespace skep {

/// Exit status of a process: an exit code, a signal, or unknown. Unknown: the process has not ended, another
/// part of the program has collected the status, or the nursery of a forked worker has not reported it.
class exit_status {
public:
    exit_status() = default;

    /// Returns the status of a process that called exit() with `code` (0..255).
    static exit_status exited(int code) noexcept { return exit_status(kind::exited, code); }

    /// Returns the status of a process that signal `number` ended.
    static exit_status signalled(int number) noexcept { return exit_status(kind::signalled, number); }

    /// Returns the status of an ended process if another part of the program has collected the real status.
    static exit_status taken() noexcept { return exit_status(kind::taken, 0); }

    /// Returns the status of an ended worker of a pool with launch.preload if its nursery, the process that
    /// collects the workers of a template, was killed or has not reported the real status in time.
    static exit_status unreported() noexcept { return exit_status(kind::unreported, 0); }

    /// Returns true if the exit code or the signal is known.
    bool known() const noexcept { return kind_ == kind::exited || kind_ == kind::signalled; }
    /// Returns true if the process has ended, and the pool cannot learn how: see taken() and unreported().
    bool was_taken() const noexcept { return kind_ == kind::taken || kind_ == kind::unreported; }
    /// Returns true if a nursery has not reported the status: see unreported().
    bool was_unreported() const noexcept { return kind_ == kind::unreported; }
    /// Returns true for exit code 0.
    bool success() const noexcept { return kind_ == kind::exited && value_ == 0; }
    /// Returns true if a signal ended the process.
    bool by_signal() const noexcept { return kind_ == kind::signalled; }

    /// Returns the exit code, or -1 without an exit code.
    int code() const noexcept { return kind_ == kind::exited ? value_ : -1; }

    /// Returns the number of the signal that ended the process, or 0 without a signal.
    int signal() const noexcept { return kind_ == kind::signalled ? value_ : 0; }

    friend bool operator==(const exit_status&, const exit_status&) = default;

private:
    enum class kind { unknown, taken, unreported, exited, signalled };

    exit_status(kind exit_kind, int value) noexcept : kind_(exit_kind), value_(value) {}

    kind kind_ = kind::unknown;
    int value_ = 0;
};

/// Returns "exit code 3", "signal 11 (Segmentation fault)", or "unknown exit status".
SKEP_API std::string to_string(const exit_status& status);

/// Returns the usual cause of such an end, as a clause ("a crash in native code"); empty if the status says
/// it all.
SKEP_API std::string likely_cause(const exit_status& status);

} // namespace skep
