// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "wire/call_messages.hpp"
#include "wire/protocol_violation.hpp"

#include <utility>
#include <vector>

namespace skep {

/// Gathers the calls of a batch, which arrive one after the other.
class batch_intake {
public:
    /// Returns true if the next call belongs to a batch.
    bool expects(const call_message& call) const noexcept { return call.batch.size > 1 || !calls_.empty(); }

    /// Adds a call. Returns the whole batch if it was the last call, otherwise an empty vector. Throws
    /// protocol_violation if another call comes amid a batch.
    std::vector<call_message> add(call_message&& call) {
        if (!calls_.empty() &&
            (call.batch != calls_.front().batch || call.command != calls_.front().command)) {
            throw protocol_violation("another call came amid the calls of a batch");
        }
        calls_.push_back(std::move(call));
        if (calls_.size() < calls_.front().batch.size) {
            return {};
        }
        return std::exchange(calls_, {});
    }

private:
    std::vector<call_message> calls_;
};

} // namespace skep
