// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "pool/demand/guarded_scheduler.hpp"

#include "core/text.hpp"
#include <skep/error.hpp>

namespace skep {

namespace {

[[noreturn]] void refuse_scheduler(const std::string& problem) {
    error_info info;
    info.detail = "custom_scheduler " + problem;
    throw error(errc::invalid_config, std::move(info));
}

std::unique_ptr<scheduler> made_by(const scheduler_factory& make) {
    std::unique_ptr<scheduler> made;
    std::string problem = "returned no scheduler";
    try {
        made = make();
    } catch (...) {
        problem = "threw: " + text_of(std::current_exception());
    }
    if (!made) {
        refuse_scheduler(problem);
    }
    return made;
}

} // namespace

guarded_scheduler::guarded_scheduler(const scheduler_factory& make, const pool_log& log)
    : log_(log), theirs_(made_by(make)) {}

void guarded_scheduler::offer(std::uint32_t slot, std::size_t load) {
    on_offer_.set(slot);
    attempt([&] { theirs_->offer(slot, load); });
}

void guarded_scheduler::withdraw(std::uint32_t slot) {
    on_offer_.clear(slot);
    attempt([&] { theirs_->withdraw(slot); });
}

std::optional<std::uint32_t> guarded_scheduler::pick(const claim_view& claim) {
    const auto first = on_offer_.first_from(0);
    if (!first) {
        return std::nullopt;
    }
    std::optional<std::uint32_t> picked;
    attempt([&] { picked = theirs_->pick(claim); });
    if (picked && on_offer_.first_from(*picked) == picked) {
        return picked;
    }
    warn(picked
             ? "the custom scheduler picked a slot that is not on offer; the pool takes the first that is"
             : "the custom scheduler picked none though workers can take a call; the pool takes the first");
    return first;
}

template <class Function>
void guarded_scheduler::attempt(Function&& function) noexcept {
    try {
        function();
    } catch (...) {
        warn("the custom scheduler threw; the pool takes the first worker that can",
             std::current_exception());
    }
}

void guarded_scheduler::warn(const char* what, const std::exception_ptr& problem) noexcept {
    if (warned_) {
        return;
    }
    warned_ = true;
    log_(log_level::warning, what);
    if (problem) {
        log_(log_level::warning, "it threw", problem);
    }
}

} // namespace skep
