// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/condition_variable.hpp"
#include "async/task_group.hpp"
#include "remote/home_questions.hpp"
#include "remote/hub_driver.hpp"
#include "remote/node_directory.hpp"
#include "remote/node_worker.hpp"
#include "runtime/pool_context.hpp"
#include <skep/remote_status.hpp>

#include <boost/intrusive/list.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <string>

namespace skep {

/// The pool that a client wants from the nodes.
struct node_demand {
    std::string domain = "default";
    std::string pool = "default";
    std::string client;           ///< the name of the client's program, for the nodes
    std::string inbox = "_INBOX"; ///< the beginning of the client's subjects
    hub_options hub;
};

/// The work of a node on one link.
struct node_work {
    std::size_t calls = 0;     ///< now
    bool has_answered = false; ///< a call
    bool broke_protocol = false;
};

/// The pool whose workers are the nodes.
class node_observer {
public:
    /// Reports how many nodes have a worker or could have one, and how many are not gone for good.
    virtual void on_nodes(std::size_t usable_nodes, std::size_t known_nodes) = 0;

    /// The node of the worker has told its load. `is_on_trial`: it gets one call at a time.
    virtual void on_load(const worker_id& worker, const link_load& load, bool is_on_trial) = 0;

    /// The node of the worker may be out of reach, or is in reach.
    virtual void on_reach(const worker_id& worker, bool is_suspect) = 0;

    virtual node_work work_of(const worker_id& worker) const noexcept = 0;

    /// The connection to the bus is up, or down.
    virtual void on_connection(bool is_up) = 0;

    /// Reports the cause of a missing connection to the bus, or a refusal by the bus.
    virtual void on_problem(const std::string& text) = 0;

    /// Links to the node were lost, and it gets none for that time; or the node has answered a call since.
    virtual void on_ejection(const std::string& node, duration time) noexcept = 0;
    virtual void on_readmission(const std::string& node) noexcept = 0;

    /// Handles an exception: the network can only be ended.
    virtual void on_failure(const std::exception_ptr& problem) noexcept = 0;

protected:
    ~node_observer() = default;
};

/// The nodes that a client sees on its bus, and the links to them. Used on the strand.
class node_network final : public std::enable_shared_from_this<node_network>,
                           private hub_user,
                           private node_links {
public:
    /// `context` must outlive the end of all functions.
    node_network(const pool_context& context, const node_demand& demand, const bus_factory& connect,
                 std::shared_ptr<node_observer> observer);

    /// Listens to the nodes until end().
    void begin();
    void end();

    /// Waits until the connection is closed, after end().
    asio::awaitable<void> closed() { return closing_.join(); }

    /// Waits for a node without a worker, and for a link to the node. Throws error(spawn_failed) when
    /// cancelled, or if the node gives no link.
    asio::awaitable<std::shared_ptr<node_worker>> take_node(worker_id id);

    /// Makes take_node() of `id` return soon if it is running.
    void cancel(const worker_id& id) noexcept;

    // Sessions: see session_homes.
    home_questions& homes() noexcept { return homes_; }
    std::string choose(const std::string& session) const { return nodes_.choose(session, context_.now()); }

    remote_status status() const;

    // Totals, as in remote_status.
    std::uint64_t reconnects() const noexcept { return driver_.reconnects(); }
    link_counters link_counts() const noexcept { return driver_.hub().counts(); }

private:
    /// A take_node() that is running.
    struct demand
        : boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
        worker_id id;
        bool is_cancelled = false;
        std::shared_ptr<node_worker> opening; ///< once a node is found
    };

    asio::awaitable<std::shared_ptr<known_node>> wait_for_node(demand& open_demand);
    std::shared_ptr<node_worker> open(std::shared_ptr<known_node> node, const worker_id& id);
    asio::awaitable<void> look_after();
    asio::awaitable<void> close();

    void on_event(link_event& event) override;
    bool on_message(const bus_message& message) override;
    void on_connection(bool is_up) override;
    void on_problem(const std::string& text) override;
    void on_failure(const std::exception_ptr& problem) noexcept override;
    void on_end(node_worker& worker) noexcept override;

    // Events of a link, once the worker has handled them.
    void follow(node_worker& worker, const link_accepted& event);
    void follow(node_worker& worker, const link_load_changed& event);
    void follow(node_worker& worker, const link_reach_changed& event);
    void follow(node_worker& worker, const link_resumed& event);
    template <class Event>
    void follow(node_worker&, const Event&) noexcept {}

    void report_nodes();
    void try_out(node_worker& worker);
    bool is_lost(const node_worker& worker) const noexcept;
    void on_passage(const known_node& node, node_passage passage) const noexcept;
    void publish_end(const node_worker& worker) const noexcept;
    void on_ejection(const known_node& node) const noexcept;
    std::shared_ptr<node_worker> worker_of(const known_node& node) const noexcept;
    node_view view_of(const known_node& node, time_point now) const;
    void hear(const node_beacon& beacon);
    void ask_who();
    void check_worker_of(const node_beacon& beacon);
    std::shared_ptr<node_worker> find(const remote_link& link) const noexcept;

    const pool_context& context_;
    node_demand demand_;
    std::shared_ptr<node_observer> observer_;
    std::string inbox_; ///< the prefix of this client's subjects
    std::string load_subject_;
    node_directory nodes_;
    std::string problem_;        ///< of the bus, the last one since the connection was up
    condition_variable changed_; ///< by a node, or a demand
    task_group tasks_;
    task_group closing_;
    hub_driver driver_;
    home_questions homes_;
    std::map<std::string, std::weak_ptr<node_worker>> workers_; ///< by the subject of their link
    boost::intrusive::list<demand, boost::intrusive::constant_time_size<false>> demands_;
};

} // namespace skep
