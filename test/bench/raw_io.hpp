// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "process/descriptors.hpp"
#include "support.hpp"

#include <chrono>
#include <cstddef>
#include <vector>

namespace skep::bench {

// Blocking I/O in the manner of C. All throw std::system_error; the end of a stream is an error too.

[[noreturn]] void fail(const char* what);
void write_all(int fd, const char* data, std::size_t size);
std::size_t read_some(int fd, char* data, std::size_t size);
void read_all(int fd, char* data, std::size_t size);
fd_pair make_socketpair();

/// Each call of `operation`, from a tenth of `span` on, in microseconds.
template <class Operation>
std::vector<double> time_each(seconds span, Operation operation) {
    std::vector<double> samples;
    samples.reserve(1u << 18);
    const auto warm = now() + std::chrono::duration_cast<duration>(span) / 10;
    const auto end = warm + std::chrono::duration_cast<duration>(span);
    operation();
    for (auto before = now(); before < end || samples.size() < 3;) {
        operation();
        const auto after = now();
        if (before >= warm) {
            samples.push_back(seconds(after - before).count() * 1e6);
        }
        before = after;
    }
    return samples;
}

} // namespace skep::bench
