// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/host_state.hpp"

#include "process/environment.hpp"

#include <cerrno>
#include <charconv>
#include <fstream>
#include <sched.h>
#include <string_view>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace skep {

namespace {

constexpr unsigned long only_asked = 0xffffffff; // makes personality() change nothing
constexpr int whose_process = 1;                 // IOPRIO_WHO_PROCESS; the C library's headers lack it

/// Returns the number at the beginning of a file of /proc, or after `key` in it.
std::optional<unsigned long> number_in(const char* path, int base, std::string_view key = {}) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        if (!line.starts_with(key)) {
            continue;
        }
        const auto start = line.find_first_not_of(" \t", key.size());
        const auto text = start == line.npos ? std::string_view() : std::string_view(line).substr(start);
        unsigned long number = 0;
        const auto read = std::from_chars(text.data(), text.data() + text.size(), number, base);
        return read.ec == std::errc() ? std::optional(number) : std::nullopt;
    }
    return std::nullopt;
}

process_state state_of_process() {
    process_state state;
    if (const auto mask = number_in("/proc/self/status", 8, "Umask:")) {
        state.umask = static_cast<mode_t>(*mask);
    }
    for (std::size_t i = 0; i < state.limits.size(); ++i) {
        rlimit limit{};
        if (::getrlimit(static_cast<decltype(RLIMIT_CPU)>(i), &limit) == 0) {
            state.limits[i] = limit;
        }
    }
    return state;
}

std::optional<int> niceness_of(pid_t thread) noexcept {
    errno = 0; // -1 is a valid niceness
    const int niceness = ::getpriority(PRIO_PROCESS, static_cast<id_t>(thread));
    return errno == 0 ? std::optional(niceness) : std::nullopt;
}

std::optional<int> io_priority_of(pid_t thread) noexcept {
    const auto priority = ::syscall(SYS_ioprio_get, whose_process, thread);
    return priority >= 0 ? std::optional(static_cast<int>(priority)) : std::nullopt;
}

std::optional<int> timer_slack_of_this_thread() noexcept {
    const int slack = ::prctl(PR_GET_TIMERSLACK);
    return slack >= 0 ? std::optional(slack) : std::nullopt;
}

std::optional<thread_state::memory_policy> memory_policy_of_this_thread() noexcept {
    thread_state::memory_policy policy;
    const auto bits = sizeof policy.nodes * 8;
    const auto result = ::syscall(SYS_get_mempolicy, &policy.mode, policy.nodes.data(), bits, nullptr, 0);
    return result == 0 ? std::optional(policy) : std::nullopt;
}

std::optional<int> policy_of(pid_t thread) noexcept {
    const int policy = ::sched_getscheduler(thread);
    return policy >= 0 ? std::optional(policy & ~SCHED_RESET_ON_FORK) : std::nullopt;
}

/// Real-time scheduling stays limited to the thread that requested it.
std::optional<int> policy_of_process() noexcept {
    const auto policy = policy_of(::getpid());
    const bool is_handed_on = !policy || *policy == SCHED_BATCH || *policy == SCHED_IDLE;
    return is_handed_on ? policy : SCHED_OTHER;
}

/// The first thread stands for the process, as in renice, ionice and taskset. Attributes that only the thread
/// itself can read come from the caller's thread.
thread_state state_of_threads() {
    thread_state state;
    state.cpus = cpus_of_process();
    state.policy = policy_of_process();
    state.niceness = niceness_of(::getpid());
    state.io_priority = io_priority_of(::getpid());
    state.timer_slack = timer_slack_of_this_thread();
    state.memory = memory_policy_of_this_thread();
    state.personality = number_in("/proc/self/personality", 16);
    return state;
}

void assume_scheduling(const thread_state& state) noexcept {
    if (state.cpus && cpus_of_thread(0) != state.cpus) {
        ::sched_setaffinity(0, sizeof state.cpus->bits,
                            reinterpret_cast<const cpu_set_t*>(state.cpus->bits.data()));
    }
    if (state.policy && policy_of(0) != state.policy) {
        const sched_param none{};
        ::sched_setscheduler(0, *state.policy, &none);
    }
    if (state.niceness && niceness_of(0) != state.niceness) {
        ::setpriority(PRIO_PROCESS, 0, *state.niceness);
    }
    if (state.io_priority && io_priority_of(0) != state.io_priority) {
        ::syscall(SYS_ioprio_set, whose_process, 0, *state.io_priority);
    }
}

} // namespace

host_state take_host_state() {
    std::error_code ec;
    host_state state;
    state.directory = std::filesystem::current_path(ec);
    state.environment = inherited_environment();
    state.shipped = take_shipped_choice(state.directory);
    state.process = state_of_process();
    state.thread = state_of_threads();
    return state;
}

void assume(const thread_state& state) noexcept {
    assume_scheduling(state);
    if (state.timer_slack && timer_slack_of_this_thread() != state.timer_slack) {
        ::prctl(PR_SET_TIMERSLACK, static_cast<unsigned long>(*state.timer_slack));
    }
    if (state.memory && memory_policy_of_this_thread() != state.memory) {
        const auto& nodes = state.memory->nodes;
        const bool needs_nodes = nodes != decltype(state.memory->nodes){};
        ::syscall(SYS_set_mempolicy, state.memory->mode, needs_nodes ? nodes.data() : nullptr,
                  needs_nodes ? sizeof nodes * 8 + 1 : 0);
    }
    if (state.personality && static_cast<unsigned>(::personality(only_asked)) != *state.personality) {
        ::personality(*state.personality);
    }
}

} // namespace skep
