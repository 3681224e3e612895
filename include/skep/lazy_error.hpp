// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/error.hpp>
#include <skep/export.hpp>

#include <exception>
#include <memory>

namespace skep {

/// The failure of an operation, or none. The error's text is made by the thread that handles the failure: composing the
/// text takes longer than all that a pool's strand does for a call.
class SKEP_API lazy_error {
public:
    lazy_error() noexcept = default;

    /// A failure whose text is still to be made of both.
    lazy_error(skep::errc code, error_info&& info);

    /// Shares the text of `cause`.
    explicit lazy_error(const error& cause) noexcept;

    /// Null is no failure. An exception that is no skep::error stays as it is.
    explicit lazy_error(std::exception_ptr cause) noexcept;

    /// Returns true for a failure.
    explicit operator bool() const noexcept { return code_ != skep::errc() || foreign_; }

    /// The default-constructed code of an exception that is no skep::error, as without a failure.
    skep::errc errc() const noexcept { return code_; }

    /// Null without a failure.
    const error_info* info() const noexcept { return story_ ? &story_->info : nullptr; }

    /// The error; without its text if there is no memory for that. An exception that is no skep::error becomes out_of_memory
    /// (std::bad_alloc), cancelled (operation_aborted) or remote_error (others, with their text). Throws std::bad_alloc if there
    /// is no memory at all.
    error to_error() const;

    /// The error, or null. Unlike a throw, this unwinds no stack.
    operator std::exception_ptr() && noexcept { return *this ? to_exception() : std::exception_ptr(); }

private:
    error error_of_foreign() const;
    std::exception_ptr to_exception() const noexcept;

    skep::errc code_{};
    std::shared_ptr<error::story> story_;
    std::exception_ptr foreign_; ///< no skep::error
};

} // namespace skep
