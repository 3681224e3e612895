// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <algorithm>

namespace skep {

/// The cause of a drain: the party that has asked a node for it, the weakest first.
enum class drain_cause { none, administrator, program, end };

/// Decides whether a node drains. The strongest cause holds until it is taken back.
class drain_state {
public:
    bool is_draining() const noexcept { return cause_ != drain_cause::none; }

    /// Begins a drain, or strengthens its cause. Returns true if the node did not drain before.
    bool begin(drain_cause cause) noexcept {
        const bool is_new = !is_draining();
        cause_ = std::max(cause_, cause);
        return is_new;
    }

    /// Ends the drain. Returns false, without effect, if the cause of the drain is stronger than `cause`.
    bool end(drain_cause cause) noexcept {
        if (cause_ > cause) {
            return false;
        }
        cause_ = drain_cause::none;
        return true;
    }

private:
    drain_cause cause_ = drain_cause::none;
};

} // namespace skep
