// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/task_group.hpp"
#include "core/clock.hpp"
#include "remote/client_rules.hpp"
#include "remote/hub_driver.hpp"
#include "remote/link_greeting.hpp"
#include "remote/served_pool.hpp"
#include "runtime/frame_output.hpp"
#include "server/call_server.hpp"
#include "wire/frame.hpp"
#include <skep/node_status.hpp>
#include <skep/pool_config.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>

namespace skep {

/// One client of a node: speaks as a worker over the link, and has the client's calls run by a pool. Used on
/// the strand.
class served_link final : public std::enable_shared_from_this<served_link>, private frame_output {
public:
    /// Ends the link by end().
    using end_handler = std::function<void(std::string_view reason)>;

    /// `pool` must live until idle() has returned. `limits`: of the client's frames. `on_end`: called when
    /// the link is to end for a reason of its own.
    served_link(const strand& executor, hub_driver& driver, remote_link& accepted_link, link_wish wish,
                served_pool& pool, const limit_options& limits, end_handler on_end);

    /// Returns the client's request for the link.
    const link_wish& wish() const noexcept { return wish_; }

    /// Returns the time since the link was opened.
    duration age() const noexcept { return clock::now() - opened_at_; }

    client_view look() const;

    /// Returns the number of bytes that the client's input and the unsent answers take.
    std::size_t memory() const noexcept {
        return frames_.unread().size() + (link_ == nullptr ? 0 : link_->state().output().size());
    }

    /// Greets the client.
    void start();

    /// Bytes have arrived. Throws protocol_violation, or an exception of the client's making.
    void read();

    /// Ends the link, unless it has ended, and cancels the calls. Without memory, the client notices by the
    /// silence.
    void end(std::string_view reason) noexcept;

    /// Tells the client the load of the pool now.
    void tell_load();

    /// Waits until no call runs any more.
    asio::awaitable<void> idle();

    /// Returns true if no call runs and the client has all answers, or if the link has ended.
    bool is_settled() const noexcept {
        return link_ == nullptr || (calls() == 0 && link_->state().output().size() == 0);
    }

    std::size_t calls() const noexcept { return static_cast<std::size_t>(server_.counters().in_flight); }

private:
    work passing_on();
    asio::awaitable<boost::json::value> run(worker_call& call);
    bool write(std::span<const std::string_view> pieces) noexcept override;
    bool has_room() noexcept override { return true; }

    void handle(welcome_message welcome);
    void handle(cancel_message cancel);
    void handle(ping_message) noexcept {} // a link has signs of life of its own
    void handle(recall_message) noexcept {}
    void handle(shutdown_message) { drain(); }
    template <class Message>
    void handle(Message message) {
        server_.handle(std::move(message));
    }

    void drain();
    asio::awaitable<void> end_when_idle();
    void ask_for_end(std::string_view reason) noexcept;

    strand executor_;
    hub_driver& driver_;
    remote_link* link_; ///< null once ended
    link_wish wish_;
    time_point opened_at_ = clock::now();
    served_pool& pool_;
    end_handler on_end_;
    work commands_;
    call_server server_;
    task_group tasks_;
    client_rules rules_;
    frame_decoder frames_;
    host_message_decoder messages_;
    bool is_draining_ = false;
};

} // namespace skep
