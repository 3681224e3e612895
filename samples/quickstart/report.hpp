// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/pool_status.hpp>
#include <skep/shutdown_report.hpp>

#include <cstddef>
#include <map>
#include <string>
#include <vector>

/// Facts about one module.
struct module_facts {
    std::size_t lines = 0;
    std::size_t functions = 0;
    std::size_t classes = 0;
    std::string longest; ///< longest function and its file; empty without a function
    std::size_t longest_lines = 0;
};

/// Sums over the modules of a package.
struct package_facts : module_facts {
    std::size_t modules = 0;

    void add(const module_facts& more);
    void add(const package_facts& more);
};

/// A module without facts, and the reason.
struct failure {
    std::string path;
    std::string reason;
};

/// Facts about a library so far.
struct findings {
    std::string root;               ///< its folder
    std::vector<std::string> paths; ///< its modules, relative to the folder
    std::map<std::string, package_facts> packages;
    std::size_t parsed = 0;           ///< number of modules in all packages
    std::vector<failure> not_parsed;  ///< modules that are not valid Python
    std::vector<failure> lost;        ///< modules that no worker could read
    std::vector<std::string> retried; ///< modules that a second worker has read

    void add(const std::string& path, const module_facts& facts);

    /// Returns the sums over all parsed modules.
    package_facts total() const;

    /// Returns the number of modules with an outcome.
    std::size_t done() const noexcept { return parsed + not_parsed.size() + lost.size(); }
};

/// Standard output: lines, and below them a progress bar if it is a terminal.
class screen {
public:
    screen();

    void line(const std::string& text);
    void progress(std::size_t done, std::size_t total);

    /// Removes the bar.
    void end_progress();

private:
    void draw_bar();

    bool is_terminal_;
    std::size_t done_ = 0;
    std::size_t total_ = 0;
    std::size_t step_ = 0; ///< last step shown: in per mille on a terminal, else in tens of per cent
};

/// Returns "quickstart/2#1 (pid 4711)", or "(no process)" behind the id of an empty slot.
std::string describe(const skep::worker_status& worker);

void print_packages(const findings& found);
void print_exceptions(const findings& found);
void print_status(const skep::pool_status& status);
void print_shutdown(const skep::shutdown_report& report);

/// Counts again, without workers and without Python. Returns true if the counts agree and no module was lost.
bool verify(const findings& found);
