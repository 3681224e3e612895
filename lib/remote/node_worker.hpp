// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/condition_variable.hpp"
#include "remote/hub_driver.hpp"
#include "remote/node_directory.hpp"
#include "runtime/runtime.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace skep {

class node_worker;

/// The owner of the links to nodes.
class node_links {
public:
    /// The worker's link has ended.
    virtual void on_end(node_worker& worker) noexcept = 0;

protected:
    ~node_links() = default;
};

/// A node as a worker of a client's pool: the link is the worker's channel, and the life of the link is the
/// life of the worker's process. Used on the strand.
class node_worker : public std::enable_shared_from_this<node_worker> {
public:
    /// `opened_link`: of `driver`. `driver` keeps `links` alive.
    node_worker(const strand& executor, node_links& links, std::shared_ptr<hub_driver> driver,
                remote_link& opened_link, worker_id id, std::shared_ptr<known_node> node);
    ~node_worker();
    node_worker(const node_worker&) = delete;
    node_worker& operator=(const node_worker&) = delete;

    const worker_id& id() const noexcept { return id_; }

    known_node& node() const noexcept { return *node_; }

    /// Returns the epoch of the node when the link was opened.
    const std::string& epoch() const noexcept { return epoch_; }

    // Events of the link.
    void handle(const link_accepted& event);
    void handle(const link_readable& event);
    void handle(const link_writable&) { changed_.notify_all(); }
    void handle(const link_load_changed&) noexcept {} // for the network
    void handle(const link_reach_changed&) noexcept {}
    void handle(const link_resumed&) noexcept {} // likewise
    void handle(const link_ended& event) { record_end(event.end); }

    /// Waits until the node has accepted the link, or the link has ended. Returns true if accepted.
    asio::awaitable<bool> accepted();

    /// Returns true if the node has accepted the link; the link may have ended since.
    bool was_accepted() const noexcept { return is_accepted_; }

    /// Returns the round trip of the link: see link_state. Precondition: the link has not ended.
    duration round_trip() const noexcept { return link_->state().round_trip(); }

    /// Ends the link. Without memory, the node notices by the silence. `cause`: of the end, for ended_by().
    void close(std::string_view reason, link_end_cause cause = link_end_cause::closed) noexcept;

    /// Returns the load that the node has told last. Precondition: the link has not ended.
    const link_load& load() const noexcept { return link_->state().peer_load(); }

    bool has_ended() const noexcept { return has_ended_; }

    /// Returns the cause of the end. Precondition: the link has ended.
    link_end_cause ended_by() const noexcept { return cause_; }
    asio::awaitable<void> ended();

    /// Return the cause of the end, for people; and true if the node has ended the link in an orderly way.
    const std::string& last_words() const noexcept { return last_words_; }
    bool is_orderly() const noexcept { return is_orderly_; }
    void add_to_last_words(std::string_view text) { last_words_ += text; }

    // The link as a stream of bytes.
    std::optional<std::size_t> write(std::span<const char> bytes);
    asio::awaitable<void> wait_writable();
    asio::awaitable<std::size_t> read(std::span<char> space);

    /// Frees the link, which must have ended, with the bytes that have not been read.
    void forget();

    /// Returns the channel and the process of this worker.
    worker_link make_link();

private:
    void record_end(link_end end) noexcept;

    node_links& links_;
    std::shared_ptr<hub_driver> driver_;
    remote_link* link_; ///< null once forgotten
    worker_id id_;
    std::shared_ptr<known_node> node_;
    std::string epoch_;
    condition_variable changed_; ///< by each event of the link
    bool is_accepted_ = false;
    bool has_ended_ = false;
    bool is_orderly_ = false;
    link_end_cause cause_{};
    std::string last_words_;
};

} // namespace skep
