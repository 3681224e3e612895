// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/progress.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

namespace skep {

/// Brings the progress of one call to who waits for it: the newest report, one at a time, on his executor.
class progress_relay : public std::enable_shared_from_this<progress_relay> {
public:
    progress_relay(boost::asio::any_io_executor executor, progress_handler handler);

    /// Never waits for the handler. Without memory, the report is lost.
    void put(progress newest) noexcept;

    /// From now on the handler is called no more; returns when it is not running on another thread.
    void close() noexcept;

private:
    void deliver();
    void deliver_soon();
    std::optional<progress> take_newest() noexcept;

    const boost::asio::any_io_executor executor_;
    progress_handler handler_;
    std::mutex running_;                    ///< held while the handler runs
    std::atomic<std::thread::id> runner_{}; ///< the thread that it runs on, where it may close this
    std::atomic<bool> is_closed_ = false;
    std::mutex guard_; ///< of what follows
    std::optional<progress> newest_;
    bool is_scheduled_ = false;
};

} // namespace skep
