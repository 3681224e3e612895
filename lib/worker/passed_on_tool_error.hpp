// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "wire/host_messages.hpp"

#include <stdexcept>
#include <utility>

namespace skep {

/// The failure of a tool that another pool has run: the worker's code gets the failure unchanged.
class passed_on_tool_error : public std::runtime_error {
public:
    explicit passed_on_tool_error(tool_failure failure)
        : std::runtime_error(failure.message), failure_(std::move(failure)) {}

    const tool_failure& failure() const noexcept { return failure_; }

private:
    tool_failure failure_;
};

} // namespace skep
