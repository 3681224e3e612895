// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "support/run.hpp"

#include <array>
#include <csignal>
#include <cstdio>
#include <sys/wait.h>
#include <unistd.h>

namespace skep::test {

namespace {

/// A host program in a process of its own, started by a shell-free fork and exec; its output is read here.
class host {
public:
    host() {
        std::array<int, 2> pipe{};
        BOOST_REQUIRE_EQUAL(::pipe(pipe.data()), 0);
        const std::string script = std::string(SKEP_TEST_DIR) + "/integration/workers/basic.py";
        pid_ = ::fork();
        if (pid_ == 0) {
            ::dup2(pipe[1], 1);
            ::execl(SKEP_DOOMED_HOST, "doomed_host", SKEP_TEST_PYTHON, script.c_str(), nullptr);
            ::_exit(127);
        }
        ::close(pipe[1]);
        output_ = ::fdopen(pipe[0], "r");
    }
    ~host() { ::fclose(output_); }
    host(const host&) = delete;
    host& operator=(const host&) = delete;

    /// The pids of its two workers and of the grandchild.
    std::array<pid_t, 3> read_pids() {
        std::array<pid_t, 3> pids{};
        BOOST_REQUIRE_EQUAL(std::fscanf(output_, "%d %d %d", &pids[0], &pids[1], &pids[2]), 3);
        return pids;
    }

    void kill() const {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }

private:
    pid_t pid_ = 0;
    std::FILE* output_ = nullptr;
};

} // namespace

BOOST_AUTO_TEST_SUITE(host_death)

BOOST_AUTO_TEST_CASE(kill_9_of_the_host_takes_workers_and_grandchildren_along) {
    const leak_audit audit;
    for (int round = 0; round < 20; ++round) {
        host doomed;
        const auto pids = doomed.read_pids();
        doomed.kill();
        const auto killed = std::chrono::steady_clock::now();
        const auto any_alive = [&pids] {
            return is_alive(pids[0]) || is_alive(pids[1]) || is_alive(pids[2]);
        };
        while (any_alive() && std::chrono::steady_clock::now() - killed < 2s) {
            std::this_thread::sleep_for(1ms);
        }
        const auto took = std::chrono::steady_clock::now() - killed;
        BOOST_TEST(!any_alive(), "round " << round << ": somebody outlived the host by 2 s");
        BOOST_TEST_MESSAGE("gone after "
                           << std::chrono::duration_cast<std::chrono::milliseconds>(took).count() << " ms");
    }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
