// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/session_store.hpp>

#include <chrono>
#include <cstddef>
#include <string_view>

namespace skep {

constexpr duration shortest_session_ttl = std::chrono::milliseconds(1);
constexpr duration longest_session_ttl = std::chrono::hours(24) * 365;
constexpr std::size_t largest_session_quota = 10'000'000;

/// Visits every field with its range, as visit_fields of a pool_config does.
template <class Options, class Visitor>
void visit_session_fields(Options& options, Visitor& visit) {
    using namespace std::chrono_literals;
    visit.time("ttl", options.ttl, shortest_session_ttl, longest_session_ttl);
    visit.time("cleanup_interval", options.cleanup_interval, 10ms, 24h);
    visit.number("quota", options.quota, 1, static_cast<long long>(largest_session_quota));
}

/// Throws error(errc::invalid_config) with field, value and rule.
void check(const session_options& options);

/// Throws error(errc::invalid_session), without the id, which may be a secret.
void check_session_id(std::string_view id);

/// Throws error(errc::invalid_session) for a ttl out of range.
void check_session_ttl(duration ttl);

} // namespace skep
