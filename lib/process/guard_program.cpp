// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// The program skep-guard: holds one end of every leash of its host, and pulls them all when the host ends, in whatever
// way. It needs no more of the C++ library than this.

#include "process/guard_protocol.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

namespace {

constexpr int trouble = 1;
constexpr int first_leash = skep::guard_line + 1; // guard_memory is closed, and its number free, by then

/// Nobody but the kernel ends it: a SIGTERM to all of a user's processes must not come before the host's own.
void ignore_signals() {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, nullptr);
}

/// Then the line ends, too, which a forked copy of the host may hold open.
void* await_end_of_host(void* pulse) {
    pthread_mutex_lock(&static_cast<skep::host_pulse*>(pulse)->held);
    shutdown(skep::guard_line, SHUT_RDWR);
    return nullptr;
}

bool watch_host() {
    void* const pulse =
        mmap(nullptr, sizeof(skep::host_pulse), PROT_READ | PROT_WRITE, MAP_SHARED, skep::guard_memory, 0);
    close(skep::guard_memory); // what is in it must be out of reach: the host's C library relies on it
    pthread_t watcher{};
    if (pulse == MAP_FAILED) {
        return false;
    }
    errno = pthread_create(&watcher, nullptr, await_end_of_host, pulse);
    return errno == 0;
}

/// It has a descriptor for each worker of its host.
void raise_descriptor_limit() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/// Tells the host that the guard is up: 0, or what went wrong.
bool report(int problem) {
    const auto byte = static_cast<char>(problem);
    return send(skep::guard_line, &byte, 1, MSG_NOSIGNAL) == 1 && problem == 0;
}

/// The descriptor that comes with the next message, -1 if there was no room for it. False at the end of the line.
bool receive(int& leash) {
    char byte = 0;
    iovec data{&byte, 1};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> space{};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = space.data();
    message.msg_controllen = space.size();
    const auto count = recvmsg(skep::guard_line, &message, MSG_CMSG_CLOEXEC);
    const cmsghdr* const part = count > 0 ? CMSG_FIRSTHDR(&message) : nullptr;
    leash = -1;
    if (part != nullptr && part->cmsg_type == SCM_RIGHTS) {
        std::memcpy(&leash, CMSG_DATA(part), sizeof leash);
    }
    return count > 0;
}

/// Adds `fd` to what is looked at. A leash is only of interest when the host lets go of it.
bool add(int poll, int fd, unsigned events) {
    epoll_event what{};
    what.events = events;
    what.data.fd = fd;
    return epoll_ctl(poll, EPOLL_CTL_ADD, fd, &what) == 0;
}

/// Takes the next leash, and notes how high their numbers go. A leash that cannot be held is let go of, and its group
/// dies. False at the end of the line.
bool take_leash(int poll, int& highest) {
    int leash = -1;
    const bool more = receive(leash);
    if (leash >= 0 && !add(poll, leash, 0)) {
        close(leash);
    }
    highest = leash > highest ? leash : highest;
    return more;
}

/// Serves until the host ends. Returns the highest number that a leash has had.
int hold_leashes(int poll) {
    int highest = first_leash;
    epoll_event event{};
    for (;;) {
        const int count = epoll_wait(poll, &event, 1, -1);
        if (count > 0 && event.data.fd != skep::guard_line) {
            close(event.data.fd); // the host has let go of it
        } else if ((count > 0 && !take_leash(poll, highest)) || (count < 0 && errno != EINTR)) {
            return highest;
        }
    }
}

/// The kernel kills a group when one end of its leash is closed or written to, as long as the other is open: so this one
/// stays open until the host, which is dying, is sure to have closed its own. Copies of the host keep theirs open, and
/// writing does it.
void pull_leashes(int highest) {
    constexpr int times = 100;
    constexpr timespec pause{0, 10'000'000};
    for (int i = 0; i < times; ++i) {
        for (int leash = first_leash; leash <= highest; ++leash) {
            send(leash, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
        }
        nanosleep(&pause, nullptr);
    }
}

} // namespace

int main() {
    prctl(PR_SET_DUMPABLE, 0); // nor may a worker reach into it
    ignore_signals();
    raise_descriptor_limit();
    const int poll = epoll_create1(EPOLL_CLOEXEC);
    const bool up = poll >= 0 && watch_host() && add(poll, skep::guard_line, EPOLLIN);
    if (!report(up ? 0 : errno)) {
        return trouble;
    }
    pull_leashes(hold_leashes(poll));
}
