// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "support/run.hpp"

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <sys/wait.h>
#include <unistd.h>

namespace skep::test {

namespace {

namespace fs = std::filesystem;
using clock_type = std::chrono::steady_clock;

/// The processes that have `mark` in their environment: workers and what they have started.
std::vector<pid_t> marked(const std::string& mark) {
    std::vector<pid_t> found;
    for (const auto& entry : fs::directory_iterator("/proc")) {
        const auto name = entry.path().filename().string();
        if (!std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isdigit(c) != 0; })) {
            continue;
        }
        std::ifstream file(entry.path() / "environ");
        const std::string text{std::istreambuf_iterator<char>(file), {}};
        if (contains(text, "DOOMED=" + mark)) {
            found.push_back(std::stoi(name));
        }
    }
    return found;
}

/// Returns what explains that a process is left: its name, state, parent and its wait in the kernel.
std::string description(pid_t pid) {
    const auto folder = "/proc/" + std::to_string(pid);
    std::string text = "left: " + std::to_string(pid);
    std::ifstream status(folder + "/status");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with("Name:") || line.starts_with("State:") || line.starts_with("PPid:")) {
            text += ' ' + line;
        }
    }
    std::string wait;
    std::ifstream(folder + "/wchan") >> wait;
    return text + " waits in " + wait;
}

/// A host program in a process of its own; what it says is read here.
class host {
public:
    explicit host(std::vector<std::string> how) {
        static int number = 0;
        mark_ = std::to_string(::getpid()) + "." + std::to_string(++number);
        std::vector<std::string> words{SKEP_DOOMED_HOST, SKEP_TEST_PYTHON,
                                       std::string(SKEP_TEST_DIR) + "/fault/doomed_worker.py", mark_};
        words.insert(words.end(), how.begin(), how.end());
        std::vector<char*> arguments;
        for (auto& word : words) {
            arguments.push_back(word.data());
        }
        arguments.push_back(nullptr);
        std::array<int, 2> pipe{};
        BOOST_REQUIRE_EQUAL(::pipe2(pipe.data(), O_CLOEXEC), 0);
        pid_ = ::fork();
        if (pid_ == 0) {
            ::dup2(pipe[1], 1);
            ::execv(arguments[0], arguments.data());
            ::_exit(127);
        }
        ::close(pipe[1]);
        output_ = ::fdopen(pipe[0], "r");
    }
    ~host() { ::fclose(output_); }
    host(const host&) = delete;
    host& operator=(const host&) = delete;

    /// Returns when it is where it is to be killed.
    void await() { BOOST_REQUIRE_EQUAL(std::fgetc(output_), 'n'); }

    /// Kills it. Does not wait for its end, which may take as long as the kernel needs to free its memory.
    void kill() const { ::kill(pid_, SIGKILL); }

    const std::string& mark() const { return mark_; }

    void reap() const { ::waitpid(pid_, nullptr, 0); }

    void stop_guard() const {
        for (const auto& task : fs::directory_iterator("/proc/" + std::to_string(pid_) + "/task")) {
            std::ifstream children(task.path() / "children");
            for (pid_t child = 0; children >> child;) {
                std::string name;
                std::ifstream(("/proc/" + std::to_string(child)) + "/comm") >> name;
                if (name == "skep-guard") {
                    ::kill(child, SIGSTOP);
                }
            }
        }
    }

    /// How many workers and grandchildren are left two seconds later; looks until none is, and notes how long
    /// that took.
    std::size_t orphans() {
        const auto killed = clock_type::now();
        auto left = marked(mark_);
        while (!left.empty() && clock_type::now() - killed < 2s) {
            std::this_thread::sleep_for(2ms);
            left = marked(mark_);
        }
        took_ = clock_type::now() - killed;
        for (const auto pid : left) {
            BOOST_TEST_MESSAGE(description(pid));
            ::kill(pid, SIGKILL);
        }
        return left.size();
    }

    long milliseconds() const { return std::chrono::duration_cast<std::chrono::milliseconds>(took_).count(); }

private:
    pid_t pid_ = 0;
    std::string mark_;
    std::FILE* output_ = nullptr;
    clock_type::duration took_{};
};

/// What the workers of a host have in /dev/shm.
std::vector<fs::path> segments(const std::string& mark) {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator("/dev/shm")) {
        if (entry.path().filename().string().starts_with(mark + ".")) {
            found.push_back(entry.path());
        }
    }
    return found;
}

/// How many hosts to kill in all, for figures: SKEP_HOST_KILLS.
int rounds(int usual) {
    const char* chosen = std::getenv("SKEP_HOST_KILLS");
    return chosen == nullptr ? usual : std::max(1, std::atoi(chosen) * usual / 60);
}

/// Kills hosts of one kind, each at a moment of its own.
void kill_hosts(const std::vector<std::string>& how, int count, std::chrono::milliseconds latest) {
    const leak_audit audit;
    std::minstd_rand random(7);
    long slowest = 0;
    int with_orphans = 0;
    for (int round = 0; round < count; ++round) {
        host doomed(how);
        doomed.await();
        std::this_thread::sleep_for(
            std::chrono::milliseconds(random() % static_cast<unsigned>(latest.count())));
        doomed.kill();
        with_orphans += doomed.orphans() > 0 ? 1 : 0;
        slowest = std::max(slowest, doomed.milliseconds());
        doomed.reap();
    }
    BOOST_TEST(with_orphans == 0);
    std::string name;
    for (const auto& word : how) {
        name += word + " ";
    }
    BOOST_TEST_MESSAGE(name << count << " hosts killed, " << with_orphans
                            << " left orphans, the slowest took " << slowest << " ms");
}

} // namespace

// kill -9 of the host takes along its workers and what they have started.
BOOST_AUTO_TEST_SUITE(host_death)

BOOST_AUTO_TEST_CASE(at_start_up) {
    kill_hosts({"start"}, rounds(10), 250ms);
}

BOOST_AUTO_TEST_CASE(under_load) {
    kill_hosts({"load"}, rounds(8), 20ms);
}

BOOST_AUTO_TEST_CASE(under_load_with_plain_workers) {
    kill_hosts({"load", "plain"}, rounds(8), 20ms);
}

BOOST_AUTO_TEST_CASE(that_shares_memory) {
    kill_hosts({"load", "shared"}, rounds(6), 60ms);
}

BOOST_AUTO_TEST_CASE(as_workers_are_asked_to_stop) {
    kill_hosts({"stop"}, rounds(12), 60ms);
}

BOOST_AUTO_TEST_CASE(as_plain_workers_are_asked_to_stop) {
    kill_hosts({"stop", "plain"}, rounds(10), 60ms);
}

BOOST_AUTO_TEST_CASE(that_has_forked) {
    kill_hosts({"start", "fork"}, rounds(6), 250ms);
    kill_hosts({"load", "fork"}, rounds(4), 20ms);
    kill_hosts({"stop", "plain", "fork"}, rounds(4), 60ms);
}

BOOST_AUTO_TEST_CASE(with_workers_in_its_own_group_that_nothing_else_ends) {
    kill_hosts({"load", "stray"}, rounds(4), 20ms);
    kill_hosts({"load", "stray", "fork"}, rounds(2), 20ms);
}

BOOST_AUTO_TEST_CASE(with_workers_from_a_template) {
    kill_hosts({"start", "preload"}, rounds(8), 250ms);
    kill_hosts({"load", "preload"}, rounds(8), 20ms);
    kill_hosts({"load", "preload", "plain", "fork"}, rounds(4), 20ms);
    kill_hosts({"stop", "preload"}, rounds(8), 60ms);
}

/// The moment that Python's resource_tracker has for that may be too short on a machine that is busy: once is
/// enough.
BOOST_AUTO_TEST_CASE(leaves_nothing_in_dev_shm) {
    const leak_audit audit;
    bool is_tidy = false;
    for (int round = 0; round < 5 && !is_tidy; ++round) {
        host doomed({"load", "segments"});
        doomed.await();
        BOOST_TEST(segments(doomed.mark()).size() == 4u);
        doomed.kill();
        BOOST_TEST(doomed.orphans() == 0u);
        doomed.reap();
        const auto left = segments(doomed.mark());
        is_tidy = left.empty();
        for (const auto& each : left) {
            fs::remove(each);
        }
    }
    BOOST_TEST(is_tidy);
}

BOOST_AUTO_TEST_CASE(that_is_large) {
    kill_hosts({"load", "1024"}, rounds(2), 20ms);
    kill_hosts({"load", "plain", "1024"}, rounds(2), 20ms);
}

BOOST_AUTO_TEST_CASE(the_guard_takes_the_workers_along_and_another_takes_its_place) {
    with_pool(unforked(quick(basic_pool(2))), [](pool& workers) -> asio::awaitable<void> {
        const auto before = children();
        const auto first = guards();
        BOOST_TEST_REQUIRE(first.size() == 1u);
        ::kill(first.front(), SIGKILL);
        auto replaced = [&] {
            const auto now = children();
            return now.size() == 2 && std::none_of(now.begin(), now.end(), [&](pid_t each) {
                       return std::find(before.begin(), before.end(), each) != before.end();
                   });
        };
        const bool whole = co_await eventually(replaced);
        BOOST_TEST(whole);
        const bool healed = co_await is_healed(workers, 2);
        BOOST_TEST(healed);
        BOOST_TEST(guards().size() == 1u);
    });
}

BOOST_AUTO_TEST_CASE(a_guard_that_is_stopped_still_does_its_duty) {
    const leak_audit audit;
    host doomed({"load", "fork"});
    doomed.await();
    doomed.stop_guard();
    doomed.kill();
    BOOST_TEST(doomed.orphans() == 0u);
    doomed.reap();
}

/// The C library of the host relies on what it shares with its guard.
BOOST_AUTO_TEST_CASE(what_host_and_guard_share_is_out_of_reach) {
    with_pool(unforked(quick(basic_pool(1))), [](pool&) -> asio::awaitable<void> {
        const auto guard = guards();
        BOOST_TEST_REQUIRE(guard.size() == 1u);
        for (const auto& process : {std::string("self"), std::to_string(guard.front())}) {
            for (const auto& entry : fs::directory_iterator("/proc/" + process + "/fd")) {
                std::error_code ec;
                BOOST_TEST(!contains(fs::read_symlink(entry.path(), ec).string(), "pulse"), process);
            }
        }
        co_return;
    });
}

BOOST_AUTO_TEST_CASE(signals_to_everybody_do_not_end_the_guard) {
    with_pool(unforked(quick(basic_pool(1))), [](pool& workers) -> asio::awaitable<void> {
        const auto guard = guards();
        BOOST_TEST_REQUIRE(guard.size() == 1u);
        for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGPIPE}) {
            ::kill(guard.front(), number);
        }
        const auto pid = co_await pid_of(workers);
        BOOST_TEST(is_alive(pid));
        BOOST_TEST((guards() == guard));
        BOOST_TEST(::getsid(guard.front()) == guard.front());
    });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
