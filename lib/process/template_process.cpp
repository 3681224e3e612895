// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/template_process.hpp"

#include "process/descriptor_passing.hpp"
#include "process/fork_objections.hpp"
#include "process/host_connection.hpp"
#include "process/leash.hpp"
#include "process/standard_error.hpp"
#include "wire/fork_messages.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <poll.h>
#include <span>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace skep {

namespace {

constexpr int exit_order_failed = 1;
constexpr int exit_host_broke_protocol = 76;

enum place {
    data_place,
    control_place,
    output_place,
    errors_place,
    leash_host_place,
    leash_guard_place,
    regions_place ///< may be missing
};
constexpr std::size_t places = regions_place + 1;
constexpr std::size_t least_places = regions_place;

using worker_ends = std::array<unique_fd, places>;

struct taken_order {
    fork_order order;
    worker_ends ends;
    std::string problem; ///< empty if the order can be carried out
};

std::string text_of_errno(const char* call) {
    return std::string(call) + ": " + std::strerror(errno);
}

[[noreturn]] void leave_for_protocol() noexcept {
    write_to_standard_error("skep: the host broke the protocol: a malformed order to fork a worker\n");
    leave(exit_host_broke_protocol);
}

/// Ends this process if the pool is gone.
void send(int line, const std::string& message, std::span<const int> descriptors = {}) noexcept {
    while (send_descriptors(line, message, descriptors) < 0) {
        pollfd ready{line, POLLOUT, 0};
        if (errno != EAGAIN || ::poll(&ready, 1, -1) < 0) {
            leave(0);
        }
    }
}

void send_failure(int line, std::string error) {
    send(line, encode_fork_answer({0, std::move(error)}));
}

/// Moves a descriptor that has the number of stdin, stdout or stderr.
unique_fd out_of_the_way(int fd) noexcept {
    unique_fd received(fd);
    return fd > STDERR_FILENO ? std::move(received)
                              : unique_fd(::fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

/// Returns the number of the descriptors.
std::size_t take_ends(msghdr& packet, worker_ends& ends) noexcept {
    const cmsghdr* const rights = CMSG_FIRSTHDR(&packet);
    if (rights == nullptr || rights->cmsg_level != SOL_SOCKET || rights->cmsg_type != SCM_RIGHTS) {
        return 0;
    }
    std::array<int, places> numbers{};
    const std::size_t count = std::min((rights->cmsg_len - CMSG_LEN(0)) / sizeof(int), places);
    std::memcpy(numbers.data(), CMSG_DATA(rights), count * sizeof(int));
    for (std::size_t i = 0; i < count; ++i) {
        ends[i] = out_of_the_way(numbers[i]);
    }
    return count;
}

/// Waits for an order. Returns nullopt at the end of the line.
std::optional<taken_order> take_order(int line) {
    std::string text(most_template_bytes, '\0');
    iovec space{text.data(), text.size()};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(places * sizeof(int))> control{};
    msghdr packet{};
    packet.msg_iov = &space;
    packet.msg_iovlen = 1;
    packet.msg_control = control.data();
    packet.msg_controllen = control.size();
    ssize_t size = -1;
    do {
        size = ::recvmsg(line, &packet, MSG_CMSG_CLOEXEC);
    } while (size < 0 && errno == EINTR);
    if (size <= 0) {
        return std::nullopt;
    }
    taken_order job;
    const auto count = take_ends(packet, job.ends);
    if ((packet.msg_flags & MSG_CTRUNC) != 0) {
        job.problem = "descriptors: " + std::string(std::strerror(EMFILE));
        return job;
    }
    auto order = decode_fork_order(std::string_view(text).substr(0, static_cast<std::size_t>(size)));
    if (!order || count < least_places || (packet.msg_flags & MSG_TRUNC) != 0) {
        leave_for_protocol();
    }
    job.order = std::move(*order);
    return job;
}

bool take_output(const worker_ends& ends) noexcept {
    const auto null = out_of_the_way(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    return null.get() >= 0 && ::dup2(null.get(), STDIN_FILENO) >= 0 &&
           ::dup2(ends[output_place].get(), STDOUT_FILENO) >= 0 &&
           ::dup2(ends[errors_place].get(), STDERR_FILENO) >= 0;
}

void set_variable(const std::string& name, const std::optional<std::string>& value) {
    if (value) {
        ::setenv(name.c_str(), value->c_str(), 1);
    } else {
        ::unsetenv(name.c_str());
    }
}

/// Makes this process the worker of an order. Returns the error, which is empty after a success.
std::string become_worker(taken_order& job) {
    auto& ends = job.ends;
    if (::setsid() < 0 || !arm_leash(ends[leash_host_place].get()) ||
        !arm_leash(ends[leash_guard_place].get()) || !take_output(ends)) {
        return text_of_errno("the worker");
    }
    for (const auto& [name, value] : job.order.environment) {
        set_variable(name, value);
    }
    set_variable("SKEP_DATA_FD", std::to_string(ends[data_place].release()));
    set_variable("SKEP_CONTROL_FD", std::to_string(ends[control_place].release()));
    if (ends[regions_place].get() >= 0) {
        set_variable("SKEP_SHARED_FD", std::to_string(ends[regions_place].release()));
    }
    return {};
}

/// Answers an order after the worker's report, and ends this process: the one between template and worker.
[[noreturn]] void answer_between(int line, pid_t worker, int reports) {
    std::array<char, 1024> text{};
    const ssize_t size = ::read(reports, text.data(), text.size());
    if (size != 1 || text[0] != '\0') {
        send_failure(line, size > 0 ? std::string(text.data(), static_cast<std::size_t>(size))
                                    : std::string("the worker has ended at once"));
        leave(0);
    }
    const unique_fd pidfd(pidfd_open(worker));
    if (pidfd.get() < 0) {
        const auto error = text_of_errno("pidfd_open");
        ::kill(worker, SIGKILL);
        send_failure(line, error);
    } else {
        const std::array<int, 1> passed{pidfd.get()};
        send(line, encode_fork_answer({worker, {}}), passed);
    }
    leave(0);
}

/// Forks the worker from the process between. Returns in the worker.
void fork_from_between(int line, taken_order& job) {
    std::array<int, 2> ends{};
    const bool has_pipe = ::pipe2(ends.data(), O_CLOEXEC) == 0;
    const pid_t worker = has_pipe ? ::fork() : -1;
    if (worker < 0) {
        send_failure(line, text_of_errno("fork"));
        leave(0);
    }
    unique_fd reports(ends[0]);
    unique_fd reported(ends[1]);
    if (worker > 0) {
        reported.reset();
        answer_between(line, worker, reports.get());
    }
    const auto problem = become_worker(job);
    const auto report = problem.empty() ? std::string(1, '\0') : problem;
    if (::write(reported.get(), report.data(), report.size()) < 0 || !problem.empty()) {
        leave(exit_order_failed);
    }
}

/// Carries out an order. Returns true in the worker.
bool is_worker_after(int line, taken_order& job) {
    if (!job.problem.empty()) {
        send_failure(line, job.problem);
        return false;
    }
    std::fflush(nullptr); // else the worker writes it, too
    const pid_t between = ::fork();
    if (between < 0) {
        send_failure(line, text_of_errno("fork"));
        return false;
    }
    if (between == 0) {
        fork_from_between(line, job);
        return true;
    }
    siginfo_t end{};
    const auto id = static_cast<id_t>(between);
    int waited = -1;
    do {
        waited = ::waitid(P_PID, id, &end, WEXITED); // lint: allow process because this process is no host
    } while (waited < 0 && errno == EINTR);
    if (waited == 0 && end.si_status != 0) {
        send_failure(line, "the process that forks the worker has ended");
    }
    return false;
}

} // namespace

unique_fd take_template_line() {
    const char* const role = std::getenv("SKEP_TEMPLATE");
    const char* const number = std::getenv("SKEP_TEMPLATE_FD");
    if (role == nullptr || number == nullptr) {
        return {};
    }
    unique_fd line(std::atoi(number));
    ::fcntl(line.get(), F_SETFD, FD_CLOEXEC);
    ::unsetenv("SKEP_TEMPLATE");
    ::unsetenv("SKEP_TEMPLATE_FD");
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    return line;
}

void serve_template(unique_fd line) {
    const auto objections = fork_objections(line.get());
    send(line.get(), encode_template_report({::getpid(), objections, true}));
    while (auto job = take_order(line.get())) {
        if (!objections.empty()) {
            job->problem = objections.front();
        } else if (!job->order.arguments.empty()) {
            job->problem = "launch.slot_args do not reach a program that has begun";
        }
        if (is_worker_after(line.get(), *job)) {
            return;
        }
    }
    leave(0);
}

} // namespace skep
