// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/export.hpp>
#include <skep/initiate_coroutine.hpp>
#include <skep/session.hpp>
#include <skep/session_backend.hpp>
#include <skep/time.hpp>
#include <skep/worker_id.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/json/value.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace skep {

class event_bus;
class session_observer;
class session_service;

/// Limits for the number of sessions and for their lifetime.
struct session_options {
    duration ttl = std::chrono::hours(1); ///< default lifetime after the last access, 1 ms..365 days
    duration cleanup_interval = std::chrono::seconds(60); ///< interval of cleanup_expired(), 10 ms..24 h
    std::size_t quota = 10'000;                           ///< unexpired sessions at a time, 1..10,000,000

    /// Called with the number of sessions when it reaches 80 % of the quota. Called again only after the
    /// number was below 70 % in between. Runs within create(), on the thread of the caller that created the
    /// session. Must not block; exceptions are dropped.
    std::function<void(std::size_t count, std::size_t quota)> on_quota_warning;

    /// Bus for the events of this store: session_created, session_removed and session_quota_warning; also
    /// session_expired, but only for sessions kept in this process.
    /// Null: the bus of the pool_manager; without a manager, the events are dropped.
    std::shared_ptr<event_bus> events;
};

/// Statistics of a session_store. Totals count since its construction.
struct session_store_stats {
    std::size_t current = 0;        ///< sessions held, including expired sessions that are not yet swept
    std::uint64_t created = 0;      ///< sessions that this store created
    std::uint64_t deleted = 0;      ///< sessions removed by remove() of this store
    std::uint64_t expired = 0;      ///< sessions expired, as far as the backend knows
    std::uint64_t cleanup_runs = 0; ///< completed runs of cleanup_expired()
    std::size_t memory_bytes = 0;   ///< approximate memory of the sessions in this process
};

/// Stores sessions: data that outlives a call, about a user, a conversation or a job, under an id that the
/// caller chooses. A session expires when it has not been accessed for its ttl. From that moment on, no
/// operation finds the session.
///
///     skep::session_store store;
///     co_await store.create("user-42");
///     auto count_visit = [](skep::session_data& data) { data.metadata("visits", 1); };
///     co_await store.update("user-42", count_visit);
///
/// Completion: every operation takes a completion token as its last argument. An operation without a token
/// returns an awaitable for co_await, and does nothing before it is awaited. The signature is
/// void(std::exception_ptr, T), or void(std::exception_ptr) for an operation without a result; with
/// as_result, the signature is void(result<T>).
/// Ids: 1..256 bytes of UTF-8.
/// Errors: each operation throws error(errc::invalid_session) for an invalid id. Exceptions of a custom
/// session_backend pass through.
/// Cancellation (terminal): the operation ends with error(errc::cancelled). With sessions in this process,
/// only three operations can be cancelled, because only these yield to the executor: update(),
/// cleanup_expired(), and create() when the quota is reached (it looks for an expired session to remove).
/// With a custom backend, each operation can be cancelled during a wait for the backend.
/// Executor: a handler runs on its associated executor, by default the system executor. A coroutine resumes
/// on its own executor.
/// Thread safety: every function may be called from any thread. Operations on one session are atomic and
/// totally ordered.
/// Lifetime: the store may be destroyed while operations are in progress; these operations complete.
class SKEP_API session_store {
public:
    /// The awaitable type of every operation. co_await and Asio's co_spawn accept it.
    template <class T>
    using awaitable = boost::asio::awaitable<T, boost::asio::any_io_executor>;

    /// Constructs a store whose sessions are in `backend`. Null: in this process.
    /// Throws error(errc::invalid_config) with field, value and rule.
    explicit session_store(session_options options = {}, std::shared_ptr<session_backend> backend = nullptr);
    ~session_store();
    session_store(const session_store&) = delete;
    session_store& operator=(const session_store&) = delete;

    /// Creates a session that holds `initial`, or finds the existing session with that id. Returns the
    /// session.
    /// `initial` does not change an existing session. Counts as an access.
    /// Errors: invalid_session (also for a ttl out of range), session_quota_exceeded.
    awaitable<session> create(std::string id, session_data initial = {});
    template <class CompletionToken>
    auto create(std::string id, session_data initial, CompletionToken&& token) {
        return begin(std::forward<CompletionToken>(token), create(std::move(id), std::move(initial)));
    }

    /// Returns the session, or an empty optional if no unexpired session has that id. Counts as an access.
    awaitable<std::optional<session>> get(std::string id);
    template <class CompletionToken>
    auto get(std::string id, CompletionToken&& token) {
        return begin(std::forward<CompletionToken>(token), get(std::move(id)));
    }

    /// Returns the session like get(), but does not count as an access: for reading age, idle time and data.
    awaitable<std::optional<session>> peek(std::string id);
    template <class CompletionToken>
    auto peek(std::string id, CompletionToken&& token) {
        return begin(std::forward<CompletionToken>(token), peek(std::move(id)));
    }

    /// Applies `change` to the session's data atomically. Returns the changed session. Counts as an access. A
    /// failed or cancelled update leaves a session in this process unchanged; a custom backend may already
    /// have stored the change.
    /// `change`: called on the caller's executor, without a lock. Must not block, and must have no effect
    /// except on its argument: if another update changes the session meanwhile, `change` is called again with
    /// the newer data, up to 10,000 times. Exceptions of `change` end the operation.
    /// Errors: session_not_found, invalid_session (for a ttl out of range), session_backend_failed (each
    /// attempt met another update).
    awaitable<session> update(std::string id, std::function<void(session_data&)> change);
    template <class CompletionToken>
    auto update(std::string id, std::function<void(session_data&)> change, CompletionToken&& token) {
        return begin(std::forward<CompletionToken>(token), update(std::move(id), std::move(change)));
    }

    /// Restarts the idle time of the session. Returns false if no unexpired session has that id.
    awaitable<bool> touch(std::string id);
    template <class CompletionToken>
    auto touch(std::string id, CompletionToken&& token) {
        return begin(std::forward<CompletionToken>(token), touch(std::move(id)));
    }

    /// Stores `worker` as the session's last_worker_id(), and restarts the idle time of the session. A pool
    /// with this store tries to do so for every call and checkout of the session, and for
    /// pool::bind_session(). Does not bind the session to that worker. Returns false if no unexpired session
    /// has that id.
    awaitable<bool> record_worker(std::string id, worker_id worker);
    template <class CompletionToken>
    auto record_worker(std::string id, worker_id worker, CompletionToken&& token) {
        return begin(std::forward<CompletionToken>(token), record_worker(std::move(id), std::move(worker)));
    }

    /// Removes the session. Returns false if no unexpired session has that id.
    awaitable<bool> remove(std::string id);
    template <class CompletionToken>
    auto remove(std::string id, CompletionToken&& token) {
        return begin(std::forward<CompletionToken>(token), remove(std::move(id)));
    }

    /// Runs update() with session_data::put_program.
    /// Errors and cancellation: as update().
    awaitable<void> put_program(std::string id, std::string name, boost::json::value program);
    template <class CompletionToken>
    auto put_program(std::string id, std::string name, boost::json::value program, CompletionToken&& token) {
        return begin(std::forward<CompletionToken>(token),
                     put_program(std::move(id), std::move(name), std::move(program)));
    }

    /// Returns a copy of the program, or an empty optional if the session has no program of that name. Counts
    /// as an access.
    /// Errors: session_not_found.
    awaitable<std::optional<boost::json::value>> get_program(std::string id, std::string name);
    template <class CompletionToken>
    auto get_program(std::string id, std::string name, CompletionToken&& token) {
        return begin(std::forward<CompletionToken>(token), get_program(std::move(id), std::move(name)));
    }

    /// Runs update() with session_data::delete_program. Returns false if the session has no program of that
    /// name.
    /// Errors and cancellation: as update().
    awaitable<bool> delete_program(std::string id, std::string name);
    template <class CompletionToken>
    auto delete_program(std::string id, std::string name, CompletionToken&& token) {
        return begin(std::forward<CompletionToken>(token), delete_program(std::move(id), std::move(name)));
    }

    /// Frees the memory of expired sessions. Returns their number. Works in slices of much less than a
    /// millisecond, and yields to the executor between slices. Call this function every cleanup_interval; a
    /// pool_manager does so for its store. Sessions expire without it, too.
    /// Cancellation: sessions that were already swept stay swept.
    /// Complexity: linear in the expired sessions plus the sessions with less than an eighth of their ttl
    /// left.
    awaitable<std::size_t> cleanup_expired();
    template <class CompletionToken>
    auto cleanup_expired(CompletionToken&& token) {
        return begin(std::forward<CompletionToken>(token), cleanup_expired());
    }

    /// Returns the current statistics.
    awaitable<session_store_stats> stats();
    template <class CompletionToken>
    auto stats(CompletionToken&& token) {
        return begin(std::forward<CompletionToken>(token), stats());
    }

    /// Returns the options that the store was constructed with.
    const session_options& options() const noexcept;

private:
    template <class CompletionToken, class T>
    static auto begin(CompletionToken&& token, awaitable<T> operation) {
        return detail::initiate_coroutine<T>(std::forward<CompletionToken>(token), std::move(operation));
    }

    friend void observe(session_store& store, std::weak_ptr<session_observer> observer);

    std::shared_ptr<session_service> self_; ///< shared with the operations in progress
};

} // namespace skep
