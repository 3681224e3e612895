// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "session/session_rules.hpp"

#include "core/range_check.hpp"
#include "core/text.hpp"
#include "core/with_detail.hpp"
#include <skep/error.hpp>

#include <chrono>
#include <string>

namespace skep {

using namespace std::chrono_literals;

namespace {

constexpr std::size_t longest_id = 256;

[[noreturn]] void refuse_session(std::string problem) {
    throw error(errc::invalid_session, with_detail(std::move(problem)));
}

} // namespace

void check(const session_options& options) {
    check_ranges(
        [&](range_check& range) { range.group("sessions", [&] { visit_session_fields(options, range); }); });
}

void check_session_id(std::string_view id) {
    if (id.empty() || id.size() > longest_id) {
        refuse_session("its id has " + std::to_string(id.size()) + " bytes: must be 1.." +
                       std::to_string(longest_id));
    }
    if (!is_utf8(id)) {
        refuse_session("its id is no UTF-8");
    }
}

void check_session_ttl(duration ttl) {
    if (ttl < shortest_session_ttl || ttl > longest_session_ttl) {
        refuse_session("its ttl = " + in_milliseconds(ttl) + ": must be " +
                       in_milliseconds(shortest_session_ttl) + ".." + in_milliseconds(longest_session_ttl) +
                       ", or 0 for session_options::ttl");
    }
}

} // namespace skep
