// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "pool/demand/lease_claim.hpp"
#include "pool/operation.hpp"
#include <skep/lease.hpp>

#include <memory>

namespace skep {

/// What is behind a lease that somebody holds: gives it back at the latest as it is destroyed.
class lease_handle {
public:
    /// A lease of a worker that is still to be had.
    static lease make(const core_ptr& core, const lease_ptr& claim) {
        return lease(std::make_shared<lease_handle>(core, claim));
    }

    lease_handle(const core_ptr& pool, lease_ptr checked_out) noexcept
        : pool_(pool), lease_(std::move(checked_out)) {}
    ~lease_handle() { give_back(); }
    lease_handle(const lease_handle&) = delete;
    lease_handle& operator=(const lease_handle&) = delete;

    /// Null if it is gone.
    core_ptr pool() const noexcept { return pool_.lock(); }
    const lease_ptr& claim() const noexcept { return lease_; }

    /// Does nothing if it was given back already, or was never had.
    void give_back() noexcept;

    /// The same for a caller that waits.
    void give_back(completion<void>&& caller);

private:
    std::weak_ptr<pool_core> pool_;
    lease_ptr lease_;
    bool is_back_ = false;
};

} // namespace skep
