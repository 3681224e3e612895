// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "budget.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <sys/resource.h>

namespace gateway {

namespace {

constexpr std::size_t of_the_process = 32; // standard streams, epoll, timers, signals, files
constexpr std::size_t of_the_listener = 2; // its socket, and a connection that waits for a place
constexpr std::size_t fewest = 16;         // connections; the service does not start with fewer
constexpr std::size_t most = 10'000;

std::size_t descriptors_allowed() {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    return static_cast<std::size_t>(std::min<rlim_t>(limit.rlim_cur, 1u << 20));
}

} // namespace

limits divide_descriptors(const skep::manager_config& pools, skep::admin_options& admin) {
    const auto allowed = descriptors_allowed();
    admin.connections = std::clamp<std::size_t>(allowed / 16, 4, admin.connections);
    const auto taken =
        skep::descriptors_needed(pools) + skep::descriptors_needed(admin) + of_the_process + of_the_listener;
    if (allowed < taken + fewest) {
        throw std::runtime_error("the limit of open files is " + std::to_string(allowed) + ", and " +
                                 std::to_string(taken + fewest) +
                                 " are needed for the workers, the admin page and " + std::to_string(fewest) +
                                 " connections: raise 'ulimit -n'");
    }
    limits result;
    result.connections = std::min(most, allowed - taken);
    return result;
}

bool body_budget::share::grow_to(std::size_t bytes) {
    const auto more = bytes - std::min(bytes, bytes_);
    if (more > of_.left_) {
        return false;
    }
    of_.left_ -= more;
    bytes_ += more;
    return true;
}

void body_budget::share::give_back() {
    of_.left_ += bytes_;
    bytes_ = 0;
}

} // namespace gateway
