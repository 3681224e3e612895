// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <sys/wait.h>
#include <unistd.h>

namespace skep::test {

/// Runs `body` in a forked copy of this process. Returns its exit code; -1 if a signal ended it (the alarm,
/// if it hangs).
template <class Body>
int in_a_child(Body body) {
    const pid_t pid = ::fork();
    if (pid == 0) {
        ::alarm(60);
        int code = 99;
        try {
            code = body();
        } catch (...) {}
        ::_exit(code);
    }
    int status = 0;
    ::waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

} // namespace skep::test
