// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include <skep/exit_status.hpp>

#include <csignal>
#include <cstring>

namespace skep {

std::string to_string(const exit_status& status) {
    if (!status.known()) {
        return "unknown exit status";
    }
    if (status.by_signal()) {
        return "signal " + std::to_string(status.signal()) + " (" + strsignal(status.signal()) + ")";
    }
    return "exit code " + std::to_string(status.code());
}

std::string likely_cause(const exit_status& status) {
    switch (status.signal()) {
    case SIGKILL: return "killed from outside, often by the kernel for lack of memory";
    case SIGSEGV:
    case SIGBUS: return "a crash in native code";
    case SIGABRT: return "native code gave up (failed assertion or uncaught C++ exception)";
    case SIGILL: return "native code built for another processor";
    case SIGFPE: return "an integer division by zero in native code";
    case SIGXCPU: return "its CPU time limit was reached";
    default: break;
    }
    if (status.was_unreported()) {
        return "unknown, as the nursery of its template, a process 'skep-guard', was killed or hangs";
    }
    if (status.was_taken()) {
        return "unknown, as somebody else in the host collected its status: leave SIGCHLD at its default, "
               "and wait "
               "for your own children only, not with waitpid(-1)";
    }
    if (!status.known()) {
        return {};
    }
    switch (status.code()) {
    case 70: return "it found its host's channel closed";
    case 76: return "it received a frame that breaks the protocol";
    case 126:
    case 127: return "a launcher in between did not find or could not run the program";
    default: return {};
    }
}

} // namespace skep
