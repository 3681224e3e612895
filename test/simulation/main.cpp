// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// skep_simulation [--seeds N] [--from S] [--for SECONDS] [--jobs J] [--list FILE] [--faults] [--batches]
// [--recalls] [--templates] [--links] [--hubs] [--nodes] [--all] [--trace]

#include "simulation/simulation.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <limits>
#include <new>
#include <string>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace {

using namespace skep::simulation;

// Of CPU time, for one seed: none comes near it unless it hangs.
constexpr time_t longest_seed = 30;

/// Ends the process if the seed that begins now takes too long.
void watch() {
    const itimerval limit{{0, 0}, {longest_seed, 0}};
    setitimer(ITIMER_VIRTUAL, &limit, nullptr);
}

/// An option that decides in which worlds the seeds are tried.
struct world_kind {
    const char* option;
    bool* flag;
};

constexpr world_kind world_kinds[] = {{"--faults", &with_allocation_faults},
                                      {"--batches", &with_batches},
                                      {"--recalls", &with_recalls},
                                      {"--templates", &with_templates},
                                      {"--memory", &with_memory},
                                      {"--links", &with_links},
                                      {"--hubs", &with_hubs},
                                      {"--nodes", &with_nodes}};

struct options {
    std::uint64_t from = 1;
    std::uint64_t seeds = 1000;
    unsigned seconds = 0; ///< instead of a number of seeds
    unsigned jobs = 1;
    bool trace = false;
    bool all = false; ///< goes on after a failure
    std::string list;
};

/// What the parent sees of a job.
struct progress {
    volatile std::uint64_t seed;
    volatile std::uint64_t done;
    volatile std::uint64_t steps;
};

[[noreturn]] void usage() {
    std::fputs(
        "usage: skep_simulation [--seeds N] [--from S] [--for SECONDS] [--jobs J] [--list FILE] "
        "[--faults] [--batches] [--recalls] [--templates] [--links] [--hubs] [--nodes] [--all] [--trace]\n",
        stderr);
    std::exit(2);
}

options parse(int count, char** arguments) {
    options result;
    for (int i = 1; i < count; ++i) {
        const std::string name = arguments[i];
        if (name == "--trace") {
            result.trace = true;
            continue;
        }
        const auto* const kind = std::find_if(std::begin(world_kinds), std::end(world_kinds),
                                              [&](const auto& each) { return name == each.option; });
        if (kind != std::end(world_kinds)) {
            *kind->flag = true;
            continue;
        }
        if (name == "--all") {
            result.all = true;
            continue;
        }
        if (i + 1 == count) {
            usage();
        }
        const char* const value = arguments[++i];
        if (name == "--seeds") {
            result.seeds = std::strtoull(value, nullptr, 10);
        } else if (name == "--from") {
            result.from = std::strtoull(value, nullptr, 10);
        } else if (name == "--for") {
            result.seconds = static_cast<unsigned>(std::strtoul(value, nullptr, 10));
            result.seeds = std::numeric_limits<std::uint64_t>::max();
            // Other ones each day, but the same all day long.
            result.from = static_cast<std::uint64_t>(std::time(nullptr)) / 86'400 * 1'000'000;
        } else if (name == "--jobs") {
            result.jobs = static_cast<unsigned>(std::strtoul(value, nullptr, 10));
        } else if (name == "--list") {
            result.list = value;
        } else {
            usage();
        }
    }
    return result;
}

/// One seed a line, and words on what it has found.
std::vector<std::uint64_t> read_list(const std::string& path) {
    std::ifstream file(path);
    std::vector<std::uint64_t> seeds;
    for (std::string line; std::getline(file, line);) {
        if (!line.empty() && line[0] != '#') {
            seeds.push_back(std::strtoull(line.c_str(), nullptr, 10));
        }
    }
    return seeds;
}

result live(std::uint64_t seed, bool tracing) {
    return with_links   ? simulate_link(seed, tracing)
           : with_hubs  ? simulate_hubs(seed, tracing)
           : with_nodes ? simulate_nodes(seed, tracing)
                        : simulate(seed, tracing);
}

/// Lives through one world. False if it broke a promise.
bool run_seed(std::uint64_t seed, progress& mine) {
    mine.seed = seed;
    watch();
    const auto outcome = live(seed, false);
    mine.steps = mine.steps + outcome.steps;
    mine.done = mine.done + 1;
    if (outcome.violation) {
        std::printf("seed %lu: %s\n", static_cast<unsigned long>(seed), outcome.violation->c_str());
        std::fflush(stdout);
    }
    return !outcome.violation;
}

/// Its share of the listed seeds, then of the others.
[[noreturn]] void run_job(const std::vector<std::uint64_t>& listed, unsigned job, const options& chosen,
                          progress& mine) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(chosen.seconds);
    bool all_well = true;
    const auto goes_on = [&] { return all_well || chosen.all; };
    for (std::size_t i = job; i < listed.size() && goes_on(); i += chosen.jobs) {
        all_well = run_seed(listed[i], mine) && all_well;
    }
    for (std::uint64_t i = job; i < chosen.seeds && goes_on(); i += chosen.jobs) {
        if (chosen.seconds > 0 && std::chrono::steady_clock::now() >= end) {
            break;
        }
        all_well = run_seed(chosen.from + i, mine) && all_well;
    }
    _exit(all_well ? 0 : 1);
}

/// In a process of its own, as a failing seed may bring it down.
void show_trace(const char* program, std::uint64_t seed) {
    std::vector<std::string> words{program, "--from", std::to_string(seed), "--trace"};
    for (const auto& each : world_kinds) {
        if (*each.flag) {
            words.emplace_back(each.option);
        }
    }
    std::string command;
    std::vector<char*> pointers;
    for (auto& word : words) {
        command += ' ' + word;
        pointers.push_back(word.data());
    }
    pointers.push_back(nullptr);
    std::printf("---- trace; again:%s\n", command.c_str());
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        execv("/proc/self/exe", pointers.data());
        _exit(127);
    }
    waitpid(child, nullptr, 0);
}

} // namespace

int main(int count, char** arguments) {
    const auto chosen = parse(count, arguments);
    if (chosen.trace) {
        watch();
        const auto outcome = live(chosen.from, true);
        std::printf("seed %lu: %s\n", static_cast<unsigned long>(chosen.from),
                    outcome.violation ? outcome.violation->c_str() : "all promises kept");
        std::fflush(stdout);
        _exit(outcome.violation ? 1 : 0);
    }
    const auto listed = chosen.list.empty() ? std::vector<std::uint64_t>() : read_list(chosen.list);
    const auto began = std::chrono::steady_clock::now();
    void* const shared = mmap(nullptr, sizeof(progress) * chosen.jobs, PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    auto* const jobs = new (shared) progress[chosen.jobs]();
    std::vector<pid_t> children;
    for (unsigned i = 0; i < chosen.jobs; ++i) {
        children.push_back(fork());
        if (children.back() == 0) {
            run_job(listed, i, chosen, jobs[i]);
        }
    }
    int failures = 0;
    std::uint64_t done = 0;
    std::uint64_t steps = 0;
    for (unsigned i = 0; i < chosen.jobs; ++i) {
        int status = 0;
        waitpid(children[i], &status, 0);
        done += jobs[i].done;
        steps += jobs[i].steps;
        if (WIFSIGNALED(status)) {
            std::printf("seed %lu: %s\n", static_cast<unsigned long>(jobs[i].seed),
                        strsignal(WTERMSIG(status)));
        }
        if (status != 0 && failures++ == 0 && !chosen.all) {
            show_trace(arguments[0], jobs[i].seed);
        }
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    std::printf("simulation: %lu seeds, %.0f a second, %lu steps each, %d failed\n",
                static_cast<unsigned long>(done), static_cast<double>(done) / took.count(),
                static_cast<unsigned long>(done == 0 ? 0 : steps / done), failures);
    return failures == 0 ? 0 : 1;
}
