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

/// Delivers the progress of one call to the caller: the newest report, one at a time, on the caller's
/// executor.
class progress_relay : public std::enable_shared_from_this<progress_relay> {
public:
    progress_relay(boost::asio::any_io_executor executor, progress_handler handler);

    /// Never waits for the handler. Without memory, the report is lost.
    void put(progress newest) noexcept;

    /// Ends the delivery: the handler is not called again. Waits for a handler that runs on another thread.
    void close() noexcept;

private:
    void deliver();
    void deliver_soon();
    std::optional<progress> take_newest() noexcept;

    const boost::asio::any_io_executor executor_;
    progress_handler handler_;
    std::mutex running_;                    ///< held while the handler runs
    std::atomic<std::thread::id> runner_{}; ///< the handler's thread, so that the handler may call close()
    std::atomic<bool> is_closed_ = false;
    std::mutex guard_; ///< guards the members below
    std::optional<progress> newest_;
    bool is_scheduled_ = false;
};

} // namespace skep
