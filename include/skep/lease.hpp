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

/// What is to be checked out, and how long to wait for it. Every setter works on a named object and in a chain.
class SKEP_API checkout_options {
public:
    /// One place of a worker that runs several calls at a time, instead of the whole worker: others use the rest.
    checkout_options& one_place() & {
        wants_one_place_ = true;
        return *this;
    }
    checkout_options&& one_place() && { return std::move(one_place()); }

    /// The worker of that session: see request::session. A session that no worker serves is bound to the worker of the
    /// lease. The session is in use as long as the lease is held. Excludes worker().
    checkout_options& session(std::string id) & {
        session_ = std::move(id);
        return *this;
    }
    checkout_options&& session(std::string id) && { return std::move(session(std::move(id))); }

    /// That worker, such as session::last_worker_id(). Excludes session().
    checkout_options& worker(worker_id id) & {
        worker_ = std::move(id);
        return *this;
    }
    checkout_options&& worker(worker_id id) && { return std::move(worker(std::move(id))); }

    /// Sets how session() and worker() choose: `hint` prefers the worker, and takes any other while the worker has no room or
    /// if it is gone; `strict_queue` insists, and waits for the worker; `strict_fail_fast` insists on having it at once.
    /// Default: pool_config::affinity.mode for session(), hint for worker().
    checkout_options& affinity(affinity_mode mode) & {
        affinity_ = mode;
        return *this;
    }
    checkout_options&& affinity(affinity_mode mode) && { return std::move(affinity(mode)); }

    /// The longest wait, 0..365 days; 0 = until the pool shuts down. Default: pool_config::queue.timeout.
    checkout_options& queue_timeout(duration limit) &;
    checkout_options&& queue_timeout(duration limit) && { return std::move(queue_timeout(limit)); }

    /// pool_config::lease.leak_threshold of this lease, 0..365 days.
    checkout_options& leak_threshold(duration limit) &;
    checkout_options&& leak_threshold(duration limit) && { return std::move(leak_threshold(limit)); }

    /// A call that the worker runs after the last one of the lease and before anyone else's, so that nothing of what the
    /// lease has left there is seen by others. A worker in which it fails is replaced.
    checkout_options& reset(request call) & {
        reset_ = std::move(call);
        return *this;
    }
    checkout_options&& reset(request call) && { return std::move(reset(std::move(call))); }

    /// Whether one_place() was called.
    bool wants_one_place() const noexcept { return wants_one_place_; }
    const std::string& session() const noexcept { return session_; } ///< empty without one
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

/// The exclusive use of one worker, or of one place of it, for a sequence of calls: see pool::checkout. Gives it back when
/// it is destroyed, which never fails, in whatever phase the pool is, and if the pool is gone. Moved and destroyed by one
/// thread at a time; its calls may come from any.
class SKEP_API lease final : public call_interface {
public:
    /// Constructs an empty lease: every call fails with invalid_request.
    lease() noexcept;
    lease(lease&&) noexcept;
    lease& operator=(lease&&) noexcept;
    ~lease() override;

    /// The executor of the pool; the system executor if the lease is empty or its pool is gone.
    boost::asio::any_io_executor get_executor() const noexcept override;

    /// Runs a call in the leased worker. As many run at a time as the lease has places; more wait for each other, within
    /// their own queue timeouts, as they do while the worker is suspended or unhealthy.
    /// Errors: those of pool::execute(), but that no call is sent to another worker: if the leased one ends, this call and
    /// each later one end with worker_lost. invalid_request if the lease was given back before; cancelled if it is
    /// meanwhile. Of a call of a strict session that another worker serves: session_worker_unavailable, or worker_busy
    /// with affinity_mode::strict_fail_fast; the lease does not take the session along. A call that is to fail fast and finds
    /// no place of its lease free is worker_busy, too, if the leased worker serves its session.
    /// Cancellation: as of pool::execute().
    using call_interface::execute;
    call_operation prepare(request call) override;

    /// The same for a call whose answer comes in chunks: see pool::stream.
    using call_interface::stream;
    stream_operation prepare_stream(request call) override;

    /// Returns the worker of the lease.
    /// Throws std::logic_error if the lease is empty.
    const worker_id& worker() const;

    /// Gives the worker back, and completes when others can have it: its open calls are cancelled, and the reset command, if
    /// there is one, is run. The lease is empty from the call on. Never fails for the worker's sake.
    /// Errors: cancelled.
    /// Cancellation (all types): the wait ends with cancelled; the return goes on.
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

    /// Returns true if the lease holds a worker: it was checked out, and neither closed nor moved from. (Its worker may be
    /// gone.)
    explicit operator bool() const noexcept { return handle_ != nullptr; }

private:
    friend class lease_handle;

    explicit lease(std::shared_ptr<lease_handle> handle) noexcept;

    static void give_back(lease&& old_lease, completion<void>&& caller);

    std::shared_ptr<lease_handle> handle_;
};

} // namespace skep
