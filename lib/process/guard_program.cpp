// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// The program skep-guard: holds every leash of its host. When the host ends, for any reason, the guard kills
// the leader of each group, and a moment later pulls the leashes. Of the C++ library, it needs only the
// headers below. With other arguments, the program is a nursery.

#include "process/descriptors.hpp"
#include "process/guard_protocol.hpp"
#include "process/nursery_program.hpp"
#include "process/nursery_protocol.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
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
constexpr int none = -1;

/// A group that must end with the host.
struct held_group {
    int guard_end = none; ///< guard's end of the leash
    int host_end = none;  ///< host's end of the leash
    int leader = none;    ///< a pidfd, once known
};

/// Only SIGKILL can end the guard: a SIGTERM to all processes of a user must not end the guard before the
/// host.
void ignore_signals() {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, nullptr);
}

/// Ends the socket as well, which a forked copy of the host may hold open.
void* await_end_of_host(void* pulse) {
    pthread_mutex_lock(&static_cast<skep::host_pulse*>(pulse)->held);
    shutdown(skep::guard_line, SHUT_RDWR);
    return nullptr;
}

bool watch_host() {
    void* const pulse =
        mmap(nullptr, sizeof(skep::host_pulse), PROT_READ | PROT_WRITE, MAP_SHARED, skep::guard_memory, 0);
    close(skep::guard_memory); // the mutex must be out of reach: the host's C library relies on it
    pthread_t watcher{};
    if (pulse == MAP_FAILED) {
        return false;
    }
    errno = pthread_create(&watcher, nullptr, await_end_of_host, pulse);
    return errno == 0;
}

/// The guard has three descriptors for each worker of its host.
void raise_descriptor_limit() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/// Reports to the host: 0 if the guard is ready, or an errno.
bool report(int problem) {
    const auto byte = static_cast<char>(problem);
    return send(skep::guard_line, &byte, 1, MSG_NOSIGNAL) == 1 && problem == 0;
}

/// Removes the descriptors from epoll before closing them: the host may have copies, so a close alone is not
/// enough.
void let_go(int poll, const held_group& group) {
    epoll_ctl(poll, EPOLL_CTL_DEL, group.guard_end, nullptr);
    for (const int each : {group.guard_end, group.host_end, group.leader}) {
        if (each != none) {
            close(each);
        }
    }
}

/// The groups held.
class held_groups {
public:
    const held_group* begin() const { return groups_; }
    const held_group* end() const { return groups_ + count_; }

    /// Returns false if there is no memory.
    bool add(const held_group& new_group) {
        if (count_ == room_) {
            const auto room = room_ == 0 ? 16 : 2 * room_;
            void* const larger = std::realloc(groups_, room * sizeof(held_group));
            if (larger == nullptr) {
                return false;
            }
            groups_ = static_cast<held_group*>(larger);
            room_ = room;
        }
        groups_[count_++] = new_group;
        return true;
    }

    /// Returns the group whose leash has `guard_end`; nullptr if the group was released.
    held_group* find(int guard_end) {
        for (std::size_t i = 0; i < count_; ++i) {
            if (groups_[i].guard_end == guard_end) {
                return &groups_[i];
            }
        }
        return nullptr;
    }

    void remove(held_group& ended_group) { ended_group = groups_[--count_]; }

private:
    held_group* groups_ = nullptr;
    std::size_t count_ = 0;
    std::size_t room_ = 0;
};

/// A message from the host with its descriptors.
struct message {
    char kind = 0;
    int descriptors[2] = {none, none};
};

/// Returns false at the end of the stream. Descriptors that exceeded the limit are missing.
bool receive(message& next) {
    iovec data{&next.kind, 1};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof next.descriptors)> space{};
    msghdr header{};
    header.msg_iov = &data;
    header.msg_iovlen = 1;
    header.msg_control = space.data();
    header.msg_controllen = space.size();
    const auto count = recvmsg(skep::guard_line, &header, MSG_CMSG_CLOEXEC);
    const cmsghdr* const part = count > 0 ? CMSG_FIRSTHDR(&header) : nullptr;
    if (part != nullptr && part->cmsg_type == SCM_RIGHTS) {
        std::memcpy(next.descriptors, CMSG_DATA(part), part->cmsg_len - CMSG_LEN(0));
    }
    return count > 0;
}

bool watch(int poll, int fd) {
    epoll_event what{};
    what.events = EPOLLIN;
    what.data.fd = fd;
    return epoll_ctl(poll, EPOLL_CTL_ADD, fd, &what) == 0;
}

/// Handles one message of the host. `latest` identifies the leash of the next process named. A leash that
/// cannot be held is released, so its group dies. Returns false at the end of the stream.
bool take_message(int poll, held_groups& groups, int& latest) {
    message next;
    const bool more = receive(next);
    if (next.kind == skep::leash_message) {
        const held_group fresh{next.descriptors[0], next.descriptors[1], none};
        const bool is_whole = fresh.host_end != none && watch(poll, fresh.guard_end);
        latest = is_whole && groups.add(fresh) ? fresh.guard_end : none;
        if (latest == none) {
            let_go(poll, fresh);
        }
    } else if (held_group* const led = groups.find(latest); led != nullptr && led->leader == none) {
        led->leader = next.descriptors[0];
    } else if (next.descriptors[0] != none) { // the host has pulled the leash already
        close(next.descriptors[0]);
    }
    return more;
}

/// Runs until the host ends.
void hold_leashes(int poll, held_groups& groups) {
    int latest = none;
    epoll_event event{};
    for (;;) {
        const int count = epoll_wait(poll, &event, 1, -1);
        if (held_group* const over = count > 0 ? groups.find(event.data.fd) : nullptr; over != nullptr) {
            latest = over->guard_end == latest ? none : latest;
            let_go(poll, *over);
            groups.remove(*over);
        } else if ((count > 0 && !take_message(poll, groups, latest)) || (count < 0 && errno != EINTR)) {
            return;
        }
    }
}

/// Kills the leaders at once, in any group; the rest of their groups has a moment to end by itself. A child
/// in its launch, whose pid is still unknown, may arm its leash late: the leashes are pulled for another
/// second.
void end_groups(const held_groups& groups) {
    constexpr int step = 10; // milliseconds
    constexpr int last = skep::moment_for_group + 1000;
    constexpr timespec pause{0, step * 1'000'000};
    for (const auto& each : groups) {
        if (each.leader != none) {
            skep::pidfd_send_signal(each.leader, SIGKILL);
        }
    }
    for (int passed = 0; passed < last; passed += step) {
        for (const auto& each : groups) {
            if (each.leader == none || passed >= skep::moment_for_group) {
                send(each.guard_end, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
            }
        }
        nanosleep(&pause, nullptr);
    }
}

} // namespace

int main(int argc, char** argv) {
    prctl(PR_SET_DUMPABLE, 0); // keeps workers from reaching into the guard
    ignore_signals();
    if (argc > 2 && std::strcmp(argv[1], skep::nursery_role) == 0) {
        return skep::run_nursery(argv + 2);
    }
    raise_descriptor_limit();
    const int poll = epoll_create1(EPOLL_CLOEXEC);
    const bool up = poll >= 0 && watch_host() && watch(poll, skep::guard_line);
    if (!report(up ? 0 : errno)) {
        return trouble;
    }
    held_groups held;
    hold_leashes(poll, held);
    end_groups(held);
}
