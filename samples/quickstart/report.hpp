// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/pool_status.hpp>
#include <skep/shutdown_report.hpp>

#include <cstddef>
#include <map>
#include <string>
#include <vector>

/// What one module holds.
struct module_facts {
    std::size_t lines = 0;
    std::size_t functions = 0;
    std::size_t classes = 0;
    std::string longest; ///< its longest function, and where that is; empty if it has none
    std::size_t longest_lines = 0;
};

/// What the modules of a package hold together.
struct package_facts : module_facts {
    std::size_t modules = 0;

    void add(const module_facts& more);
    void add(const package_facts& more);
};

/// A module that has no facts, and why.
struct failure {
    std::string path;
    std::string reason;
};

/// What is known about a library so far.
struct findings {
    std::string root;               ///< its folder
    std::vector<std::string> paths; ///< its modules, relative to it
    std::map<std::string, package_facts> packages;
    std::size_t parsed = 0;           ///< modules that the packages hold together
    std::vector<failure> not_parsed;  ///< a worker read it, and it is no Python
    std::vector<failure> lost;        ///< nobody could read it
    std::vector<std::string> retried; ///< read, by another worker than the first that had it

    void add(const std::string& path, const module_facts& facts);

    /// All modules that were read.
    package_facts total() const;

    /// How many modules there is an outcome for.
    std::size_t done() const noexcept { return parsed + not_parsed.size() + lost.size(); }
};

/// The terminal, or whatever stands for it: lines, with a progress bar below them if there is somebody to
/// watch it.
class screen {
public:
    screen();

    void line(const std::string& text);
    void progress(std::size_t done, std::size_t total);

    /// Takes the bar away.
    void end_progress();

private:
    void draw_bar();

    bool is_terminal_;
    std::size_t done_ = 0;
    std::size_t total_ = 0;
    std::size_t step_ = 0; ///< the last step shown: a per mille on a terminal, ten per cent elsewhere
};

/// "quickstart/2#1 (pid 4711)"; between two processes of a slot there is none
std::string describe(const skep::worker_status& worker);

void print_packages(const findings& found);
void print_exceptions(const findings& found);
void print_status(const skep::pool_status& status);
void print_shutdown(const skep::shutdown_report& report);

/// Counts again, without workers and without Python. True if the counts agree and no module was lost.
bool verify(const findings& found);
