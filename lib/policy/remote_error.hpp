// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/errc.hpp>

#include <string_view>

namespace skep {

/// The type of an error by which a node passes on a failure of its own pool. The error's code is the name of
/// the errc, and its data the facts: see failure_to_json().
inline constexpr std::string_view type_of_failure = "skep.Failure";

/// Returns true if a failure of a node's pool means that the call was not begun there: another node may take
/// the call.
constexpr bool is_refusal(errc code) noexcept {
    return code == errc::pool_saturated || code == errc::shutting_down || code == errc::unavailable;
}

/// Returns the code for the type of a worker's error. Some refusals of the worker SDK have a code of their
/// own.
constexpr errc code_of_remote_error(std::string_view type) noexcept {
    return type == "skep.UnknownCommand"     ? errc::unknown_command
           : type == "skep.InvalidArguments" ? errc::invalid_arguments
           : type == "skep.DeadlineExceeded" ? errc::timeout
                                             : errc::remote_error;
}

/// Returns the code for an error that arrived after the call's deadline, perhaps before the pool noticed the
/// expiry. A command that waits for the rest of its call's time gives up at that moment, with any error: the
/// code is `timeout`. An error with a `code` blames the caller, and keeps its usual code.
constexpr errc code_of_late_error(std::string_view type, std::string_view code) noexcept {
    const auto usual = code_of_remote_error(type);
    return usual == errc::remote_error && code.empty() ? errc::timeout : usual;
}

/// Returns true if the error says something about the worker. Two kinds do not: refusals of the SDK (types
/// that begin with `skep.`, from any sender), and errors with a `code`, because these blame the caller.
constexpr bool may_be_workers_fault(std::string_view type, std::string_view code) noexcept {
    return !type.starts_with("skep.") && code.empty();
}

} // namespace skep
