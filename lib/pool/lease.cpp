// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/range_check.hpp"
#include "core/with_detail.hpp"
#include "pool/call_operations.hpp"
#include "pool/lease_handle.hpp"
#include "session/session_rules.hpp"
#include <skep/lease.hpp>

#include <new>
#include <stdexcept>

namespace skep {

using namespace std::chrono_literals;

namespace {

/// Tells a lease how its reset command ends.
class reset_call final : public call, private call_sink {
public:
    explicit reset_call(request&& new_request) : call(std::move(new_request), static_cast<call_sink*>(this)) {
        ties = std::make_unique<call_ties>();
    }

    void belong_to(const core_ptr& pool) { pool_ = pool; }

private:
    void put_answer(reply&&) override {}
    void put_failure(claim_failure&& failure) override {
        const auto core = pool_.lock();
        if (core && lease_of(*this)->assigned_worker != nullptr) {
            core->parts().leases.on_reset_failed(*lease_of(*this), failure.to_error().what());
        }
    }

    void forget() noexcept override {}

    std::weak_ptr<pool_core> pool_;
};

void check(const checkout_options& options) {
    if (!options.session().empty()) {
        check_session_id(options.session());
    }
    if (!options.session().empty() && options.worker()) {
        throw error(errc::invalid_config,
                    with_detail("checkout_options: session and worker exclude each other"));
    }
    check_ranges([&](const range_check& range) {
        range.time("queue_timeout", options.queue_timeout().value_or(0s), 0s, 365 * 24h);
        range.time("leak_threshold", options.leak_threshold().value_or(0s), 0s, 365 * 24h);
    });
}

call_ptr make_reset(const core_ptr& core, const checkout_options& options) {
    if (!options.reset()) {
        return {};
    }
    const boost::intrusive_ptr<reset_call> made(new reset_call(request(*options.reset())));
    core->begin_trace(*made);
    made->encode(core->config().limits);
    made->belong_to(core);
    return made;
}

template <class Result>
asio::awaitable<Result> fail_at_once(errc code, std::string detail) {
    throw error(code, with_detail(std::move(detail)));
    co_return Result();
}

template <class Result>
asio::awaitable<Result> without_lease() {
    return fail_at_once<Result>(errc::invalid_request,
                                "this skep::lease is of nothing: it was closed or moved from");
}

template <class Result>
asio::awaitable<Result> without_pool() {
    return fail_at_once<Result>(errc::shutting_down, "the pool of this lease is gone");
}

template <class Call>
boost::intrusive_ptr<Call> with_lease(boost::intrusive_ptr<Call> new_call, const lease_ptr& lease) {
    new_call->ties = std::make_unique<call_ties>();
    new_call->ties->lease = lease;
    return new_call;
}

} // namespace

asio::awaitable<lease> lease_handle::check_out(core_ptr core, checkout_options options,
                                               std::source_location location) {
    check(options);
    core->refuse_if_forked();
    const lease_ptr mine(new lease_claim(std::move(options), location));
    mine->reset = make_reset(core, mine->options);
    auto held = std::make_unique<lease_handle>(core, mine);
    auto start = [core, mine](suspended_caller&& caller) {
        enter_strand(
            core, std::move(caller),
            [mine](pool_core& target, asio::cancellation_type) { target.parts().leases.cancel(*mine); },
            [mine](pool_core& target, suspended_caller&& caller) {
                mine->caller = std::move(caller);
                target.check_out(*mine);
            });
    };
    auto suspension = suspend(std::move(start));
    co_await std::move(suspension);
    held->check_granted();
    co_return lease(std::move(held));
}

void lease_handle::check_granted() {
    if (lease_->failure) {
        is_back_ = true;
        throw lease_->failure.to_error();
    }
}

lease_handle::~lease_handle() {
    const auto core = is_back_ || lease_->is_forgotten ? nullptr : pool_.lock();
    if (!core) {
        return;
    }
    lease_->is_dropped = true;
    try {
        asio::post(core->executor(),
                   [core, mine = lease_] { core->guard([&] { core->parts().leases.close(*mine); }); });
    } catch (const std::bad_alloc&) { // it is seen to when its worker is looked at next
    }
}

asio::awaitable<reply> lease_handle::execute(request call) const {
    auto core = pool_.lock();
    return core ? run_call(std::move(core), with_lease(unary_ptr(new unary_call(std::move(call))), lease_))
                : without_pool<reply>();
}

asio::awaitable<reply_stream> lease_handle::stream(request call) const {
    auto core = pool_.lock();
    if (!core) {
        return without_pool<reply_stream>();
    }
    auto made = with_lease(make_stream(*core, std::move(call)), lease_);
    return run_stream(std::move(core), std::move(made));
}

asio::awaitable<void> lease_handle::close(std::unique_ptr<lease_handle> handle) {
    const auto core = handle ? handle->pool_.lock() : nullptr;
    if (!core) {
        co_return;
    }
    const auto closed = handle->lease_;
    auto start = [core, closed](suspended_caller&& caller) {
        enter_strand(
            core, std::move(caller),
            [closed](pool_core& target, asio::cancellation_type) {
                target.parts().leases.cancel_close(*closed);
            },
            [closed](pool_core& target, suspended_caller&& caller) {
                closed->closer = std::move(caller);
                target.parts().leases.close(*closed);
            });
    };
    auto suspension = suspend(std::move(start));
    handle->is_back_ = true;
    co_await std::move(suspension);
    if (closed->was_close_cancelled) {
        error_info info;
        info.worker = closed->assigned_id;
        throw error(errc::cancelled, std::move(info));
    }
}

lease::lease() noexcept = default;
lease::lease(std::unique_ptr<lease_handle> handle) noexcept : handle_(std::move(handle)) {}
lease::lease(lease&&) noexcept = default;
lease& lease::operator=(lease&&) noexcept = default;
lease::~lease() = default;

asio::awaitable<reply> lease::execute(request call) {
    return handle_ ? handle_->execute(std::move(call)) : without_lease<reply>();
}

asio::awaitable<reply_stream> lease::stream(request call) {
    return handle_ ? handle_->stream(std::move(call)) : without_lease<reply_stream>();
}

const worker_id& lease::worker() const {
    if (!handle_) {
        throw std::logic_error("an empty skep::lease has no worker");
    }
    return handle_->worker();
}

asio::awaitable<void> lease::close() {
    return lease_handle::close(std::move(handle_));
}

checkout_options& checkout_options::queue_timeout(duration limit) & {
    queue_timeout_ = limit;
    return *this;
}

checkout_options& checkout_options::leak_threshold(duration limit) & {
    leak_threshold_ = limit;
    return *this;
}

} // namespace skep
