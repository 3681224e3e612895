// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/errc.hpp>
#include <skep/pool_status.hpp>

#include <cstddef>
#include <optional>

namespace skep {

/// The facts that decide if a pool accepts a call.
struct admission_facts {
    pool_phase phase = pool_phase::running;
    errc failure = errc::out_of_memory; ///< the failure of a failed pool
    bool has_start_failed = false;      ///< too few workers came up, and no other start has begun
    bool is_unavailable = false;        ///< too many workers failed recently and no worker is left
    bool is_expired = false;            ///< the deadline lies in the past
    bool is_poisonous = false;
    bool is_part_of_another = false; ///< part of a running call, and drained with that call
};

/// Returns the reason to refuse the call, or nullopt if the pool accepts the call. An accepted call may still
/// find the queue full.
constexpr std::optional<errc> refusal_of(const admission_facts& facts) noexcept {
    switch (facts.phase) {
    case pool_phase::created: return facts.has_start_failed ? errc::start_failed : errc::not_started;
    case pool_phase::stopping:
        if (!facts.is_part_of_another) {
            return errc::shutting_down;
        }
        break;
    case pool_phase::stopped: return errc::shutting_down;
    case pool_phase::failed: return facts.failure;
    case pool_phase::starting:
        if (facts.has_start_failed) {
            return errc::start_failed;
        }
        break;
    case pool_phase::running:
        if (facts.is_unavailable) {
            return errc::unavailable;
        }
        break;
    }
    if (facts.is_expired) {
        return errc::timeout;
    }
    if (facts.is_poisonous) {
        return errc::poisonous_request;
    }
    return std::nullopt;
}

/// The next step of an accepted call.
enum class admission { dispatch, queue, saturated };

constexpr admission admit(bool has_place, std::size_t queue_length, std::size_t queue_limit) noexcept {
    return has_place                    ? admission::dispatch
           : queue_length < queue_limit ? admission::queue
                                        : admission::saturated;
}

} // namespace skep
