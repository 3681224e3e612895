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
    static asio::awaitable<lease> check_out(core_ptr core, checkout_options options,
                                            std::source_location location);

    lease_handle(const core_ptr& pool, lease_ptr checked_out) noexcept
        : pool_(pool), lease_(std::move(checked_out)) {}
    ~lease_handle();
    lease_handle(const lease_handle&) = delete;
    lease_handle& operator=(const lease_handle&) = delete;

    asio::awaitable<reply> execute(request call) const;
    asio::awaitable<reply_stream> stream(request call) const;
    const worker_id& worker() const noexcept { return lease_->assigned_id; }

    static asio::awaitable<void> close(std::unique_ptr<lease_handle> handle);

private:
    void check_granted();

    std::weak_ptr<pool_core> pool_;
    lease_ptr lease_;
    bool is_back_ = false; ///< or was never had
};

} // namespace skep
