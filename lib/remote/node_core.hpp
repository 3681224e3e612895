// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/condition_variable.hpp"
#include "async/task_group.hpp"
#include "policy/drain_state.hpp"
#include "policy/open_limit.hpp"
#include "policy/rate_limit.hpp"
#include "remote/hub_driver.hpp"
#include "remote/served_link.hpp"
#include "remote/served_pool.hpp"
#include "runtime/pool_context.hpp"
#include "telemetry/log.hpp"
#include "wire/home_messages.hpp"
#include "wire/node_beacon.hpp"
#include "wire/node_request.hpp"
#include <skep/event_bus.hpp>
#include <skep/export.hpp>
#include <skep/node_options.hpp>
#include <skep/node_status.hpp>
#include <skep/pool_config.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace skep {

struct node_setup {
    std::string domain = "default";
    std::string name;                                      ///< see is_node_name()
    std::map<std::string, served_pool, std::less<>> pools; ///< by name
    duration beacon_interval = std::chrono::seconds(1);    ///< varies by 20 %
    duration drain_timeout = std::chrono::seconds(30);
    std::string inbox = "_INBOX."; ///< the beginning of all subjects of clients
    pool_config records;           ///< name, log_level, log_handler and log_format
    std::size_t most_links = 10'000;
    std::size_t opens_per_second = 100;       ///< of each client; see open_limit
    std::size_t questions_per_second = 5'000; ///< for sessions, of each client
    std::size_t admin_per_second = 10;        ///< requests of operators; further ones are ignored
    std::size_t memory = 512u << 20;          ///< bytes for the input and the unsent answers of all links
    limit_options limits;                     ///< of the clients' calls
    hub_options hub;
};

/// A node: offers pools to clients on a bus. Used on the strand. skep::remote calls the exported functions.
class node_core final : public std::enable_shared_from_this<node_core>, private hub_user {
public:
    node_core(pool_context context, node_setup setup, const bus_factory& connect);

    const strand& executor() const noexcept { return context_.executor; }

    /// Announces the node, and serves clients until stop().
    SKEP_API void start();

    /// Takes no more links, and asks clients to send no more calls. Returns when they have all answers and
    /// have ended their links, after the drain timeout, or after undrain().
    SKEP_API asio::awaitable<void> drain();

    /// Ends a drain by drain() or by an operator: the node serves clients again. No effect once stop() has
    /// begun.
    SKEP_API void undrain();

    /// Ends all links, and cancels their calls. Idempotent.
    SKEP_API asio::awaitable<void> stop();

    /// Waits until the node is announced, or ends.
    SKEP_API asio::awaitable<void> announced();

    /// Begins stop(), without waiting for its end.
    SKEP_API void abandon();

    std::size_t links() const noexcept { return links_.size(); }
    SKEP_API node_status status();

private:
    class stop_turn;

    bool begin_to_drain(drain_cause cause);
    bool end_drain(drain_cause cause);
    void tell_clients();
    asio::awaitable<void> tell_load();
    asio::awaitable<void> end_all();
    asio::awaitable<void> bury(std::shared_ptr<served_link> ended_link);

    void on_event(link_event& event) override;
    bool on_message(const bus_message& message) override;
    void on_connection(bool is_up) override;
    void on_problem(const std::string& text) override;
    void on_failure(const std::exception_ptr& problem) noexcept override;

    void handle(const link_request& request);
    void handle(const link_accepted&) noexcept {} // a node asks for no links
    void handle(const link_readable& event);
    void handle(const link_writable&) noexcept {}     // answers are kept until they leave
    void handle(const link_load_changed&) noexcept {} // of a client
    void handle(const link_reach_changed&) noexcept {}
    void handle(const link_resumed& event);
    void handle(const link_ended& event);

    void handle_admin(const bus_message& message);
    action_outcome drain_for_operator();
    action_outcome undrain_for_operator();
    asio::awaitable<void> restart_for_operator(std::string asker);
    asio::awaitable<action_outcome> replace_workers();
    void conclude(std::string_view action, const std::string& asker, const action_outcome& answer);

    void answer(const link_request& request);
    void check_room(const link_request& request);
    bool is_inbox(std::string_view subject) const noexcept;
    void end(const std::string& subject, const link_end& end_of_link);
    void publish_end(const served_link& link, const link_end& end_of_link) const noexcept;
    std::vector<client_view> clients() const;
    void limit_memory();
    node_beacon look();
    void announce(std::string_view subject);
    void on_question(const bus_message& message);
    asio::awaitable<void> answer(home_question question, std::string reply);

    pool_context context_;
    node_setup setup_;
    std::string epoch_;
    std::string who_subject_;
    std::string admin_subject_;
    std::string home_subject_;
    pool_log log_;
    task_group tasks_;
    task_group burials_;
    task_group endings_;
    condition_variable changed_; ///< by a connection, or the end
    open_limit opens_;
    rate_limit admin_limit_;
    open_limit questions_;
    hub_driver driver_;
    std::map<std::string, std::shared_ptr<served_link>> links_; ///< by subject
    drain_state drain_;
    bool is_restarting_ = false; ///< at the request of an operator
    bool has_failed_ = false;
    bool is_ending_ = false; ///< stop() has begun
    bool is_stopping_ = false;
    bool has_ended_ = false;
    std::string problem_; ///< of the bus, the last one since the connection was up
};

/// Makes the node of a node_agent. `options`: valid, with a name. `pools` and `events`: live until stop() has
/// ended.
SKEP_API std::shared_ptr<node_core> make_node(asio::any_io_executor executor, const node_options& options,
                                              std::map<std::string, served_pool, std::less<>> pools,
                                              event_bus& events, const bus_factory& connect);

} // namespace skep
