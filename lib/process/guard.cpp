// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/guard.hpp"

#include "process/descriptor_passing.hpp"
#include "process/descriptors.hpp"
#include "process/guard_protocol.hpp"
#include "process/held_signal.hpp"
#include "process/reaping.hpp"
#include "process/shipped_files.hpp"
#include <skep/error.hpp>

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <new>
#include <poll.h>
#include <span>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

namespace skep {

namespace {

/// A pulse in shared memory; beats as long as the thread that created it lives.
class pulse {
public:
    pulse() : memory_(::memfd_create("skep-pulse", MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
        const held_signal held(SIGXFSZ); // the host may be forbidden to write files
        if (memory_.get() < 0 || ::ftruncate(memory_.get(), sizeof(host_pulse)) != 0 ||
            ::fcntl(memory_.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
            launcher::fail(launch_step::guard, errno);
        }
        void* const place =
            ::mmap(nullptr, sizeof(host_pulse), PROT_READ | PROT_WRITE, MAP_SHARED, memory_.get(), 0);
        if (place == MAP_FAILED) {
            launcher::fail(launch_step::guard, errno);
        }
        pulse_ = new (place) host_pulse;
        pthread_mutexattr_t kind;
        ::pthread_mutexattr_init(&kind);
        ::pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
        ::pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
        ::pthread_mutex_init(&pulse_->held, &kind);
        ::pthread_mutexattr_destroy(&kind);
        ::pthread_mutex_lock(&pulse_->held);
    }
    ~pulse() {
        ::pthread_mutex_unlock(&pulse_->held);
        ::munmap(pulse_, sizeof(host_pulse));
    }
    pulse(const pulse&) = delete;
    pulse& operator=(const pulse&) = delete;

    int memory() const noexcept { return memory_.get(); }

    /// Closes the memory after the guard has inherited it, to keep it from other processes: the C library
    /// keeps part of a thread's list of mutexes in there.
    void hide() noexcept { memory_.reset(); }

private:
    unique_fd memory_;
    host_pulse* pulse_ = nullptr;
};

/// Passes copies of descriptors to the guard. Returns false if the guard has ended. Throws
/// error(spawn_failed).
bool pass_to_guard(int line, char kind, std::span<const int> descriptors) {
    const auto sent = send_descriptors(line, {&kind, 1}, descriptors);
    if (sent < 0 && errno != EPIPE && errno != ECONNRESET) {
        launcher::fail(launch_step::guard, errno); // EAGAIN: the guard is stopped
    }
    return sent == 1;
}

/// Returns when the guard is ready. Throws error(spawn_failed).
void await_report(int line, const std::string& program, const launch_abort& abort) {
    constexpr int between_looks = 20; // milliseconds
    constexpr int looks = 500;
    pollfd report{line, POLLIN, 0};
    int ready = 0;
    for (int i = 0; i < looks && ready <= 0 && !abort.is_requested(); ++i) {
        ready = ::poll(&report, 1, between_looks);
    }
    unsigned char problem = ready > 0 ? EPIPE : ETIMEDOUT; // the guard has ended, or does not answer
    if (ready > 0) {
        ::recv(line, &problem, 1, MSG_DONTWAIT);
    }
    if (problem != 0) {
        launcher::fail(launch_step::guard, problem, program);
    }
}

/// The guard starts in "/", so that file systems can be unmounted.
launch_spec guard_spec(std::string program, int line, int memory) {
    launch_spec spec;
    spec.executable = std::move(program);
    spec.directory = "/";
    if (spec.executable.empty()) {
        error_info info;
        info.detail =
            "the program skep-guard, which is a part of this library and sees to it that no worker outlives "
            "its host, was not found; install it with the library, or name it in SKEP_GUARD";
        throw error(errc::spawn_failed, std::move(info));
    }
    spec.arguments = {"skep-guard", "host", std::to_string(::getpid())}; // for readers of a list of processes
    spec.descriptors[guard_line] = line;
    spec.descriptors[guard_memory] = memory;
    spec.is_guard = true;
    return spec;
}

} // namespace

struct guard::running {
    running(const launcher& launch, const std::string& program, launch_abort& abort) {
        auto ends = make_socket_pair(launch);
        line = std::move(ends.here);
        process = launch(guard_spec(program, ends.there.get(), alive.memory()), abort);
        alive.hide();
        ends.there.reset();
        await_report(line.get(), program, abort);
    }

    pulse alive;
    unique_fd line;
    launched_child process; ///< ends the guard on destruction
};

guard::guard(const launcher& launch, const host_state& host) : launch_(launch), host_(host) {}
guard::~guard() = default;

leash guard::tie(launch_abort& abort) {
    auto ends = make_socket_pair(launch_);
    const std::array<int, 2> both{ends.there.get(), ends.here.get()};
    const auto pass = [&] { return running_ && pass_to_guard(running_->line.get(), leash_message, both); };
    if (!pass()) { // the first leash, or the guard was killed
        running_.reset();
        running_ = std::make_unique<running>(launch_, guard_program(host_.shipped), abort);
        if (!pass()) {
            launcher::fail(launch_step::guard, EPIPE);
        }
    }
    return {std::move(ends.here), std::move(ends.there)};
}

void guard::entrust(const launched_child& leader) {
    const std::array<int, 1> process{leader.pidfd()};
    if (!pass_to_guard(running_->line.get(), process_message, process)) { // the group ended with the guard
        launcher::fail(launch_step::guard, EPIPE);
    }
}

} // namespace skep
