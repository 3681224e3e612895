// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "report.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <unistd.h>

namespace {

namespace fs = std::filesystem;

constexpr std::size_t packages_shown = 15;
constexpr std::size_t name_width = 18;

/// "1,234,567"
std::string number(std::uint64_t value) {
    auto digits = std::to_string(value);
    for (auto i = static_cast<std::ptrdiff_t>(digits.size()) - 3; i > 0; i -= 3) {
        digits.insert(static_cast<std::size_t>(i), 1, ',');
    }
    return digits;
}

std::string milliseconds(skep::duration span) {
    return number(static_cast<std::uint64_t>(
               std::chrono::duration_cast<std::chrono::milliseconds>(span).count())) +
           " ms";
}

/// Returns the package of a module, or the module itself if it has no package.
std::string package_of(const std::string& path) {
    const auto slash = path.find('/');
    return slash != std::string::npos ? path.substr(0, slash) : path.substr(0, path.rfind('.'));
}

void print_row(const std::string& name, const package_facts& facts) {
    const auto label = name.size() > name_width ? name.substr(0, name_width - 2) + ".." : name;
    std::cout << std::left << std::setw(name_width) << label << std::right << std::setw(8)
              << number(facts.modules) << std::setw(11) << number(facts.lines) << std::setw(11)
              << number(facts.functions) << std::setw(9) << number(facts.classes);
    if (!facts.longest.empty()) {
        std::cout << std::setw(6) << number(facts.longest_lines) << "  " << facts.longest;
    }
    std::cout << '\n';
}

/// Counts the files that a survey must find, and the lines of the files that it has parsed.
struct recount {
    std::size_t modules = 0;
    std::size_t lines = 0;
};

std::size_t count_lines(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    const std::istreambuf_iterator<char> begin(stream);
    return static_cast<std::size_t>(std::count(begin, {}, '\n'));
}

bool is_module(const fs::directory_entry& entry) {
    const auto& path = entry.path();
    const auto installed = [](const fs::path& part) {
        return part == "site-packages" || part == "dist-packages";
    };
    return path.extension() == ".py" && entry.is_regular_file() &&
           std::none_of(path.begin(), path.end(), installed);
}

recount count_again(const findings& found) {
    recount again;
    for (const auto& entry : fs::recursive_directory_iterator(found.root)) {
        again.modules += is_module(entry) ? 1 : 0;
    }
    for (const auto& path : found.paths) {
        const auto is_this = [&path](const failure& each) { return each.path == path; };
        const bool skipped = std::any_of(found.not_parsed.begin(), found.not_parsed.end(), is_this) ||
                             std::any_of(found.lost.begin(), found.lost.end(), is_this);
        again.lines += skipped ? 0 : count_lines(fs::path(found.root) / path);
    }
    return again;
}

} // namespace

void package_facts::add(const module_facts& more) {
    ++modules;
    lines += more.lines;
    functions += more.functions;
    classes += more.classes;
    if (more.longest_lines > longest_lines) {
        longest = more.longest;
        longest_lines = more.longest_lines;
    }
}

void package_facts::add(const package_facts& more) {
    add(static_cast<const module_facts&>(more));
    modules += more.modules - 1;
}

void findings::add(const std::string& path, const module_facts& facts) {
    packages[package_of(path)].add(facts);
    ++parsed;
}

package_facts findings::total() const {
    package_facts sum;
    for (const auto& [name, facts] : packages) {
        sum.add(facts);
    }
    return sum;
}

screen::screen() : is_terminal_(::isatty(STDOUT_FILENO) == 1) {}

void screen::line(const std::string& text) {
    std::cout << (is_terminal_ ? "\r\033[K" : "") << text << '\n';
    if (is_terminal_ && total_ > 0) {
        draw_bar();
    }
    std::cout << std::flush;
}

void screen::progress(std::size_t done, std::size_t total) {
    done_ = done;
    total_ = total;
    const auto step = done * (is_terminal_ ? 1000 : 10) / total;
    if (step == step_) {
        return;
    }
    step_ = step;
    if (is_terminal_) {
        draw_bar();
        std::cout << std::flush;
    } else {
        line(std::to_string(step * 10) + " %: " + number(done) + " of " + number(total) + " modules");
    }
}

void screen::end_progress() {
    total_ = 0;
    if (is_terminal_) {
        std::cout << "\r\033[K" << std::flush;
    }
}

void screen::draw_bar() {
    constexpr std::size_t width = 40;
    const auto filled = done_ * width / total_;
    std::cout << "\r\033[K[" << std::string(filled, '#') << std::string(width - filled, '.') << "] "
              << std::setw(3) << done_ * 100 / total_ << " %  " << number(done_) << " of " << number(total_)
              << " modules";
}

std::string describe(const skep::worker_status& worker) {
    return to_string(worker.id) +
           (worker.pid == 0 ? " (no process)" : " (pid " + std::to_string(worker.pid) + ")");
}

void print_packages(const findings& found) {
    std::vector<std::pair<std::string, package_facts>> packages(found.packages.begin(), found.packages.end());
    std::sort(packages.begin(), packages.end(),
              [](const auto& a, const auto& b) { return a.second.lines > b.second.lines; });
    std::cout << "\npackage            modules      lines  functions  classes  longest function\n";
    package_facts others;
    for (std::size_t i = 0; i < packages.size(); ++i) {
        const auto& [name, facts] = packages[i];
        if (i < packages_shown) {
            print_row(name, facts);
        } else {
            others.add(facts);
        }
    }
    if (packages.size() > packages_shown) {
        print_row(std::to_string(packages.size() - packages_shown) + " others", others);
    }
    print_row("total", found.total());
}

void print_exceptions(const findings& found) {
    std::cout << "\nnot parsed: " << found.not_parsed.size() << '\n';
    for (const auto& [path, reason] : found.not_parsed) {
        std::cout << "  " << path << ": " << reason << '\n';
    }
    std::cout << "read by a second worker: " << found.retried.size() << '\n';
    for (const auto& path : found.retried) {
        std::cout << "  " << path << '\n';
    }
    std::cout << "lost: " << found.lost.size() << '\n';
    for (const auto& [path, reason] : found.lost) {
        std::cout << "  " << path << ": " << reason << '\n';
    }
}

void print_status(const skep::pool_status& status) {
    const auto& counters = status.counters;
    std::cout << "\npool '" << status.name << "', " << to_string(status.phase) << '\n';
    for (const auto& worker : status.workers) {
        std::cout << "  " << describe(worker) << ": " << to_string(worker.state) << ", up "
                  << milliseconds(worker.uptime) << ", " << number(worker.completed) << " calls answered\n";
        if (!worker.last_failure.empty()) {
            std::cout << "    the one before it was lost: " << worker.last_failure << '\n';
        }
    }
    std::cout << "  calls:   " << number(counters.submitted) << " submitted, " << number(counters.succeeded)
              << " succeeded, " << number(counters.remote_errors) << " raised an exception, "
              << counters.cancelled << " cancelled, " << counters.retried << " retried\n"
              << "  workers: " << counters.workers_started << " started, " << counters.workers_lost
              << " lost\n";
}

void print_shutdown(const skep::shutdown_report& report) {
    std::cout << "\nshutdown took " << milliseconds(report.took) << ", "
              << (report.clean() ? "no process is left" : "some processes could not be ended") << '\n';
    for (const auto& worker : report.workers) {
        std::cout << "  " << to_string(worker.id) << " (pid " << worker.pid
                  << "): " << to_string(worker.state) << ", " << to_string(worker.status)
                  << ", last step: " << to_string(worker.stage()) << '\n';
    }
}

bool verify(const findings& found) {
    const auto again = count_again(found);
    const auto lines = found.total().lines;
    const bool agrees = again.modules == found.done() && again.lines == lines;
    std::cout << "\ncounted again in C++: " << number(again.modules) << " modules, " << number(again.lines)
              << " lines in those parsed; by the workers: " << number(found.done()) << " modules, "
              << number(lines) << " lines: " << (agrees ? "equal" : "NOT EQUAL") << '\n';
    if (!found.lost.empty()) {
        std::cout << "FAILED: " << found.lost.size() << " modules were lost\n";
    }
    return agrees && found.lost.empty();
}
