// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/range_check.hpp"
#include "core/request_check.hpp"
#include "core/with_detail.hpp"
#include "pool/call_operations.hpp"
#include "pool/lease_handle.hpp"
#include "session/session_rules.hpp"
#include <skep/lease.hpp>
#include <skep/pool_operations.hpp>

#include <boost/asio/system_executor.hpp>

#include <exception>
#include <new>
#include <stdexcept>

namespace skep {

using namespace std::chrono_literals;

namespace {

/// The reset command of a lease. Reports its failure to the lease.
class reset_call final : public call, private call_sink {
public:
    explicit reset_call(request&& new_request) : call(std::move(new_request), static_cast<call_sink*>(this)) {
        ties = std::make_unique<call_ties>();
    }

    void belong_to(const core_ptr& pool) { pool_ = pool; }

private:
    void put_answer(reply&&) override {}
    void put_failure(lazy_error&& failure) override {
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
    refuse_options_without_effect(*options.reset(), core->config().name, call_kind::plain);
    const boost::intrusive_ptr<reset_call> made(new reset_call(request(*options.reset())));
    core->begin_trace(*made);
    made->encode(core->config().limits);
    made->belong_to(core);
    return made;
}

error error_of_empty() {
    return {errc::invalid_request, with_detail("this skep::lease is empty: it was closed or moved from")};
}

error error_of_orphan() {
    return {errc::shutting_down, with_detail("the pool of this lease is gone")};
}

} // namespace

void detail::operations::check_out(const core_ptr& core, completion<lease>&& caller,
                                   checkout_options&& options, const std::source_location& location) {
    lease_ptr mine;
    lease held;
    const auto make = [&] {
        check(options);
        mine.reset(new lease_claim(std::move(options), location));
        mine->reset = make_reset(core, mine->options);
        held = lease_handle::make(core, mine);
    };
    if (is_refused(caller, *core, make)) {
        return;
    }
    enter_strand(
        core, std::move(caller),
        [mine](pool_core& target, asio::cancellation_type) { target.parts().leases.cancel(*mine); },
        [mine, held = std::move(held)](pool_core& target, completion<lease>&& caller) mutable {
            mine->caller = std::move(caller);
            mine->held = std::move(held);
            target.check_out(*mine);
        });
}

void lease_handle::give_back() noexcept {
    const bool is_none = is_back_ || lease_->failure || lease_->is_forgotten;
    const auto core = is_none ? nullptr : pool_.lock();
    is_back_ = true;
    if (!core) {
        return;
    }
    lease_->is_dropped = true;
    try {
        post_to_strand(core, [&leases = core->parts().leases, mine = lease_] { leases.close(*mine); });
    } catch (const std::bad_alloc&) { // the lease is closed when its worker is checked next
    }
}

void lease_handle::give_back(completion<void>&& caller) {
    const auto core = pool_.lock();
    if (!core) {
        caller.complete();
        return;
    }
    is_back_ = true;
    enter_strand(
        core, std::move(caller),
        [mine = lease_](pool_core& target, asio::cancellation_type) {
            target.parts().leases.cancel_close(*mine);
        },
        [mine = lease_](pool_core& target, completion<void>&& caller) {
            mine->attach_closer(std::move(caller));
            target.parts().leases.close(*mine);
        });
}

lease::lease() noexcept = default;
lease::lease(std::shared_ptr<lease_handle> handle) noexcept : handle_(std::move(handle)) {}
lease::lease(lease&&) noexcept = default;
lease& lease::operator=(lease&& other) noexcept {
    const lease given_back(std::move(*this));
    handle_ = std::move(other.handle_);
    return *this;
}
lease::~lease() {
    if (handle_) {
        handle_->give_back();
    }
}

asio::any_io_executor lease::get_executor() const noexcept {
    const auto core = handle_ ? handle_->pool() : nullptr;
    return core ? detail::operations::executor_of(core) : asio::any_io_executor(asio::system_executor());
}

call_operation lease::prepare(request call) {
    if (auto core = handle_ ? handle_->pool() : nullptr) {
        return make_call(std::move(core), std::move(call), handle_->claim());
    }
    return call_operation::failing(std::make_exception_ptr(handle_ ? error_of_orphan() : error_of_empty()));
}

stream_operation lease::prepare_stream(request call) {
    if (auto core = handle_ ? handle_->pool() : nullptr) {
        return make_stream_call(std::move(core), std::move(call), handle_->claim());
    }
    return stream_operation::failing(std::make_exception_ptr(handle_ ? error_of_orphan() : error_of_empty()));
}

asio::awaitable<void> lease::close() {
    return close(default_token());
}

void lease::give_back(lease&& old_lease, completion<void>&& caller) {
    if (const auto handle = std::move(old_lease.handle_)) {
        handle->give_back(std::move(caller));
    } else {
        caller.complete();
    }
}

const worker_id& lease::worker() const {
    if (!handle_) {
        throw std::logic_error("an empty skep::lease has no worker");
    }
    return handle_->claim()->assigned_id;
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
