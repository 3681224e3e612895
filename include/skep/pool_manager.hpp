// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/call_interface.hpp>
#include <skep/export.hpp>
#include <skep/initiate_coroutine.hpp>
#include <skep/log.hpp>
#include <skep/pool.hpp>
#include <skep/pool_config.hpp>
#include <skep/pool_status.hpp>
#include <skep/reply_stream.hpp>
#include <skep/session_store.hpp>
#include <skep/shutdown_report.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <concepts>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace skep {

class pool_maker;
class session_cleaner;
class worker_budget;
class worker_share;

/// Several pools and what they share.
struct SKEP_API manager_config {
    std::vector<pool_config> pools; ///< each of a name of its own

    /// Where requests go that name no pool; empty: to the pool "default", or, without one, to the first.
    std::string default_pool;
    session_options sessions; ///< of the store that all pools share

    /// Workers of all pools together, 0..1,000,000; 0 = any number. Each pool's least number (scaling.min or min_ready,
    /// whichever is more) is reserved for it, and their sum must not exceed this. The rest goes to the pools that ask
    /// first: a pool starts with fewer than scaling.initial, or grows less, where others have it, and looks again four
    /// times a second while callers wait. A worker and its successor count as one; a worker that is not replaced counts
    /// until it has ended.
    std::size_t max_workers = 0;

    /// True: a pool whose start has failed is started again by itself, while the others serve: after its
    /// restart.initial_backoff, then after twice as long each time, up to its restart.max_backoff.
    bool restart_failed_pools = true;

    /// Takes the log records of all pools that have no log_handler of their own. Empty: they go to standard error.
    skep::log_handler log_handler;

    /// Reads {"defaults": {...}, "pools": [{...}], "default_pool": "...", "sessions": {...}, "max_workers": n,
    /// "restart_failed_pools": true}. `defaults` and each pool are documents for pool_config::from_json; each pool begins
    /// with the fields of `defaults`, such as the mode of affinity. Throws error(errc::invalid_config) that names all that
    /// is wrong, each with its path.
    static manager_config from_json(const boost::json::value& document);

    /// A JSON Schema (draft 2020-12) of what from_json() reads, for editors; installed as
    /// share/skep-VERSION/manager_config.schema.json.
    static boost::json::object json_schema();
};

/// All that from_json() can read, `defaults` worked into each pool; see to_json of a pool_config. Handlers are left out.
SKEP_API boost::json::object to_json(const manager_config& config);

/// The sum of its pools': see descriptors_needed of a pool_config.
SKEP_API std::size_t descriptors_needed(const manager_config& config);

/// How the pools of a manager ended, by name.
struct SKEP_API manager_report {
    std::map<std::string, shutdown_report, std::less<>> pools; ///< each under its name

    /// True if it is known that no worker is left.
    bool clean() const noexcept;
};

/// Several named pools behind one interface, and one session_store: a call goes to request::pool, or to the default pool.
/// Pools are independent of each other: a failure of one does not touch the others. They share a number of workers if
/// manager_config::max_workers says so.
///
/// Executor, thread safety and errors: as of a pool, whose operations these are. add() must not race with anything.
/// Lifetime: as of a pool. The store is shared with whoever keeps it: it may outlive the manager.
class SKEP_API pool_manager : public call_interface {
public:
    /// Makes the pools; starts nothing. Throws error(errc::invalid_config) as add() does, where default_pool is no pool, and
    /// where max_workers is less than the sum of the pools' least numbers.
    explicit pool_manager(boost::asio::any_io_executor executor, manager_config config = {},
                          std::shared_ptr<session_backend> backend = nullptr);
    template <std::derived_from<boost::asio::execution_context> ExecutionContext>
    explicit pool_manager(ExecutionContext& context, manager_config config = {},
                          std::shared_ptr<session_backend> backend = nullptr)
        : pool_manager(boost::asio::any_io_executor(context.get_executor()), std::move(config),
                       std::move(backend)) {}
    ~pool_manager() override;
    pool_manager(const pool_manager&) = delete;
    pool_manager& operator=(const pool_manager&) = delete;

    /// One more pool, which is valid as long as the manager; start it by itself if the others are running. Throws
    /// error(errc::invalid_config): as pool::pool, if there is one of that name, and if max_workers leaves fewer workers than
    /// the least number of the pool.
    pool& add(pool_config config);

    /// The pool of that name; the default one if it is empty. Throws error(errc::pool_not_found), which lists those there are.
    pool& get(std::string_view name = {});

    /// In the order of the alphabet.
    std::vector<std::string> names() const;

    /// Shared by all pools. Those that have expired are swept every session_options::cleanup_interval, until shutdown().
    session_store& sessions() noexcept;

    /// The events of all pools, and of their sessions: see event_bus. Valid as long as the manager. Its shutdown() ends the
    /// waits.
    event_bus& events() noexcept;

    /// Starts all pools at the same time. Throws error(errc::start_failed) if one could not start, or is started already,
    /// when each has started or failed to: its text names those that have not, with what they threw. The others go on, and
    /// the manager starts the failed pools again: see manager_config::restart_failed_pools. Until such a pool has started,
    /// its calls fail with start_failed and the cause. See ready().
    /// Cancellation: as of pool::start.
    boost::asio::awaitable<void> start();
    template <class CompletionToken>
    auto start(CompletionToken&& token) {
        return begin(std::forward<CompletionToken>(token), start());
    }

    /// Returns when each pool has at least `count` workers that are up, all at the same time: ready, or by now busy, degraded
    /// or suspended. Waits for pools that are being started again, too.
    /// Errors: as of pool::ready of the first pool that ends the wait with an error, which the error names; start_failed only
    /// if manager_config::restart_failed_pools is false.
    /// Cancellation: as of pool::ready.
    boost::asio::awaitable<void> ready(std::size_t count = 1);
    template <class CompletionToken>
    auto ready(std::size_t count, CompletionToken&& token) {
        return begin(std::forward<CompletionToken>(token), ready(count));
    }

    /// Shuts down all pools at the same time; see pool::shutdown. The executor has no work of the manager's then.
    boost::asio::awaitable<manager_report> shutdown();
    template <class CompletionToken>
    auto shutdown(CompletionToken&& token) {
        return begin(std::forward<CompletionToken>(token), shutdown());
    }

    /// Of all pools, in the order of names(), one after the other.
    boost::asio::awaitable<std::vector<pool_status>> status();
    template <class CompletionToken>
    auto status(CompletionToken&& token) {
        return begin(std::forward<CompletionToken>(token), status());
    }

    /// As pool::execute and pool::stream of the request's pool. Throws error(errc::pool_not_found) too.
    using call_interface::execute;
    call_operation prepare(request call) override;
    using call_interface::stream;
    stream_operation prepare_stream(request call) override;

    /// The executor that the manager was made with.
    boost::asio::any_io_executor get_executor() const noexcept override { return executor_; }

private:
    friend class pool_maker;

    pool_manager(boost::asio::any_io_executor executor, manager_config config,
                 std::shared_ptr<session_backend> backend, std::shared_ptr<pool_maker> maker);
    std::string_view default_pool() const noexcept;

    template <class CompletionToken, class T>
    auto begin(CompletionToken&& token, boost::asio::awaitable<T> operation) {
        const auto executor = [this] { return executor_; };
        return detail::initiate_coroutine<T>(std::forward<CompletionToken>(token), executor,
                                             std::move(operation));
    }

    pool& add(pool_config config, worker_share share);

    boost::asio::any_io_executor executor_;
    std::shared_ptr<pool_maker> maker_;
    std::shared_ptr<event_bus> events_;
    std::shared_ptr<session_store> sessions_;
    std::shared_ptr<session_cleaner> cleaner_;
    std::shared_ptr<std::map<std::string, pool, std::less<>>> pools_;
    std::string default_pool_; ///< empty if none was named
    std::string first_pool_;
    std::shared_ptr<worker_budget> budget_; ///< null: any number of workers
    bool restarts_failed_pools_;
    log_handler log_handler_; ///< of pools without one
};

} // namespace skep
