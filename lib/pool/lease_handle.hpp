// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "pool/demand/lease_claim.hpp"
#include "pool/operation.hpp"
#include <skep/lease.hpp>

#include <memory>

namespace skep {

/// The handle behind a user's lease. Gives the lease back on destruction at the latest.
class lease_handle {
public:
    /// Makes a lease that has no worker yet.
    static lease make(const core_ptr& core, const lease_ptr& claim) {
        return lease(std::make_shared<lease_handle>(core, claim));
    }

    lease_handle(const core_ptr& pool, lease_ptr checked_out) noexcept
        : pool_(pool), lease_(std::move(checked_out)) {}
    ~lease_handle() { give_back(); }
    lease_handle(const lease_handle&) = delete;
    lease_handle& operator=(const lease_handle&) = delete;

    /// Returns null after the pool's end.
    core_ptr pool() const noexcept { return pool_.lock(); }
    const lease_ptr& claim() const noexcept { return lease_; }

    /// Does nothing if the lease was given back before or never granted.
    void give_back() noexcept;

    /// The same, for a waiting caller.
    void give_back(completion<void>&& caller);

private:
    std::weak_ptr<pool_core> pool_;
    lease_ptr lease_;
    bool is_back_ = false;
};

} // namespace skep
