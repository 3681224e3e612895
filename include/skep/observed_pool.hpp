// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/call_interface.hpp>
#include <skep/export.hpp>
#include <skep/load_view.hpp>
#include <skep/pool_metrics.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/json/object.hpp>

#include <string>

namespace skep {

class event_bus;

/// A pool as its observers see it, such as an admin_server or a prometheus_collector: the interface that pool
/// and remote_pool have in common.
///
/// Thread safety: as for a pool.
class SKEP_API observed_pool : public call_interface {
public:
    ~observed_pool() override;

    /// Returns the name of the pool in errors, events and metrics. The reference is valid as long as the
    /// pool.
    virtual const std::string& name() const noexcept = 0;

    /// Returns the configuration as JSON, for people. Shows no passwords and tokens, no values of
    /// environments and no arguments of programs.
    virtual boost::json::object configuration() const = 0;

    /// Returns the bus with the events of the pool.
    virtual event_bus& events() noexcept = 0;

    /// Returns the present load without a wait.
    virtual load_view load() const noexcept = 0;

    /// Returns a snapshot of all figures.
    virtual boost::asio::awaitable<pool_metrics> metrics() = 0;

protected:
    observed_pool() = default;
    observed_pool(const observed_pool&) = default;
    observed_pool(observed_pool&&) noexcept = default;
    observed_pool& operator=(const observed_pool&) = default;
    observed_pool& operator=(observed_pool&&) noexcept = default;
};

} // namespace skep
