// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "pool/demand/dispatcher.hpp"
#include "telemetry/log.hpp"

#include <cstddef>
#include <string>

namespace skep {

/// The leases of a pool, from checkout to return. A lease waits in the queue like a call; a worker that it is granted
/// takes no calls of others, and is handed over once it is done with those it has. On the pool's strand.
class lease_manager final : private claim_holder {
public:
    lease_manager(const worker_surroundings& surroundings, dispatcher& calls, const pool_log& log);

    /// The checkout is the pool's from now on. To be called first.
    void receive(lease_claim& new_lease) noexcept;

    /// Takes a checkout on, unless `refusal` says why not.
    void check_out(lease_claim& new_lease, const std::optional<route_refusal>& refusal);

    /// Whoever was to have it waits no more.
    void cancel(lease_claim& cancelled_lease);

    /// Its holder does not want it any more: its calls are cancelled, and its worker is reset.
    void close(lease_claim& lease);
    void cancel_close(lease_claim& lease);

    /// The reset command of the lease has failed.
    void on_reset_failed(lease_claim& lease, const std::string& reason);

    /// Ends the wait of every checkout. Those that have waited behind them are not served.
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
