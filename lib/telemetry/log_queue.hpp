// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/log.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace skep {

namespace asio = boost::asio;

/// Queue of a pool's log records for the user's handler. Functions posted to `executor` call the handler with
/// one record at a time. The handler may block, throw or call the pool without harm to the pool's strand.
class log_queue : public std::enable_shared_from_this<log_queue> {
public:
    /// Maximum size of the queued records in bytes. Records beyond the limit are dropped and counted, until
    /// all queued records are delivered.
    static constexpr std::size_t capacity = 16u << 20;

    /// `fallback` receives each record for which `handler` throws.
    log_queue(const asio::any_io_executor& executor, std::string pool, log_handler handler,
              log_handler fallback);

    /// Enqueues a record. Callable from any thread.
    void put(const log_record& record) noexcept;

private:
    bool add(const log_record& record) noexcept;
    void schedule() noexcept;
    void deliver() noexcept;
    bool deliver_one() noexcept;
    void hand_over(const log_record& record) const noexcept;
    std::optional<log_record> take();
    log_record omission() const;

    const asio::any_io_executor executor_;
    const std::string pool_;
    const log_handler handler_;
    const log_handler fallback_;
    std::mutex mutex_;
    std::deque<log_record> records_;
    std::size_t bytes_ = 0; ///< size of `records_`
    std::size_t dropped_ = 0;
    std::chrono::system_clock::time_point last_drop_{};
    bool is_scheduled_ = false; ///< deliver() is posted or runs
};

} // namespace skep
