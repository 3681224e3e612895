// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/errc.hpp>

#include <string_view>

namespace skep {

/// The code of an error that a worker has answered a call with: some of what a worker SDK itself refuses has one of
/// its own.
constexpr errc code_of_remote_error(std::string_view type) noexcept {
    return type == "skep.UnknownCommand"     ? errc::unknown_command
           : type == "skep.InvalidArguments" ? errc::invalid_arguments
           : type == "skep.DeadlineExceeded" ? errc::timeout
                                             : errc::remote_error;
}

/// Likewise of one that has come when the call's time was over, perhaps before the pool had noticed that. A command that
/// waits for as long as its call has left gives up in that moment, whatever it says then. What the worker's code calls
/// the caller's fault, by a `code`, it still is.
constexpr errc code_of_late_error(std::string_view type, std::string_view code) noexcept {
    const auto usual = code_of_remote_error(type);
    return usual == errc::remote_error && code.empty() ? errc::timeout : usual;
}

/// Whether it says something about the worker: neither does what the SDK refuses, whoever sends it (types named
/// `skep.`), nor what the worker's code calls the caller's fault by giving it a `code`.
constexpr bool may_be_workers_fault(std::string_view type, std::string_view code) noexcept {
    return !type.starts_with("skep.") && code.empty();
}

} // namespace skep
