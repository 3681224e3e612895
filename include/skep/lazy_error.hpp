// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/error.hpp>
#include <skep/export.hpp>

#include <exception>
#include <memory>

namespace skep {

/// The failure of an operation, or no failure. The thread that handles the failure composes the text of the
/// error, because composing takes longer than all of a pool's work for a call on its strand.
class SKEP_API lazy_error {
public:
    lazy_error() noexcept = default;

    /// Constructs a failure without a text. The text is composed later.
    lazy_error(errc code, error_info&& info);

    /// Constructs a failure that shares the text of `cause`.
    explicit lazy_error(const error& cause) noexcept;

    /// Constructs a failure from an exception of any type; no failure from null.
    explicit lazy_error(std::exception_ptr cause) noexcept;

    /// Returns true for a failure.
    explicit operator bool() const noexcept { return code_ != errc() || foreign_; }

    /// Returns the code of a skep::error; a default-constructed errc for another exception or without a
    /// failure.
    errc kind() const noexcept { return code_; }

    /// Returns the facts of a skep::error; null for another exception or without a failure.
    const error_info* info() const noexcept { return story_ ? &story_->info : nullptr; }

    /// Returns the error, with its text unless memory is exhausted. An exception of another type becomes
    /// out_of_memory (std::bad_alloc), cancelled (operation_aborted) or remote_error (any other exception,
    /// with its text).
    /// Throws std::bad_alloc.
    error to_error() const;

    /// Returns the exception, or null without a failure. Unlike a throw, this unwinds no stack.
    operator std::exception_ptr() && noexcept { return *this ? to_exception() : std::exception_ptr(); }

private:
    error error_of_foreign() const;
    std::exception_ptr to_exception() const noexcept;

    errc code_{};
    std::shared_ptr<error::story> story_;
    std::exception_ptr foreign_; ///< an exception of another type than skep::error
};

} // namespace skep
