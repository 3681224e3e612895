// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// The program skep-guard as a nursery: the parent of the template, and by adoption of each worker that the
// template forks and of each orphan of such a worker. So exit statuses come from a trusted program, and
// a process that has left its group still ends with the nursery. Of the C++ library, the nursery needs only
// the headers below.

#include "process/nursery_program.hpp"

#include "process/guard_protocol.hpp"
#include "process/nursery_protocol.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace skep {

namespace {

/// Messages for the host, oldest first. Never blocks: a message that does not fit waits here.
class report_queue {
public:
    bool empty() const { return count_ == 0; }

    /// Discards the oldest message if there are too many.
    void add(const nursery_report& new_report) {
        if (count_ == most_kept_reports) {
            drop_first();
        }
        kept_[(first_ + count_++) % most_kept_reports] = new_report;
    }

    void send_all() {
        while (!empty() && send(nursery_line, &kept_[first_], sizeof(nursery_report),
                                MSG_DONTWAIT | MSG_NOSIGNAL) == sizeof(nursery_report)) {
            drop_first();
        }
    }

private:
    void drop_first() {
        first_ = (first_ + 1) % most_kept_reports;
        --count_;
    }

    std::array<nursery_report, most_kept_reports> kept_{};
    int first_ = 0;
    int count_ = 0;
};

/// Runs in the child. Returns only if a step has failed. The template dies with the nursery, for which the
/// leash of a worker has no equal.
void become_template(char** command, pid_t nursery) {
    sigset_t none;
    sigemptyset(&none);
    const bool is_set_up = setsid() >= 0 && prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 &&
                           sigprocmask(SIG_SETMASK, &none, nullptr) == 0;
    close_range(template_line_in_nursery + 1, ~0U, CLOSE_RANGE_CLOEXEC);
    if (is_set_up && getppid() == nursery) {
        execv(command[0], command);
    }
}

/// Forks the template. It waits at the far end of the gate. Returns its pid; -1 with errno set.
pid_t fork_template(char** command, const std::array<int, 2>& gate) {
    const pid_t nursery = getpid();
    const pid_t child = fork(); // lint: allow process because the program has one thread
    if (child == 0) {
        close(gate[0]);
        char opening = 0;
        if (read(gate[1], &opening, 1) == 1) {
            become_template(command, nursery);
        }
        send(gate[1], &errno, sizeof errno, MSG_NOSIGNAL);
        _exit(127);
    }
    return child;
}

/// Lets the template run its command. Returns the errno of a failure; 0 once the command runs.
int open_gate(int gate_end) {
    const char opening = 0;
    int problem = 0;
    const bool is_open = send(gate_end, &opening, 1, MSG_NOSIGNAL) == 1;
    return is_open && read(gate_end, &problem, sizeof problem) == sizeof problem ? problem : 0;
}

/// The streams are the template's: the nursery must not keep them open.
void release_streams() {
    dup2(STDIN_FILENO, STDOUT_FILENO);
    dup2(STDIN_FILENO, STDERR_FILENO);
    close(template_line_in_nursery);
}

class nursery_loop {
public:
    explicit nursery_loop(int child_signals) : child_signals_(child_signals) {}

    /// Reports the template before the template can, and a failure before the template's line ends.
    void start(char** command) {
        if (const int problem = try_start(command); problem != 0) {
            template_ = 0;
            reports_.add({0, 0, problem});
            reports_.send_all();
        }
        release_streams();
    }

    /// Returns when the host has ended or gives the nursery up.
    void run() {
        bool is_wanted = true;
        while (is_wanted) {
            reports_.send_all();
            std::array<pollfd, 4> all{
                {{nursery_line, static_cast<short>(reports_.empty() ? POLLIN : POLLIN | POLLOUT), 0},
                 {nursery_leash_begin, POLLIN, 0},
                 {nursery_leash_begin + 1, POLLIN, 0},
                 {child_signals_, POLLIN, 0}}};
            poll(all.data(), all.size(), -1);
            collect();
            const bool is_free = all[1].revents == 0 && all[2].revents == 0;
            is_wanted = is_free && ((all[0].revents & ~POLLOUT) == 0 || take_message());
        }
    }

    /// The processes have a moment to end by themselves: the template's line has ended, and leaders of groups
    /// are ended by the guard. Then kills children and the orphans that become children.
    void end_children() {
        constexpr int step = 10;   // milliseconds
        constexpr int last = 2000; // then the kernel holds a process, or it belongs to another user
        for (int passed = 0; collect() && passed < last; passed += step) {
            if (passed >= moment_for_group) {
                kill_children();
            }
            reports_.send_all();
            pollfd change{child_signals_, POLLIN, 0};
            poll(&change, 1, step);
        }
        reports_.send_all();
    }

private:
    /// Returns the errno of a failure; 0 once the template runs.
    int try_start(char** command) {
        std::array<int, 2> gate{};
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, gate.data()) != 0) {
            return errno;
        }
        template_ = fork_template(command, gate);
        int problem = template_ < 0 ? errno : 0;
        close(gate[1]);
        if (problem == 0) {
            reports_.add({template_, 0, 0});
            reports_.send_all();
            problem = open_gate(gate[0]);
        }
        close(gate[0]);
        return problem;
    }

    /// Returns false at the end of the stream.
    bool take_message() {
        char message = 0;
        const auto count = recv(nursery_line, &message, 1, MSG_DONTWAIT);
        if (count == 1 && message == end_template_message && template_ > 0) {
            kill(template_, SIGKILL); // lint: allow process because the template is not collected
        }
        return count > 0 || (count < 0 && errno == EAGAIN);
    }

    /// Collects the children that have ended. Returns false if no child is left.
    bool collect() {
        signalfd_siginfo signals;
        while (read(child_signals_, &signals, sizeof signals) > 0) {}
        siginfo_t info{};
        while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG) == 0) { // lint: allow process because all are ours
            if (info.si_pid == 0) {
                return true;
            }
            template_ = info.si_pid == template_ ? 0 : template_;
            reports_.add({info.si_pid, info.si_code, info.si_status});
            info.si_pid = 0;
        }
        return false;
    }

    static void kill_children() {
        std::FILE* const list = std::fopen("/proc/thread-self/children", "re");
        int child = 0;
        while (list != nullptr && std::fscanf(list, "%d", &child) == 1) {
            kill(child, SIGKILL); // lint: allow process because only this thread collects it
        }
        if (list != nullptr) {
            std::fclose(list);
        }
    }

    const int child_signals_;
    pid_t template_ = 0; ///< 0: ended
    report_queue reports_;
};

} // namespace

int run_nursery(char** command) {
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGCHLD); // lint: allow process because all children are the nursery's
    const int child_signals = signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
    if (child_signals < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) {
        return 1;
    }
    static nursery_loop place(child_signals);
    place.start(command);
    if (chdir("/") != 0) { // the file system of the template's directory can be unmounted
        return 1;
    }
    place.run();
    place.end_children();
    return 0;
}

} // namespace skep
