// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "support.hpp"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <sys/resource.h>
#include <time.h>

namespace skep::bench {

arguments::arguments(int count, char** values) : mode_(count > 1 ? values[1] : "") {
    for (int i = 2; i < count; ++i) {
        const std::string pair = values[i];
        const auto sign = pair.find('=');
        if (sign == std::string::npos) {
            throw std::invalid_argument("expected key=value, not '" + pair + "'");
        }
        values_[pair.substr(0, sign)] = pair.substr(sign + 1);
    }
}

const std::string& arguments::text(const std::string& key) const {
    const auto found = values_.find(key);
    if (found == values_.end()) {
        throw std::invalid_argument(mode_ + " needs " + key + "=...");
    }
    return found->second;
}

std::string arguments::text(const std::string& key, const std::string& otherwise) const {
    return values_.contains(key) ? text(key) : otherwise;
}

std::size_t arguments::number(const std::string& key) const {
    return std::stoull(text(key));
}

std::size_t arguments::number(const std::string& key, std::size_t otherwise) const {
    return values_.contains(key) ? number(key) : otherwise;
}

seconds arguments::span(const std::string& key) const {
    return seconds(std::stod(text(key)));
}

namespace {

/// A field of /proc/PID/smaps_rollup: the kernel only estimates what /proc/PID/statm says.
double bytes_in_rollup(pid_t process, std::string_view field) {
    std::ifstream rollup("/proc/" + std::to_string(process) + "/smaps_rollup");
    std::string word;
    while (rollup >> word) {
        if (word == field) {
            double kibibytes = 0;
            rollup >> kibibytes;
            return kibibytes * 1024;
        }
    }
    throw std::runtime_error("cannot read /proc/PID/smaps_rollup");
}

void print(const figures& measured) {
    boost::json::object line;
    for (const auto& [name, value] : measured) {
        line[name] = value;
    }
    std::cout << line << std::endl;
}

} // namespace

int run_mode(int count, char** values, const std::map<std::string, measurement>& modes) {
    try {
        const arguments args(count, values);
        const auto mode = modes.find(args.mode());
        if (mode == modes.end()) {
            throw std::invalid_argument("no mode named '" + args.mode() + "'");
        }
        print(mode->second(args));
        return 0;
    } catch (const std::exception& e) {
        std::cerr << values[0] << ": " << e.what() << '\n';
        return 1;
    }
}

double percentile(std::vector<double>& samples, double share) {
    if (samples.empty()) {
        throw std::runtime_error("no samples");
    }
    const auto rank = static_cast<std::ptrdiff_t>(share * static_cast<double>(samples.size() - 1));
    std::nth_element(samples.begin(), samples.begin() + rank, samples.end());
    return samples[static_cast<std::size_t>(rank)];
}

double median(std::vector<double> samples) {
    return percentile(samples, 0.5);
}

seconds cpu_time() {
    return cpu_time(0);
}

seconds cpu_time(pid_t process) {
    clockid_t clock{};
    timespec time{};
    if (::clock_getcpuclockid(process, &clock) != 0 || ::clock_gettime(clock, &time) != 0) {
        throw std::runtime_error("cannot read the CPU time of process " + std::to_string(process));
    }
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

double context_switches() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_nvcsw + usage.ru_nivcsw);
}

double resident_bytes() {
    return resident_bytes(::getpid());
}

double resident_bytes(pid_t process) {
    return bytes_in_rollup(process, "Rss:");
}

scheduling schedule_named(const std::string& name) {
    static const std::map<std::string, scheduling> kinds{{"least_loaded", scheduling::least_loaded},
                                                         {"round_robin", scheduling::round_robin},
                                                         {"lifo", scheduling::lifo},
                                                         {"fifo", scheduling::fifo},
                                                         {"pack", scheduling::pack}};
    return kinds.at(name);
}

pool_config make_config(const arguments& args) {
    pool_config config;
    if (const auto capacity = args.number("capacity", 1); capacity > 1) {
        config.launch.program = args.text("worker");
        config.launch.args = {std::to_string(capacity)};
        config.capacity = capacity;
    } else {
        config = pool_config::python(args.text("script"), args.text("python"));
    }
    config.schedule = schedule_named(args.text("schedule", "least_loaded"));
    config.workers = args.number("workers", 1);
    config.min_ready = *config.workers;
    if (!args.text("pipeline", "").empty()) {
        config.pipeline_depth = args.number("pipeline", 0);
    }
    config.threads_per_worker = args.number("worker_threads", 1);
    config.wait = args.text("wait", "adaptive") == "block" ? wait_mode::block : wait_mode::adaptive;
    config.queue.timeout = duration::zero();
    config.shared.enabled = args.number("shared", 0) != 0;
    config.shared.least = args.number("least", config.shared.least);
    config.shared.least_result = args.number("least_result", config.shared.least_result);
    config.shared.show_results = args.number("shown", 0) != 0;
    if (args.has("batch")) {
        config.commands["echo"].batch = args.number("batch");
    }
    if (args.has("batch_wait_ms")) {
        config.commands["echo"].batch_wait = std::chrono::milliseconds(args.number("batch_wait_ms"));
    }
    return config;
}

} // namespace skep::bench
