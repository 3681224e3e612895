// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/export.hpp>

#include <string>

namespace skep {

/// How a process ended: with an exit code, by a signal, or unknown (not ended yet, or somebody else has taken it).
class exit_status {
public:
    exit_status() = default;

    /// The process called exit() with `code` (0..255).
    static exit_status exited(int code) noexcept { return exit_status(kind::exited, code); }

    /// The process was ended by signal number `number`.
    static exit_status signalled(int number) noexcept { return exit_status(kind::signalled, number); }

    /// The process has ended, but another part of the program has collected its status.
    static exit_status taken() noexcept { return exit_status(kind::taken, 0); }

    /// Whether it is known how the process ended.
    bool known() const noexcept { return kind_ == kind::exited || kind_ == kind::signalled; }
    /// Whether another part of the program has collected its status: see taken().
    bool was_taken() const noexcept { return kind_ == kind::taken; }
    /// Whether it exited with code 0.
    bool success() const noexcept { return kind_ == kind::exited && value_ == 0; }
    /// Whether a signal ended it.
    bool by_signal() const noexcept { return kind_ == kind::signalled; }

    /// The exit code, or -1 if it did not exit by itself.
    int code() const noexcept { return kind_ == kind::exited ? value_ : -1; }

    /// The signal number, or 0 if no signal ended it.
    int signal() const noexcept { return kind_ == kind::signalled ? value_ : 0; }

    friend bool operator==(const exit_status&, const exit_status&) = default;

private:
    enum class kind { unknown, taken, exited, signalled };

    exit_status(kind exit_kind, int value) noexcept : kind_(exit_kind), value_(value) {}

    kind kind_ = kind::unknown;
    int value_ = 0;
};

/// "exit code 3", "signal 11 (Segmentation fault)", or "unknown exit status".
SKEP_API std::string to_string(const exit_status& status);

/// What usually lies behind such an end, as a clause ("out of memory, or killed from outside"); empty if
/// there is nothing to add to the status itself.
SKEP_API std::string likely_cause(const exit_status& status);

} // namespace skep
