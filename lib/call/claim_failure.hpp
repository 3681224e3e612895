// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/error.hpp>

#include <exception>
#include <memory>

namespace skep {

/// What a call or a checkout has failed with, or nothing. Whoever waits for it makes the error: to put its text together
/// takes longer than all that the strand does for a call.
class claim_failure {
public:
    claim_failure() noexcept = default;

    claim_failure(skep::errc code, error_info&& info);
    explicit claim_failure(const error& cause) noexcept;

    explicit operator bool() const noexcept { return code_ != skep::errc(); }
    skep::errc errc() const noexcept { return code_; }

    /// Null if it is none.
    const error_info* info() const noexcept { return story_ ? &story_->info : nullptr; }

    /// With all that is known, if there is memory for its text. Throws std::bad_alloc if there is none at all.
    error to_error() const;

    /// The error, or null. Unlike a throw, this unwinds no stack.
    operator std::exception_ptr() && noexcept { return *this ? to_exception() : std::exception_ptr(); }

private:
    std::exception_ptr to_exception() const noexcept;

    skep::errc code_{};
    std::shared_ptr<error::story> story_;
};

} // namespace skep
