// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/nats_address.hpp"
#include "remote/nats_connection.hpp"
#include "remote/nats_inbox.hpp"
#include "remote/nats_outbox.hpp"
#include <skep/nats_options.hpp>

#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <vector>

namespace skep {

/// One connection after another, until the outbox is stopped: run() is the thread of a nats_bus. All calls of
/// cnats that may block are here.
class nats_session final : private nats_listener, public std::enable_shared_from_this<nats_session> {
public:
    nats_session(const nats_options& options, std::shared_ptr<nats_inbox> inbox);

    nats_outbox& outbox() noexcept { return outbox_; }

    void run() noexcept;

private:
    using connection_ptr = std::unique_ptr<nats_connection>;

    std::vector<nats_address> servers() const;
    connection_ptr connect();
    connection_ptr connect_to(const nats_address& server);
    connection_ptr make_connection(const nats_address& server);
    void use(connection_ptr connection);
    void carry(nats_connection& connection);
    bool perform(nats_connection& connection, const nats_task& task);
    duration next_wait() noexcept;

    // The listener, on threads of cnats.
    void on_message(nats_message message) override;
    void on_problem(const std::string& text) override;
    void on_loss() override;
    void on_lame_duck() override;

    nats_options options_;
    std::shared_ptr<nats_inbox> inbox_;
    nats_outbox outbox_;
    std::vector<nats_address> configured_servers_;
    std::vector<nats_address> announced_servers_;
    std::vector<std::future<connection_ptr>> stuck_attempts_;
    std::uint64_t last_number_ = 0; ///< of the connections
    duration wait_;                 ///< before the next attempt
};

} // namespace skep
