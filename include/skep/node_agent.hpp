// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

/// @file
/// Offers pools to clients on other machines. Link skep::remote in addition to skep::skep.

#pragma once

#include <skep/export.hpp>
#include <skep/initiate_coroutine.hpp>
#include <skep/node_options.hpp>
#include <skep/node_status.hpp>
#include <skep/observed_node.hpp>
#include <skep/pool.hpp>
#include <skep/pool_manager.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <memory>
#include <string>
#include <utility>

namespace skep {

/// Makes this program a node: offers its pools to every remote_pool of the domain, over a NATS server. The
/// program that constructs the node starts and shuts down the pools, and may use them itself.
///
/// A client that is gone, or silent for 15 seconds, loses its link, and its calls are cancelled. A client
/// that breaks a rule of the protocol, or a limit of node_options, loses its link too, and no other client
/// notices. Every program that may send messages to the node may call its workers, and sees results and
/// errors with their output: restrict the users of the NATS server.
///
/// Operators, who may send requests to the node, drain it, end their drain, and replace the workers of the
/// offered pools by pool::rolling_restart(), as `skep nodes` does. The node logs each request as a warning,
/// and publishes events::node_admin on the bus of its pool or manager. Each start() ends a drain.
///
/// The node publishes link_opened, link_resumed, link_closed, link_lost, bus_up and bus_down on the event_bus
/// of its pool or manager.
///
/// Completion: every operation takes a completion token, and is co_awaited without one.
/// Executor: the node runs on its own strand over the given executor. Thread safety: one thread at a time.
/// Lifetime: stop() must have returned before the pools are destroyed. The execution context must outlive
/// the node. cnats keeps up to four threads until the program ends, and sets SIGPIPE to be ignored.
class SKEP_API node_agent : public observed_node {
public:
    /// Validates `options`; does not connect yet. Offers one pool, by its name.
    /// Throws error(errc::invalid_config) with field, value and rule.
    node_agent(boost::asio::any_io_executor executor, pool& one, node_options options = {});

    /// Offers pools of a manager: the pools that node_options::pools names, or all.
    /// Throws also error(errc::pool_not_found).
    node_agent(boost::asio::any_io_executor executor, pool_manager& all, node_options options = {});

    /// Ends all links without waiting; see stop().
    ~node_agent() override;
    node_agent(const node_agent&) = delete;
    node_agent& operator=(const node_agent&) = delete;

    /// Returns the name of the node. The reference is valid as long as the object.
    const std::string& name() const noexcept;

    /// Returns the executor that the node was constructed with.
    boost::asio::any_io_executor get_executor() const noexcept override;

    /// Connects, announces the node and serves clients until drain() or stop(). Returns when the node is
    /// announced. While no server can be reached, start() waits, and the node goes on trying; each problem is
    /// logged once. May be called again after stop().
    /// Errors: already_started, cancelled.
    /// Cancellation (terminal): the wait ends with cancelled; the node goes on trying.
    boost::asio::awaitable<void> start();
    template <class CompletionToken>
    auto start(CompletionToken&& token) {
        return begin(std::forward<CompletionToken>(token), start());
    }

    /// Takes no more links, and asks clients to send their next calls to other nodes. Returns when all calls
    /// have ended and the clients have their answers, after undrain(), and at the latest after drain_timeout.
    /// No call is lost. The node drains until undrain() or stop(); an operator cannot end the drain.
    /// Errors: not_started.
    /// Not cancellable.
    boost::asio::awaitable<void> drain();
    template <class CompletionToken>
    auto drain(CompletionToken&& token) {
        return begin(std::forward<CompletionToken>(token), drain());
    }

    /// Ends a drain, by drain() or by an operator: the node serves clients again. No effect on a node that
    /// does not drain. A client that still has calls at the node comes back when these calls have ended.
    /// Errors: not_started.
    /// Not cancellable.
    boost::asio::awaitable<void> undrain();
    template <class CompletionToken>
    auto undrain(CompletionToken&& token) {
        return begin(std::forward<CompletionToken>(token), undrain());
    }

    /// Ends all links, cancels their calls and waits for the calls' end; closes the connection. Idempotent.
    /// For an end without a lost call, drain() first.
    /// Not cancellable.
    boost::asio::awaitable<void> stop();
    template <class CompletionToken>
    auto stop(CompletionToken&& token) {
        return begin(std::forward<CompletionToken>(token), stop());
    }

    /// Returns a snapshot of the node. Works before start() and after stop(), too.
    boost::asio::awaitable<node_status> status() override;
    template <class CompletionToken>
    auto status(CompletionToken&& token) {
        return begin(std::forward<CompletionToken>(token), status());
    }

private:
    class core;

    template <class CompletionToken, class T>
    auto begin(CompletionToken&& token, boost::asio::awaitable<T> operation) {
        const auto executor = [this] { return get_executor(); };
        return detail::initiate_coroutine<T>(std::forward<CompletionToken>(token), executor,
                                             std::move(operation));
    }

    std::shared_ptr<core> core_;
};

} // namespace skep
