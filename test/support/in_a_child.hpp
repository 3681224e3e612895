// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <sys/wait.h>
#include <unistd.h>

namespace skep::test {

/// Runs `body` in a forked copy of this process. Returns its exit code, or the negated number of
/// the signal that ended it: of the alarm, if it hangs.
template <class Body>
int in_a_child(Body body) {
    const pid_t pid = ::fork();
    if (pid == 0) {
        ::alarm(300); // a machine may stand still for a minute
        int code = 99;
        try {
            code = body();
        } catch (...) {}
        ::_exit(code);
    }
    int status = 0;
    ::waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

} // namespace skep::test
