// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "pool/demand/dispatcher.hpp"
#include "telemetry/log.hpp"

#include <cstddef>
#include <string>

namespace skep {

/// The leases of a pool, from checkout to return. A lease waits in the queue like a call. Its places at the
/// granted worker take no calls of others. A lease of a whole worker is handed over once the worker has ended
/// its earlier calls. On the pool's strand.
class lease_manager final : private claim_holder {
public:
    lease_manager(const worker_surroundings& surroundings, dispatcher& calls, const pool_log& log);

    /// The pool takes over the checkout. To be called first.
    void receive(lease_claim& new_lease) noexcept;

    /// Admits a checkout, or fails it with `refusal`.
    void check_out(lease_claim& new_lease, const std::optional<route_refusal>& refusal);

    /// The caller of checkout() no longer waits.
    void cancel(lease_claim& cancelled_lease);

    /// The holder returns the lease: cancels its calls, and resets its worker.
    void close(lease_claim& lease);
    void cancel_close(lease_claim& lease);

    /// The reset command of the lease has failed.
    void on_reset_failed(lease_claim& lease, const std::string& reason);

    /// Fails every waiting checkout. Claims behind the checkouts are not served.
    void refuse_checkouts(errc code, const error_info& info = {});

    std::size_t size() const noexcept { return room_.leases().size(); }

private:
    void on_granted(claim& granted_claim, worker* place, time_point now) override;
    void on_due(claim& due_claim, const supply_outlook& supply) override;
    void on_changed(claim& changed_claim, bool has_left) override;
    void on_breakdown(claim& broken_claim, const error& cause) noexcept override;

    void find_place(lease_claim& new_lease);
    void assign_place(lease_claim& claimant, worker* place);
    void go_anywhere(lease_claim& claimant, worker* place);
    void wait(lease_claim& claimant);
    void refuse(lease_claim& refused_lease, const route& chosen_route);
    void reserve(lease_claim& granted_lease, worker& place);
    void check(lease_claim& lease);
    void deliver(lease_claim& granted_lease);
    void begin_calls(lease_claim& lease);
    void end_calls(lease_claim& lease);
    void end_return(lease_claim& lease);
    void release(lease_claim& lease);
    void lose(lease_claim& lease);
    void end_wait(lease_claim& waiting_lease, errc code, error_info info);
    void leave(lease_claim& waiting_lease, errc code, error_info info);
    void fail_waiting(lease_claim& waiting_lease, const supply_outlook& supply);
    void warn_of_leak(const lease_claim& held_lease) const;
    void end(lease_claim& ended_lease);

    const pool_config& config_;
    const pool_context& context_;
    dispatcher& calls_;
    waiting_room& room_;
    session_router& sessions_;
    const pool_log& log_;
};

} // namespace skep
