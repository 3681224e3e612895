// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

/// @file
/// Calls on other machines. Link skep::remote in addition to skep::skep.

#pragma once

#include <skep/export.hpp>
#include <skep/initiate_coroutine.hpp>
#include <skep/load_view.hpp>
#include <skep/observed_pool.hpp>
#include <skep/pool.hpp>
#include <skep/pool_manager.hpp>
#include <skep/pool_metrics.hpp>
#include <skep/pool_status.hpp>
#include <skep/remote_options.hpp>
#include <skep/shutdown_report.hpp>
#include <skep/tool.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/json/object.hpp>

#include <concepts>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace skep {

/// A pool whose workers are nodes: machines with a node_agent that offer a pool of their own. Finds the nodes
/// over a NATS server, and sends each call to a node with room. Nodes may come and go.
///
/// Calls, streams, tools, sessions, deadlines, cancellation, retries, events and metrics work as in a pool.
/// The differences:
///
/// - A call waits for a node with room as it waits for a worker, up to queue.timeout. Without a node, the
///   call fails with no_node and the cause: no connection, or no node with the pool.
/// - If a node is lost while it has a call, the call fails with node_lost: the call may have run, and may
///   still run. An idempotent call is sent to another node.
/// - A server that goes away and comes back loses no call, and no call runs twice. Meanwhile, calls wait.
/// - A call that the node's own pool fails, fails here with the same code and facts.
/// - Leases, and the suspension, restart and resizing of workers, belong to the node's own pool.
///
/// Completion, executor, thread safety, memory, forks and lifetime: as for a pool. shutdown() also closes the
/// connection, and ends the threads of this pool. cnats keeps up to four threads until the program ends, and
/// sets SIGPIPE to be ignored.
class SKEP_API remote_pool : public observed_pool {
public:
    /// Validates `options`; does not connect yet.
    /// Throws error(errc::invalid_config) with field, value and rule; std::system_error if the pool's own
    /// thread cannot be started.
    remote_pool(boost::asio::any_io_executor executor, remote_options options);

    /// Constructs a pool on the executor of an execution context, such as an io_context.
    template <std::derived_from<boost::asio::execution_context> ExecutionContext>
    remote_pool(ExecutionContext& context, remote_options options)
        : remote_pool(boost::asio::any_io_executor(context.get_executor()), std::move(options)) {}

    /// Ends the links to the nodes, which cancel the calls, and the connection. Calls in progress end with
    /// errc::shutting_down.
    ~remote_pool() override;
    remote_pool(remote_pool&&) noexcept;
    remote_pool& operator=(remote_pool&&) noexcept;

    /// Return the name of the pool in errors, events and metrics, and the options as constructed. The
    /// references are valid as long as the pool.
    const std::string& name() const noexcept override { return nodes_.name(); }
    const remote_options& options() const noexcept { return options_; }

    /// Returns the options as JSON, for people: see observed_pool.
    boost::json::object configuration() const override;

    boost::asio::any_io_executor get_executor() const noexcept override { return nodes_.get_executor(); }

    /// Connects, and waits for the first node up to queue.timeout. The pool looks for nodes until shutdown(),
    /// also after a failure: calls may be made, and start() is not to be repeated.
    /// Errors: no_node (no node was found in time; carries the cause), already_started, shutting_down,
    /// cancelled.
    /// Cancellation (terminal): the wait ends with cancelled; the pool goes on.
    boost::asio::awaitable<void> start();
    template <class CompletionToken>
    auto start(CompletionToken&& token) {
        return begin(std::forward<CompletionToken>(token), start());
    }

    /// Waits until the pool has links to at least `count` nodes: see pool::ready.
    boost::asio::awaitable<void> ready(std::size_t count = 1) { return nodes_.ready(count); }
    template <class CompletionToken>
    auto ready(std::size_t count, CompletionToken&& token) {
        return nodes_.ready(count, std::forward<CompletionToken>(token));
    }

    /// Run calls and streams on a node: see pool::execute and pool::stream. Further errors: no_node in place
    /// of no_worker, and node_lost.
    using call_interface::execute;
    call_operation prepare(request call) override;
    using call_interface::stream;
    stream_operation prepare_stream(request call) override;

    /// Registers a tool that the workers of the nodes may call: see pool::register_tool. It hides a tool of
    /// that name in the node's own pool.
    void register_tool(std::string name, tool_handler handler);

    /// Ends the binding of a session to its node: see pool::forget_session. Tells all nodes to forget the
    /// session, too, as far as they can be reached.
    boost::asio::awaitable<bool> forget_session(std::string id) {
        return nodes_.forget_session(std::move(id));
    }
    template <class CompletionToken>
    auto forget_session(std::string id, CompletionToken&& token) {
        return nodes_.forget_session(std::move(id), std::forward<CompletionToken>(token));
    }

    /// Return the status and figures of the pool, as pool::status and pool::metrics do. Each worker is a node
    /// with a link. One slot waits for the next node, in state `starting`. pool_status::remote has all nodes,
    /// also nodes without a link, and pool_metrics::nodes the calls of each.
    boost::asio::awaitable<pool_status> status() { return nodes_.status(); }
    template <class CompletionToken>
    auto status(CompletionToken&& token) {
        return nodes_.status(std::forward<CompletionToken>(token));
    }
    boost::asio::awaitable<pool_metrics> metrics() override { return nodes_.metrics(); }
    template <class CompletionToken>
    auto metrics(CompletionToken&& token) {
        return nodes_.metrics(std::forward<CompletionToken>(token));
    }

    /// Returns the bus with the events of the pool: see pool::events. Nodes have events of their own:
    /// node_joined to node_readmitted, link_opened to link_lost, bus_up and bus_down.
    event_bus& events() noexcept override { return nodes_.events(); }

    /// Returns the load by this client: see pool::load. `places`: calls that the nodes accept from a client.
    load_view load() const noexcept override { return nodes_.load(); }

    /// Lets accepted calls finish for drain_timeout, cancels the rest on their nodes, ends the links and the
    /// connection: see pool::shutdown.
    boost::asio::awaitable<shutdown_report> shutdown() { return nodes_.shutdown(); }
    template <class CompletionToken>
    auto shutdown(CompletionToken&& token) {
        return nodes_.shutdown(std::forward<CompletionToken>(token));
    }

private:
    template <class CompletionToken>
    auto begin(CompletionToken&& token, boost::asio::awaitable<void> operation) {
        const auto executor = [this] { return get_executor(); };
        return detail::initiate_coroutine<void>(std::forward<CompletionToken>(token), executor,
                                                std::move(operation));
    }

    remote_options options_;
    pool nodes_;
};

/// Constructs a remote_pool on the manager's executor for each place of manager_config::remote, adds it to
/// the manager, and returns the pools in that order. Connects to nothing yet. Pools without a log_handler get
/// the one of `config`.
/// The caller starts each pool: after remote_pool::start() has failed with no_node, the pool goes on looking
/// for nodes. The caller also shuts each pool down, after the manager.
/// `config`: as the manager was constructed with.
/// Throws error(errc::invalid_config) as the constructor of remote_pool and pool_manager::add do;
/// std::system_error if a pool's own thread cannot be started.
SKEP_API std::vector<std::shared_ptr<remote_pool>> add_remote_pools(pool_manager& manager,
                                                                    const manager_config& config);

} // namespace skep
