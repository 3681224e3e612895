// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// What Asio's reactor asks of the kernel at every turn: here nothing has a descriptor, and virtual_timers
// sees to the timers. Asking takes a third of a world's time, and the answer may depend on the real one.

#include <sys/epoll.h>
#include <sys/timerfd.h>

extern "C" {

int epoll_wait(int, epoll_event*, int, int) {
    return 0;
}

int timerfd_settime(int, int, const itimerspec*, itimerspec*) noexcept {
    return 0;
}
}
