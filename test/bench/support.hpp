// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/pool_config.hpp>
#include <skep/time.hpp>

#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace skep::bench {

using seconds = std::chrono::duration<double>;

inline time_point now() noexcept {
    return std::chrono::steady_clock::now();
}

/// The command line of a benchmark: a mode, then key=value. Throws std::invalid_argument naming what is
/// missing.
class arguments {
public:
    arguments(int count, char** values);

    const std::string& mode() const noexcept { return mode_; }
    bool has(const std::string& key) const { return values_.contains(key); }
    const std::string& text(const std::string& key) const;
    std::string text(const std::string& key, const std::string& otherwise) const;
    std::size_t number(const std::string& key) const;
    std::size_t number(const std::string& key, std::size_t otherwise) const;
    seconds span(const std::string& key) const;

private:
    std::string mode_;
    std::map<std::string, std::string> values_;
};

/// What a mode measured, by name; report.py knows the units.
using figures = std::vector<std::pair<std::string, double>>;

using measurement = figures (*)(const arguments&);

/// The main() of a benchmark: runs the mode of the command line and prints its figures as one line of JSON.
int run_mode(int count, char** values, const std::map<std::string, measurement>& modes);

/// The value below which `share` of the samples lie. Reorders them.
double percentile(std::vector<double>& samples, double share);

double median(std::vector<double> samples);

/// User and system time of this process, or of another one, so far.
seconds cpu_time();
seconds cpu_time(pid_t process);

/// How often the threads of this process have given up their processor so far.
double context_switches();

/// The resident memory of this process, or of another one, in bytes, exact.
double resident_bytes();
double resident_bytes(pid_t process);

/// A pool of SDK workers, or of the C++ echo worker if one is given: worker=PATH, or script=PATH and
/// python=PROGRAM; workers=N, capacity=N and worker_threads=N if other than 1; pipeline=N if not
/// automatic; wait=block; batch=N and batch_wait_ms=N instead of the script's limits of batches.
pool_config make_config(const arguments& args);

} // namespace skep::bench
