// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/admin.hpp>
#include <skep/pool_manager.hpp>

#include <cstddef>

namespace gateway {

/// What all connections together may hold.
struct limits {
    std::size_t connections = 0;
    std::size_t body_bytes = 64u << 20; ///< of large bodies that have come, in whole or in part
};

/// Divides the descriptors that the process may open (RLIMIT_NOFILE) among its workers, which come first, the admin page,
/// whose connections it reduces if there are few, and the connections of the service. Throws std::runtime_error if too few
/// are left for these.
limits divide_descriptors(const skep::manager_config& pools, skep::admin_options& admin);

/// The memory of requests' bodies: one budget for all connections.
class body_budget {
public:
    explicit body_budget(std::size_t bytes) : left_(bytes) {}

    /// A connection's part of it.
    class share {
    public:
        explicit share(body_budget& of) : of_(of) {}
        ~share() { give_back(); }
        share(const share&) = delete;
        share& operator=(const share&) = delete;

        /// False if there is no room for that, and all is as before then.
        bool grow_to(std::size_t bytes);
        void give_back();
        std::size_t bytes() const { return bytes_; }

    private:
        body_budget& of_;
        std::size_t bytes_ = 0;
    };

private:
    std::size_t left_;
};

} // namespace gateway
