// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/errc.hpp>
#include <skep/pool_status.hpp>

#include <cstddef>
#include <optional>

namespace skep {

/// What decides whether a pool takes a call on.
struct admission_facts {
    pool_phase phase = pool_phase::running;
    errc failure = errc::out_of_memory; ///< of a pool that has failed
    bool has_start_failed = false;      ///< too few workers came up, and no other start has begun
    bool is_unavailable = false;        ///< too many workers failed of late and none is left
    bool is_expired = false;            ///< its deadline lies in the past
    bool is_poisonous = false;
    bool is_part_of_another = false; ///< of a call that a worker has: it is drained with that one
};

/// Why the call is refused; nothing if it is taken on. It may still find the queue full.
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

/// What becomes of a call that is taken on.
enum class admission { dispatch, queue, saturated };

constexpr admission admit(bool has_place, std::size_t queue_length, std::size_t queue_limit) noexcept {
    return has_place                    ? admission::dispatch
           : queue_length < queue_limit ? admission::queue
                                        : admission::saturated;
}

} // namespace skep
