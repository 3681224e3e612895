// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/latch.hpp"
#include "remote/link_hub.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>

namespace skep {

/// Connects to a bus. `executor`: where the bus is used, and where it calls its user.
using bus_factory = std::function<std::unique_ptr<bus>(const strand& executor, bus_user& user)>;

/// The program behind a hub_driver.
class hub_user {
public:
    virtual void on_event(link_event& event) = 0;

    /// Handles a message for a subject that is no link's. Returns false if the subject may be a link's.
    virtual bool on_message(const bus_message& message) = 0;

    /// Reports that the connection to the bus is up, or down. The links know already.
    virtual void on_connection(bool is_up) = 0;

    /// Reports the cause of a missing connection, or a refusal by the bus.
    virtual void on_problem(const std::string& text) = 0;

    /// Handles an exception: the driver can only be destroyed.
    virtual void on_failure(const std::exception_ptr& problem) noexcept = 0;

protected:
    ~hub_user() = default;
};

/// Drives a link_hub: passes on the reports of the bus, keeps the times, and sends at the end of each turn.
/// Used on the strand.
class hub_driver final : private bus_user {
public:
    /// `user` must outlive this object.
    hub_driver(const strand& executor, const bus_factory& connect, const hub_options& options,
               hub_user& user);

    bus& carrier() noexcept { return *bus_; }

    /// Returns the hub for a use in this turn. Messages leave when the turn has ended.
    link_hub& use() {
        wake_.open();
        return hub_;
    }
    const link_hub& hub() const noexcept { return hub_; }

    bool is_up() const noexcept { return bus_->is_up(); }

    /// Returns the number of connections to the bus after the first one.
    std::uint64_t reconnects() const noexcept { return reconnects_; }

    /// Returns the events that the user has not been told of, for a function of the hub that adds some.
    link_hub::events& events() noexcept { return events_; }

    /// Drives the hub until cancelled.
    asio::awaitable<void> run();

private:
    void on_message(const bus_message& message) override;
    void on_connection(bool is_up) override;
    void on_problem(const std::string& text) override;
    void tell_events();
    template <class Function>
    void guard(const Function& function) noexcept;

    hub_user& user_;
    bool has_failed_ = false;
    bool was_lost_ = false; ///< the last connection to the bus
    std::uint64_t reconnects_ = 0;
    latch wake_;
    link_hub::events events_;
    std::unique_ptr<bus> bus_;
    link_hub hub_;
};

} // namespace skep
