// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "call/claim_failure.hpp"

#include <new>
#include <utility>

namespace skep {

claim_failure::claim_failure(skep::errc code, error_info&& info)
    : code_(code), story_(std::make_shared<error::story>(std::move(info))) {}

/// The text is there: nothing is changed in what they share.
claim_failure::claim_failure(const error& cause) noexcept
    : code_(cause.errc()), story_(std::const_pointer_cast<error::story>(cause.story_)) {}

error claim_failure::to_error() const {
    try {
        return story_ ? error(story_, code_) : error(code_, error_info());
    } catch (const std::bad_alloc&) {
        return {code_, error_info()};
    }
}

std::exception_ptr claim_failure::to_exception() const noexcept {
    try {
        return std::make_exception_ptr(to_error());
    } catch (const std::bad_alloc&) {
        return std::current_exception();
    }
}

} // namespace skep
