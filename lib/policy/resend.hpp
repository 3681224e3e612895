// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

namespace skep {

/// Whether a call whose worker was lost goes to another one. A call that the worker never received always
/// does; one that it may have begun only if running it twice does no harm.
constexpr bool may_resend(bool may_have_begun, bool idempotent, int attempts, int max_attempts) noexcept {
    return !may_have_begun || (idempotent && attempts < max_attempts);
}

} // namespace skep
