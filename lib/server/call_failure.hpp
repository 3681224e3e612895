// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "wire/worker_messages.hpp"

#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

namespace skep {

/// An error of the SDK itself, as the answer to a call. `type` begins with "skep.".
class call_failure : public std::runtime_error {
public:
    call_failure(std::string type, const std::string& message)
        : std::runtime_error(message), type_(std::move(type)) {}

    const std::string& type() const noexcept { return type_; }

private:
    std::string type_;
};

/// An error that another worker has answered, to be passed on unchanged.
class passed_on_error : public std::runtime_error {
public:
    explicit passed_on_error(error_message message)
        : std::runtime_error(message.message), message_(std::move(message)) {}

    const error_message& message() const noexcept { return message_; }

private:
    error_message message_;
};

/// Returns the failure of a call that ended because it was cancelled.
call_failure cancelled_failure();

/// Throws a call_failure for the exception being handled: a result, chunk or tool call cannot be sent.
[[noreturn]] void refuse_unsendable(const std::string& description);

/// Returns the error for the caller after an exception left a handler. `is_interrupted`: the call was
/// cancelled before.
error_message describe(const std::exception_ptr& problem, bool is_interrupted);

} // namespace skep
