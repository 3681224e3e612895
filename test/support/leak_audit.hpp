// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <set>
#include <string>
#include <sys/types.h>
#include <vector>

namespace skep::test {

/// The pids of this process's children, zombies included, but for the guards of its pools.
std::vector<pid_t> children();

/// The pids of the guards of this process's pools, zombies included.
std::vector<pid_t> guards();

/// Returns the number of children and guards, counted in one go. A guard that is launched is a child first,
/// so guards() and then children() may both miss it.
std::size_t children_and_guards();

/// The number of this process's threads.
std::size_t threads();

/// This process's open descriptors, with what they refer to.
std::set<std::string> descriptors();

/// True if the process exists and is not a zombie.
bool is_alive(pid_t pid);

/// Fails the test if, when it is destroyed, there is a child, a thread or a descriptor that was not there
/// before.
class leak_audit {
public:
    leak_audit();
    ~leak_audit();
    leak_audit(const leak_audit&) = delete;
    leak_audit& operator=(const leak_audit&) = delete;

private:
    std::set<std::string> descriptors_;
    std::size_t threads_ = 0;
    std::vector<pid_t> children_;
    std::vector<pid_t> guards_;
};

} // namespace skep::test
