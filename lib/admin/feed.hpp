// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "admin/pool_access.hpp"
#include "admin/sample.hpp"
#include "admin/survey.hpp"
#include "async/latch.hpp"
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

/// Samples the pools every second, keeps ten minutes of samples, and sends samples and pool events to every
/// open page, as server-sent events. Used on the admin's strand.
class feed {
public:
    feed(const strand& executor, pool_access& pools, survey& looks, bool may_change)
        : executor_(executor), pools_(pools), survey_(looks), may_change_(may_change) {}

    /// Runs until cancelled. This object lives as long as `owner`.
    asio::awaitable<void> run(std::weak_ptr<void> owner);

    /// Ends the subscription to events. Pools must not be accessed afterwards.
    void end() noexcept { listening_.reset(); }

    /// Adds a page, and sends it the past samples first.
    std::shared_ptr<feed_reader> open();

private:
    struct past {
        call_totals totals;
        std::deque<boost::json::object> samples;
    };

    void publish(const findings& results);
    void listen_while_read();
    void on_event(const event& new_event);
    boost::json::object sample(const pool_metrics& metrics, std::int64_t at_ms);
    void broadcast(const char* kind, const boost::json::object& object);

    strand executor_;
    pool_access& pools_;
    survey& survey_;
    bool may_change_;
    std::map<std::string, past> pasts_;
    std::vector<std::weak_ptr<feed_reader>> readers_;
    std::weak_ptr<void> owner_;
    std::optional<subscription> listening_; ///< empty without readers
};

} // namespace skep
