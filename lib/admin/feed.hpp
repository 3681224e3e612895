// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "admin/cpu_meter.hpp"
#include "admin/event_history.hpp"
#include "admin/pool_access.hpp"
#include "admin/sample.hpp"
#include "admin/survey.hpp"
#include "async/latch.hpp"
#include "process/cpu_time.hpp"
#include <skep/events.hpp>

#include <boost/json/array.hpp>

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace skep {

using feed_text = std::shared_ptr<const std::string>;

/// The queue of messages for one page.
class feed_reader {
public:
    explicit feed_reader(const strand& executor) : ready_(executor) {}

    /// Enqueues a message. Abandons a page that reads too slowly.
    void put(const feed_text& text);

    /// Waits for messages, and returns all of them. Empty if the page was abandoned.
    asio::awaitable<std::vector<feed_text>> take();

private:
    std::vector<feed_text> waiting_;
    std::size_t bytes_ = 0;
    bool is_given_up_ = false;
    latch ready_;
};

/// Samples the pools every second, keeps ten minutes of samples, and the last events and faults. Sends
/// samples, events and faults to every open page, as server-sent events. Used on the admin's strand.
class feed {
public:
    feed(const strand& executor, pool_access& pools, survey& looks, bool may_change)
        : executor_(executor),
          pools_(pools),
          survey_(looks),
          may_change_(may_change),
          started_at_ms_(wall_clock_ms()) {}

    /// Runs until cancelled. This object lives as long as `owner`.
    asio::awaitable<void> run(std::weak_ptr<void> owner);

    /// Ends the subscription to events. Pools must not be accessed afterwards.
    void end() noexcept {
        keeping_.clear();
        listening_.clear();
    }

    /// Adds a page, and sends it first what the host is, and the past samples, events and faults.
    std::shared_ptr<feed_reader> open();

private:
    struct past {
        call_totals totals;
        cpu_meter cpu{process_cpu_time};
        std::deque<boost::json::object> samples;
    };

    static std::int64_t wall_clock_ms();

    void publish(const findings& results);
    void publish_faults();
    void keep_events();
    void listen_while_read();
    template <class... E>
    std::vector<subscription> listen(void (feed::*handler)(const event&), type_list<E...> types);
    void on_kept_event(const event& new_event);
    void on_passing_event(const event& new_event);
    boost::json::object history() const;
    boost::json::object sample(const pool_metrics& metrics, std::int64_t at_ms);
    void broadcast(const char* kind, const boost::json::object& object);

    strand executor_;
    pool_access& pools_;
    survey& survey_;
    bool may_change_;
    const std::int64_t started_at_ms_;
    event_history history_;
    std::map<std::string, past> pasts_;
    std::vector<std::weak_ptr<feed_reader>> readers_;
    std::weak_ptr<void> owner_;
    std::vector<subscription> keeping_;   ///< to the events that are kept
    std::vector<subscription> listening_; ///< to all events; empty without readers
};

} // namespace skep
