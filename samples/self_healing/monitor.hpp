// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "load.hpp"
#include "screen.hpp"
#include <skep/skep.hpp>

#include <map>
#include <string>
#include <vector>

/// The time at which a worker was first seen out of rotation, and the reason.
struct departure {
    skep::time_point at{};
    std::string reason; ///< empty if not known
};

/// Polls the status of the pool and shows it: as a table on a terminal, else as a line per change.
class monitor {
public:
    monitor(skep::pool& workers, const steady_load& load, screen& output);

    /// Returns soon after finish().
    boost::asio::awaitable<void> run();
    void finish() noexcept { over_ = true; }

    const skep::pool_status& latest() const noexcept { return latest_; }

    /// Returns the departure of a worker that has left. Throws std::out_of_range for other workers.
    const departure& departure_of(const skep::worker_id& which) const { return departures_.at(which); }

    /// Returns true if the worker no longer serves and the pool has all of its workers again.
    bool is_replaced(const skep::worker_id& which) const noexcept;

    /// Prints a line with the elapsed time in front.
    void tell(const std::string& text);

private:
    void look(skep::pool_status now);
    void note_departures();
    void note_gone(const std::vector<skep::worker_status>& before);
    void show_changes();
    void show_table();

    skep::pool& pool_;
    const steady_load& load_;
    screen& screen_;
    skep::time_point begun_;
    skep::pool_status latest_;
    std::map<skep::worker_id, departure> departures_;
    std::map<skep::worker_id, std::string> shown_; ///< last printed state of each worker
    int looks_ = 0;
    bool over_ = false;
};
