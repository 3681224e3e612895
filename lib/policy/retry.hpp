// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

namespace skep {

/// Whether a call whose worker was lost goes to another one. A call that the worker never received always
/// does; one that it may have begun only if running it twice does no harm.
constexpr bool may_resend(bool sent, bool idempotent, int attempts, int max_attempts) noexcept {
    return !sent || (idempotent && attempts < max_attempts);
}

} // namespace skep
