// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/affinity.hpp>
#include <skep/call_interface.hpp>
#include <skep/export.hpp>
#include <skep/initiate.hpp>
#include <skep/reply_stream.hpp>
#include <skep/request.hpp>
#include <skep/time.hpp>
#include <skep/worker_id.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace skep {

/// Options of a checkout: see pool::checkout. Every setter works on a named object and in a chain.
class SKEP_API checkout_options {
public:
    /// Leases one place of a worker that runs several calls at a time, instead of the whole worker. Other
    /// callers use the other places.
    checkout_options& one_place() & {
        wants_one_place_ = true;
        return *this;
    }
    checkout_options&& one_place() && { return std::move(one_place()); }

    /// Leases the worker that serves session `id`: see request::session. If no worker serves the session, the
    /// session is bound to the leased worker. The session is in use as long as the lease is held. Excludes
    /// worker().
    checkout_options& session(std::string id) & {
        session_ = std::move(id);
        return *this;
    }
    checkout_options&& session(std::string id) && { return std::move(session(std::move(id))); }

    /// Leases worker `id`, for example session::last_worker_id(). Excludes session().
    checkout_options& worker(worker_id id) & {
        worker_ = std::move(id);
        return *this;
    }
    checkout_options&& worker(worker_id id) && { return std::move(worker(std::move(id))); }

    /// Sets how strictly session() and worker() choose the worker. `hint` prefers the worker, but leases any
    /// other worker if the preferred worker has no room or has left service. `strict_queue` waits for the
    /// worker. `strict_fail_fast` fails unless the worker has room at once. Default:
    /// pool_config::affinity.mode for session(), `hint` for worker().
    checkout_options& affinity(affinity_mode mode) & {
        affinity_ = mode;
        return *this;
    }
    checkout_options&& affinity(affinity_mode mode) && { return std::move(affinity(mode)); }

    /// Limits the wait for a worker, 0..365 days; 0 = until the pool shuts down. Default:
    /// pool_config::queue.timeout.
    checkout_options& queue_timeout(duration limit) &;
    checkout_options&& queue_timeout(duration limit) && { return std::move(queue_timeout(limit)); }

    /// Overrides pool_config::lease.leak_threshold for this lease, 0..365 days; 0 = no warning.
    checkout_options& leak_threshold(duration limit) &;
    checkout_options&& leak_threshold(duration limit) && { return std::move(leak_threshold(limit)); }

    /// Sets the reset call. The worker runs the reset call after the last call of the lease and before the
    /// next caller's calls, to clear the state that the lease left in the worker. The worker is replaced if
    /// the reset call fails.
    checkout_options& reset(request call) & {
        reset_ = std::move(call);
        return *this;
    }
    checkout_options&& reset(request call) && { return std::move(reset(std::move(call))); }

    /// Returns true if one_place() was called.
    bool wants_one_place() const noexcept { return wants_one_place_; }
    const std::string& session() const noexcept { return session_; } ///< empty unless set
    const std::optional<worker_id>& worker() const noexcept { return worker_; }
    const std::optional<affinity_mode>& affinity() const noexcept { return affinity_; }
    const std::optional<duration>& queue_timeout() const noexcept { return queue_timeout_; }
    const std::optional<duration>& leak_threshold() const noexcept { return leak_threshold_; }
    const std::optional<request>& reset() const noexcept { return reset_; }

private:
    bool wants_one_place_ = false;
    std::string session_;
    std::optional<worker_id> worker_;
    std::optional<affinity_mode> affinity_;
    std::optional<duration> queue_timeout_;
    std::optional<duration> leak_threshold_;
    std::optional<request> reset_;
};

class lease_handle;

/// Exclusive use of one worker, or of one place of a worker, for a sequence of calls: see pool::checkout.
/// Move-only. The destructor gives the worker back. This never fails, in any phase of the pool and after the
/// destruction of the pool.
/// Thread safety: calls may be started from several threads at once. Moving, closing and destroying the lease
/// must not race with them.
class SKEP_API lease final : public call_interface {
public:
    /// Constructs an empty lease: every call fails with invalid_request.
    lease() noexcept;
    lease(lease&&) noexcept;
    lease& operator=(lease&&) noexcept;
    ~lease() override;

    /// Returns the executor of the pool, or the system executor if the lease is empty or the pool is
    /// destroyed.
    boost::asio::any_io_executor get_executor() const noexcept override;

    /// Runs a call in the leased worker. A lease runs as many calls at a time as it has places. Further calls
    /// wait for a place, each within its own queue timeout. All calls wait while the worker is suspended or
    /// unhealthy.
    /// Errors: as for pool::execute(), and:
    /// - worker_lost: the leased worker ended before or during the call. No call is sent to another worker.
    /// - invalid_request: the lease was given back before the call.
    /// - cancelled: the lease was given back during the call.
    /// - session_worker_unavailable: the call's affinity is `strict_queue`, and another worker serves the
    ///   call's session. The session stays with that worker.
    /// - worker_busy: the call's affinity is `strict_fail_fast`, and another worker serves the call's
    ///   session, or the leased worker serves the session and the lease has no free place.
    ///
    /// Cancellation: as for pool::execute().
    using call_interface::execute;
    call_operation prepare(request call) override;

    /// Begins a call whose answer comes in chunks: see pool::stream. Otherwise like execute().
    using call_interface::stream;
    stream_operation prepare_stream(request call) override;

    /// Returns the worker of the lease.
    /// Throws std::logic_error if the lease is empty.
    const worker_id& worker() const;

    /// Gives the worker back: cancels the open calls of the lease, runs the reset call if there is one, and
    /// completes when the worker is available to other callers. Succeeds even if the worker fails. The lease
    /// is empty as soon as close() is called.
    /// Errors: cancelled.
    /// Cancellation (all types): the wait ends with cancelled; the worker is given back all the same.
    boost::asio::awaitable<void> close();
    template <class CompletionToken>
    auto close(CompletionToken&& token) {
        const auto executor = get_executor();
        const auto start = [](completion<void>&& caller, lease&& old_lease) {
            give_back(std::move(old_lease), std::move(caller));
        };
        return detail::initiate<void>(
            std::forward<CompletionToken>(token), [&] { return executor; }, start, std::move(*this));
    }

    /// Returns true if the lease holds a worker: it was checked out, and neither closed nor moved from. The
    /// worker itself may have ended.
    explicit operator bool() const noexcept { return handle_ != nullptr; }

private:
    friend class lease_handle;

    explicit lease(std::shared_ptr<lease_handle> handle) noexcept;

    static void give_back(lease&& old_lease, completion<void>&& caller);

    std::shared_ptr<lease_handle> handle_;
};

} // namespace skep
