// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "wire/worker_messages.hpp"

#include <exception>
#include <stdexcept>
#include <string>

namespace skep {

/// What the SDK itself answers a call with; `type` begins with "skep.".
class call_failure : public std::runtime_error {
public:
    call_failure(std::string type, const std::string& message)
        : std::runtime_error(message), type_(std::move(type)) {}

    const std::string& type() const noexcept { return type_; }

private:
    std::string type_;
};

/// The call was cancelled, and has ended therefore.
call_failure cancelled_failure();

/// What of a result or chunk cannot be sent, as the exception being handled says.
[[noreturn]] void refuse_unsendable(const std::string& description);

/// What an exception that has left a handler tells the caller. `is_interrupted`: the call was cancelled before.
error_message describe(const std::exception_ptr& problem, bool is_interrupted);

} // namespace skep
