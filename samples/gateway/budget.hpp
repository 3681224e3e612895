// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/admin.hpp>
#include <skep/pool_manager.hpp>

#include <cstddef>

namespace gateway {

/// Limits for all connections together.
struct limits {
    std::size_t connections = 0;
    std::size_t body_bytes = 64u << 20; ///< received bytes of large bodies
};

/// Divides the descriptors that the process may open (RLIMIT_NOFILE) in this order: workers, admin page,
/// connections of the service. Reduces the connections of the admin page if descriptors are scarce. Throws
/// std::runtime_error if too few are left for the service.
limits divide_descriptors(const skep::manager_config& pools, skep::admin_options& admin);

/// The memory of requests' bodies: one budget for all connections.
class body_budget {
public:
    explicit body_budget(std::size_t bytes) : left_(bytes) {}

    /// The part of one connection.
    class share {
    public:
        explicit share(body_budget& of) : of_(of) {}
        ~share() { give_back(); }
        share(const share&) = delete;
        share& operator=(const share&) = delete;

        /// Returns false, and changes nothing, if the budget has no room.
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
