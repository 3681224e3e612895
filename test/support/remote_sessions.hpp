// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/clock.hpp"
#include <skep/session_backend.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace skep::test {

/// What stands for a server with keys that expire and a compare-and-swap. It keeps text.
struct key_value_server {
    struct record {
        std::string text; ///< metadata and programs, as JSON
        duration ttl;
        session::wall_time created_at;
        time_point created;
        time_point last_accessed;
        std::uint64_t version;
        std::shared_ptr<const worker_id> last_worker = nullptr;
    };

    /// Null if there is none or it has expired.
    record* find(const std::string& key);

    std::map<std::string, record> records;
    std::uint64_t last_version = 0;
    std::uint64_t expired = 0;
};

/// The sessions of a service on such a server. Each function takes a round trip.
class remote_sessions final : public session_backend {
public:
    explicit remote_sessions(std::shared_ptr<key_value_server> server) : server_(std::move(server)) {}

    awaitable<session_insertion> insert(std::string id, session_data data, session::wall_time created_at,
                                        std::size_t quota) override;
    awaitable<std::optional<session>> find(std::string id, session_access access) override;
    awaitable<session_replacement> replace(session seen, session_data data) override;
    awaitable<bool> touch(std::string id) override;
    awaitable<bool> record_worker(std::string id, worker_id worker) override;
    awaitable<bool> remove(std::string id) override;
    awaitable<session_sweep> sweep(std::size_t most) override;
    awaitable<session_usage> usage() override;

    /// Called, if set, when an operation has reached the server, before it has an effect there.
    std::function<void(const std::string& operation)> on_arrival;

private:
    awaitable<void> travel(std::string operation);

    std::shared_ptr<key_value_server> server_;
};

} // namespace skep::test
