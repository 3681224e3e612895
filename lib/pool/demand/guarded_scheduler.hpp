// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "pool/demand/slot_bitmap.hpp"
#include "telemetry/log.hpp"
#include <skep/scheduler.hpp>

#include <exception>
#include <memory>

namespace skep {

/// A user's scheduler, whatever it does: where it throws, picks a slot that is not on offer, or none though some are, the
/// first on offer is taken, and the log says so once.
class guarded_scheduler final : public scheduler {
public:
    /// Throws error(invalid_config) if the factory does, or makes none.
    guarded_scheduler(const scheduler_factory& make, const pool_log& log);

    void offer(std::uint32_t slot, std::size_t load) override;
    void withdraw(std::uint32_t slot) override;
    std::optional<std::uint32_t> pick(const claim_view& claim) override;

private:
    template <class Function>
    void attempt(Function&& function) noexcept;
    void warn(const char* what, const std::exception_ptr& problem = {}) noexcept;

    const pool_log& log_;
    std::unique_ptr<scheduler> theirs_;
    slot_bitmap on_offer_;
    bool warned_ = false;
};

} // namespace skep
