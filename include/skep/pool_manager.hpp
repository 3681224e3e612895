// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/admin_options.hpp>
#include <skep/export.hpp>
#include <skep/initiate_coroutine.hpp>
#include <skep/load_view.hpp>
#include <skep/log.hpp>
#include <skep/node_options.hpp>
#include <skep/observed_pool.hpp>
#include <skep/overflow.hpp>
#include <skep/pool.hpp>
#include <skep/pool_config.hpp>
#include <skep/pool_status.hpp>
#include <skep/remote_options.hpp>
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
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skep {

class pool_maker;
class session_cleaner;
class worker_budget;
class worker_share;

/// A place on other machines for the calls of a pool.
struct remote_place {
    remote_options options;                ///< `name`: of the pool in the manager; empty: `pool`
    overflow mode = overflow::local_first; ///< with a pool of that name on this machine: the first place
};

/// Several pools and their shared resources.
struct SKEP_API manager_config {
    std::vector<pool_config> pools; ///< configurations with distinct names

    /// Places on other machines, beside a pool of that name or instead of one; distinct names. The program
    /// passes the configuration to add_remote_pools() of skep::remote before it starts the manager.
    std::vector<remote_place> remote;

    /// Pool for requests without a pool name. Empty: the pool "default", or else the first one of `pools`, or
    /// else of `remote`.
    std::string default_pool;
    session_options sessions; ///< options of the shared session store

    /// Most workers of all pools together, 0..1,000,000; 0 = any number. The least number of each pool
    /// (scaling.min or min_ready, the larger one) is reserved for the pool; the sum of the least numbers must
    /// not exceed max_workers. Pools get the remaining workers first come, first served. A pool that finds
    /// too few left starts with fewer than scaling.initial workers, or grows less, and asks again four times
    /// a second while callers wait. A worker and its successor count as one. A worker without a successor
    /// counts until it has ended.
    std::size_t max_workers = 0;

    /// True: the manager starts a pool again after a failed start, while the other pools serve. The first
    /// wait is the pool's restart.initial_backoff; each further wait is twice as long, up to
    /// restart.max_backoff.
    bool restart_failed_pools = true;

    /// For a program that makes these pools a node: see node_agent. The manager itself ignores it.
    std::optional<node_options> node;

    /// For a program that shows these pools to operators: see admin_server. The manager itself ignores it.
    std::optional<admin_options> admin;

    /// Receives the log records of all pools without their own log_handler. Empty: standard error.
    skep::log_handler log_handler;

    /// Reads {"defaults": {...}, "pools": [{...}], "default_pool": "...", "sessions": {...}, "max_workers":
    /// n, "restart_failed_pools": true, "nats": {...}, "node": {...}, "admin": {...}}. `node` is a document
    /// for node_options::from_json; `admin` has the fields address, port, token and connections of
    /// admin_options. `defaults` and each pool are documents for pool_config::from_json.
    /// A pool may have a member `remote`, for a place on other machines: a document for
    /// remote_options::from_json without `name`, with `overflow`, "local_first" or "elsewhere_first". Absent
    /// fields have the values of the pool; `pool` is its name. With "workers": 0, there is no pool here.
    /// The fields of `nats` apply to each `nats` of `node` and `remote` unless it sets them.
    /// The fields of `defaults`, such as the mode of affinity, apply to each pool unless the pool sets them.
    /// Throws error(errc::invalid_config) with all problems, each with its path.
    static manager_config from_json(const boost::json::value& document);

    /// Reads the same document from a file: see pool_config::from_file for paths, references to the
    /// environment, and errors. Relative paths of `defaults` count from the folder of the file, too.
    static manager_config from_file(const std::filesystem::path& path);

    /// Returns a JSON Schema (draft 2020-12) for from_json(), for editors. Installed as
    /// share/skep-VERSION/manager_config.schema.json.
    static boost::json::object json_schema();
};

/// Returns the configuration as JSON for from_json(), with `defaults` merged into each pool and without
/// handlers. See to_json of a pool_config.
SKEP_API boost::json::object to_json(const manager_config& config);

/// Returns the sum over the pools: see descriptors_needed of a pool_config.
SKEP_API std::size_t descriptors_needed(const manager_config& config);

/// Shutdown reports of the pools of a manager.
struct SKEP_API manager_report {
    std::map<std::string, shutdown_report, std::less<>> pools; ///< reports by pool name

    /// Returns true if certainly no worker is left.
    bool clean() const noexcept;
};

/// A pool that runs calls of a manager, for an observer.
struct observed_place {
    std::string name;    ///< as in request::pool
    observed_pool* pool; ///< valid as long as the manager
};

/// Several named pools behind one interface, with one session_store. A call goes to request::pool, or to the
/// default pool. Pools are independent: a failure of one does not affect the others. With
/// manager_config::max_workers, they share a number of workers.
///
/// Completion, executor, thread safety and errors: as for a pool. add() must not race with any other use.
/// Lifetime: as for a pool. The session store has shared ownership, and may outlive the manager.
class SKEP_API pool_manager : public call_interface {
public:
    /// Constructs the pools, but no places of manager_config::remote; starts nothing.
    /// Throws error(errc::invalid_config) as add() does, if default_pool is not the name of a pool, or if
    /// max_workers is less than the sum of the pools' least numbers.
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

    /// Adds a pool and returns it. The reference is valid as long as the manager. If the other pools are
    /// running, start the new pool separately.
    /// Throws error(errc::invalid_config) as pool::pool does, if the name is taken, or if max_workers leaves
    /// fewer workers than the least number of the pool.
    pool& add(pool_config config);

    /// Adds a place for calls of pool `name` beside the manager's own pools, such as a remote_pool. Without a
    /// local pool of that name, all calls go there. With one, `mode` decides by the loads of the two. A call
    /// that one place certainly has not run, because it has no room or no worker, is tried at the other.
    /// Calls with a session go to the local pool. The owner starts and shuts down what `elsewhere` refers to,
    /// and shuts it down after the manager. `elsewhere`: also has a function load(), callable on any thread.
    /// Observers of the manager see a place that is an observed_pool, such as a remote_pool.
    /// Throws error(errc::invalid_config) if the name breaks its rule or has such a place.
    template <std::derived_from<call_interface> Calls>
    void add(std::string name, const std::shared_ptr<Calls>& elsewhere,
             overflow mode = overflow::local_first) {
        observed_pool* observed = nullptr;
        if constexpr (std::derived_from<Calls, observed_pool>) {
            observed = elsewhere.get();
        }
        add_elsewhere(std::move(name),
                      {elsewhere, [calls = elsewhere] { return calls->load(); }, mode, observed});
    }

    /// Returns the pool of that name; the default pool if the name is empty.
    /// Throws error(errc::pool_not_found) with the names of all pools, also if the pool is only elsewhere.
    pool& get(std::string_view name = {});

    /// Returns the names of the pools, in alphabetical order.
    std::vector<std::string> names() const;

    /// Returns the pools for an observer, such as an admin_server: the manager's own by name, then the pools
    /// elsewhere, each with the name by which calls choose it. Two pools with calls of one name share the
    /// name.
    std::vector<observed_place> observed();

    /// Returns the store that all pools share. The manager sweeps expired sessions every
    /// session_options::cleanup_interval, until shutdown().
    session_store& sessions() noexcept;

    /// Returns the bus with the events of all pools and of their sessions: see event_bus. The reference is
    /// valid as long as the manager. shutdown() ends the waits on the bus.
    event_bus& events() noexcept;

    /// Starts all pools at the same time. Completes when each start has succeeded or failed.
    /// Errors: start_failed if a pool could not start, or was started before; the text names the failed pools
    /// with their errors. The other pools continue. The manager starts failed pools again: see
    /// manager_config::restart_failed_pools. Until such a pool has started, its calls fail with start_failed
    /// and the cause. See ready(). Also start_failed, and no pool starts, if a place of
    /// manager_config::remote has not been added.
    /// Cancellation: as pool::start.
    boost::asio::awaitable<void> start();
    template <class CompletionToken>
    auto start(CompletionToken&& token) {
        return begin(std::forward<CompletionToken>(token), start());
    }

    /// Waits until each pool has at least `count` workers that are up (ready, busy, degraded or suspended),
    /// all pools at the same time. Also waits for pools that are being started again.
    /// Errors: as pool::ready, from the first pool whose wait ends with an error; the error names the pool.
    /// start_failed only if manager_config::restart_failed_pools is false.
    /// Cancellation: as pool::ready.
    boost::asio::awaitable<void> ready(std::size_t count = 1);
    template <class CompletionToken>
    auto ready(std::size_t count, CompletionToken&& token) {
        return begin(std::forward<CompletionToken>(token), ready(count));
    }

    /// Shuts down all pools at the same time; see pool::shutdown. Afterwards the manager has no work on the
    /// executor.
    boost::asio::awaitable<manager_report> shutdown();
    template <class CompletionToken>
    auto shutdown(CompletionToken&& token) {
        return begin(std::forward<CompletionToken>(token), shutdown());
    }

    /// Returns the status of all pools in the order of names(), read one after the other.
    boost::asio::awaitable<std::vector<pool_status>> status();
    template <class CompletionToken>
    auto status(CompletionToken&& token) {
        return begin(std::forward<CompletionToken>(token), status());
    }

    /// Runs calls and streams in the request's pool: see pool::execute and pool::stream. Further error:
    /// pool_not_found. Calls of a pool that is elsewhere too: see add().
    using call_interface::execute;
    call_operation prepare(request call) override;
    using call_interface::stream;
    stream_operation prepare_stream(request call) override;

    /// Returns the executor that the manager was constructed with.
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

    /// A place for calls beside the manager's own pools.
    struct other_place {
        std::shared_ptr<call_interface> calls;
        std::function<load_view()> load;
        overflow mode;
        observed_pool* observed; ///< null if no observer can see the place
    };

    pool& add(pool_config config, worker_share share);
    void add_elsewhere(std::string name, other_place elsewhere);
    void expect_all_places() const;
    template <class Operation, class Prepare>
    Operation route(request call, Prepare prepare);

    boost::asio::any_io_executor executor_;
    std::shared_ptr<pool_maker> maker_;
    std::shared_ptr<event_bus> events_;
    std::shared_ptr<session_store> sessions_;
    std::shared_ptr<session_cleaner> cleaner_;
    std::shared_ptr<std::map<std::string, pool, std::less<>>> pools_;
    std::map<std::string, other_place, std::less<>> elsewhere_;
    std::vector<std::string> remote_names_; ///< of the configured places elsewhere
    std::string default_pool_;              ///< empty if the configuration names no pool
    std::string first_pool_;
    std::shared_ptr<worker_budget> budget_; ///< null: any number of workers
    bool restarts_failed_pools_;
    log_handler log_handler_; ///< of pools without one
};

} // namespace skep
