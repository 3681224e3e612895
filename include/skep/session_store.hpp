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

/// How many sessions there may be, and how long they live.
struct session_options {
    duration ttl =
        std::chrono::hours(1); ///< of a session that says nothing else, since its last access, 1 ms..365 days
    duration cleanup_interval =
        std::chrono::seconds(60); ///< between two runs of cleanup_expired(), 10 ms..24 h
    std::size_t quota = 10'000;   ///< sessions at a time that have not expired, 1..10,000,000

    /// Called once when 80 % of the quota are reached, with how many sessions there are; and once again each time that
    /// happens after there were fewer than 70 %. On the thread of the caller whose session it was, before create()
    /// returns; it must not block. What it throws is dropped.
    std::function<void(std::size_t count, std::size_t quota)> on_quota_warning;

    /// Who is told of sessions that are created, removed or found to have expired in this process; null: nobody,
    /// or the bus of the pool_manager.
    std::shared_ptr<event_bus> events;
};

/// Figures of a session_store; those that count are since its construction.
struct session_store_stats {
    std::size_t current = 0;        ///< sessions held; expired ones are included until they are swept
    std::uint64_t created = 0;      ///< by this store
    std::uint64_t deleted = 0;      ///< by remove() of this store
    std::uint64_t expired = 0;      ///< as far as the backend knows
    std::uint64_t cleanup_runs = 0; ///< of cleanup_expired(), completed
    std::size_t memory_bytes = 0;   ///< about what the sessions take in this process
};

/// State that outlives a call: what is known of a user, a conversation, a job, under an id of the caller's choice. A
/// session that nobody accesses for its ttl expires: nobody finds it from that moment on.
///
///     skep::session_store store;
///     co_await store.create("user-42");
///     auto count_visit = [](skep::session_data& data) { data.metadata("visits", 1); };
///     co_await store.update("user-42", count_visit);
///
/// Every operation takes a completion token last, and is co_awaited without one; it does nothing before it is awaited. The
/// signature is void(std::exception_ptr, T), or void(std::exception_ptr) without a result; with as_result, void(result<T>).
/// Ids are 1..256 bytes of UTF-8; each operation
/// throws error(errc::invalid_session) for others, and passes on what a session_backend of the user's throws.
///
/// Thread-safety: every function may be called from any thread; operations on one session are atomic and in one order.
/// Lifetime: the store may be destroyed while operations are under way; they complete.
/// Executor: the handler's, by default the system executor; a coroutine's own.
/// Cancellation: with sessions in this process hardly anything waits; update(), cleanup_expired() and a create() that
/// has to look for a place leave the executor to others now and then, and heed a cancellation (terminal) by then. With
/// a backend of the user's, each operation heeds it that waits for that. It ends with error(errc::cancelled).
class SKEP_API session_store {
public:
    /// What every function returns, as Asio's co_spawn and `co_await` take it.
    template <class T>
    using awaitable = boost::asio::awaitable<T, boost::asio::any_io_executor>;

    /// With sessions in this process, or where `backend` keeps them.
    /// Throws error(errc::invalid_config), naming field, value and rule.
    explicit session_store(session_options options = {}, std::shared_ptr<session_backend> backend = nullptr);
    ~session_store();
    session_store(const session_store&) = delete;
    session_store& operator=(const session_store&) = delete;

    /// The session of that id: a new one that holds `initial`, or, untouched by that, the one there is. Counts as an
    /// access. Throws error: invalid_session (also for a ttl out of its range), session_quota_exceeded.
    awaitable<session> create(std::string id, session_data initial = {});
    template <class CompletionToken>
    auto create(std::string id, session_data initial, CompletionToken&& token) {
        return begin(std::forward<CompletionToken>(token), create(std::move(id), std::move(initial)));
    }

    /// None if there is none or it has expired. Counts as an access.
    awaitable<std::optional<session>> get(std::string id);
    template <class CompletionToken>
    auto get(std::string id, CompletionToken&& token) {
        return begin(std::forward<CompletionToken>(token), get(std::move(id)));
    }

    /// The same without being an access: for a look at age, idle time and what it holds.
    awaitable<std::optional<session>> peek(std::string id);
    template <class CompletionToken>
    auto peek(std::string id, CompletionToken&& token) {
        return begin(std::forward<CompletionToken>(token), peek(std::move(id)));
    }

    /// Has `change` alter what the session holds, and returns the session as it is then. Nobody sees a part of the
    /// change. Counts as an access. If others change the session meanwhile, `change` is called again, with theirs, and
    /// again until nobody did, 10,000 times at most; so it is to have no effect but on its argument. It is called on the
    /// caller's executor,
    /// with no lock held, and must not block. What it throws ends the operation. Of an operation that fails, or is
    /// cancelled between two calls of `change`, the session is as it was.
    /// Throws error: session_not_found, invalid_session (for a ttl out of its range), session_backend_failed (others were
    /// faster each time).
    awaitable<session> update(std::string id, std::function<void(session_data&)> change);
    template <class CompletionToken>
    auto update(std::string id, std::function<void(session_data&)> change, CompletionToken&& token) {
        return begin(std::forward<CompletionToken>(token), update(std::move(id), std::move(change)));
    }

    /// Begins the session's idle time anew. False if there is none or it has expired.
    awaitable<bool> touch(std::string id);
    template <class CompletionToken>
    auto touch(std::string id, CompletionToken&& token) {
        return begin(std::forward<CompletionToken>(token), touch(std::move(id)));
    }

    /// Keeps `worker` as the session's last_worker_id() and begins the idle time of the session anew. Pools with this
    /// store do so for every call and every pool::bind_session(). It does not bind the session to that worker.
    /// Returns false if there is no such session or it has expired.
    /// Cancellation and errors: as of touch().
    awaitable<bool> record_worker(std::string id, worker_id worker);
    template <class CompletionToken>
    auto record_worker(std::string id, worker_id worker, CompletionToken&& token) {
        return begin(std::forward<CompletionToken>(token), record_worker(std::move(id), std::move(worker)));
    }

    /// False if there is none or it has expired.
    awaitable<bool> remove(std::string id);
    template <class CompletionToken>
    auto remove(std::string id, CompletionToken&& token) {
        return begin(std::forward<CompletionToken>(token), remove(std::move(id)));
    }

    /// As update() with session_data::put_program, with its errors and its answer to cancellation.
    awaitable<void> put_program(std::string id, std::string name, boost::json::value program);
    template <class CompletionToken>
    auto put_program(std::string id, std::string name, boost::json::value program, CompletionToken&& token) {
        return begin(std::forward<CompletionToken>(token),
                     put_program(std::move(id), std::move(name), std::move(program)));
    }

    /// A copy; none if there is no such program. Counts as an access. Throws error: session_not_found.
    awaitable<std::optional<boost::json::value>> get_program(std::string id, std::string name);
    template <class CompletionToken>
    auto get_program(std::string id, std::string name, CompletionToken&& token) {
        return begin(std::forward<CompletionToken>(token), get_program(std::move(id), std::move(name)));
    }

    /// As update() with session_data::delete_program, whose result it returns.
    awaitable<bool> delete_program(std::string id, std::string name);
    template <class CompletionToken>
    auto delete_program(std::string id, std::string name, CompletionToken&& token) {
        return begin(std::forward<CompletionToken>(token), delete_program(std::move(id), std::move(name)));
    }

    /// Gives back the memory of sessions that have expired by now, and returns how many they were. In time proportional to
    /// them and to those that would have expired by now but for accesses in the last eighth of their ttl. In portions
    /// of much less than a millisecond, between which the executor is left to others; what was swept before a
    /// cancellation stays swept. Whoever owns the store calls it every session_options::cleanup_interval; that sessions
    /// expire does not depend on it.
    awaitable<std::size_t> cleanup_expired();
    template <class CompletionToken>
    auto cleanup_expired(CompletionToken&& token) {
        return begin(std::forward<CompletionToken>(token), cleanup_expired());
    }

    /// Its figures of now.
    awaitable<session_store_stats> stats();
    template <class CompletionToken>
    auto stats(CompletionToken&& token) {
        return begin(std::forward<CompletionToken>(token), stats());
    }

    /// Those that it was made with.
    const session_options& options() const noexcept;

private:
    template <class CompletionToken, class T>
    static auto begin(CompletionToken&& token, awaitable<T> operation) {
        return detail::initiate_coroutine<T>(std::forward<CompletionToken>(token), std::move(operation));
    }

    friend void observe(session_store& store, std::weak_ptr<session_observer> observer);

    std::shared_ptr<session_service> self_; ///< which operations under way share
};

} // namespace skep
