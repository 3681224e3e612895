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

/// What waits to be sent to one page.
class feed_reader {
public:
    explicit feed_reader(const strand& executor) : ready_(executor) {}

    /// One that does not read fast enough is given up.
    void put(const feed_text& text);

    /// Everything there is; waits for it. Empty if the page was given up.
    asio::awaitable<std::vector<feed_text>> take();

private:
    std::vector<feed_text> waiting_;
    std::size_t bytes_ = 0;
    bool is_given_up_ = false;
    latch ready_;
};

/// Looks at the pools every second, remembers ten minutes of samples, and tells every page that is open of what it sees and
/// what happens, as server-sent events. On the admin's strand.
class feed {
public:
    feed(const strand& executor, pool_access& pools, survey& looks, bool may_change)
        : executor_(executor), pools_(pools), survey_(looks), may_change_(may_change) {}

    /// Until it is cancelled. This lives as long as `owner`.
    asio::awaitable<void> run(std::weak_ptr<void> owner);

    /// Has nothing told to it any more. The pools are not to be touched by then.
    void end() noexcept { listening_.reset(); }

    /// A page more, which is told what has been so far first.
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
    std::optional<subscription> listening_; ///< while there are readers
};

} // namespace skep
