// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "telemetry/log_queue.hpp"

#include <skep/execute_with_retry.hpp>

#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/require.hpp>

#include <new>
#include <utility>

namespace skep {

namespace {

std::size_t size_of(const log_record& record) {
    std::size_t size = sizeof record;
    for (const auto* const part :
         {&record.pool, &record.session, &record.correlation_id, &record.logger, &record.text}) {
        size += part->size();
    }
    size += record.worker ? record.worker->pool.size() : 0;
    for (const auto& id : record.concurrent_ids) {
        size += sizeof id + id.size();
    }
    return size;
}

} // namespace

log_queue::log_queue(const asio::any_io_executor& executor, std::string pool, log_handler handler,
                     log_handler fallback)
    : executor_(asio::require(executor, asio::execution::blocking.never)),
      pool_(std::move(pool)),
      handler_(std::move(handler)),
      fallback_(std::move(fallback)) {}

void log_queue::put(const log_record& record) noexcept {
    const std::lock_guard lock(mutex_);
    if (!add(record)) {
        ++dropped_;
        last_drop_ = record.time;
    }
    schedule();
}

/// Returns false if the queue is full. Preconditions: the mutex is locked.
bool log_queue::add(const log_record& record) noexcept {
    const auto size = size_of(record);
    if (dropped_ > 0 || bytes_ + size > capacity) {
        return false;
    }
    try {
        records_.push_back(record);
    } catch (const std::bad_alloc&) {
        return false;
    }
    bytes_ += size;
    return true;
}

/// Preconditions: the mutex is locked. Out of memory, the next record schedules the delivery.
void log_queue::schedule() noexcept {
    if (is_scheduled_) {
        return;
    }
    try {
        auto turn = [self = shared_from_this()] {
            if (self) {
                self->deliver();
            }
        };
        execute_with_retry(executor_, std::move(turn));
        is_scheduled_ = true;
    } catch (const std::exception&) {}
}

/// Runs on the executor, and yields it after `most_per_turn` records.
void log_queue::deliver() noexcept {
    constexpr int most_per_turn = 64;
    int delivered = 0;
    while (delivered < most_per_turn && deliver_one()) {
        ++delivered;
    }
    if (delivered == most_per_turn) {
        const std::lock_guard lock(mutex_);
        is_scheduled_ = false;
        schedule();
    }
}

/// Returns false if the queue is empty for now.
bool log_queue::deliver_one() noexcept {
    std::optional<log_record> next;
    try {
        next = take();
    } catch (const std::bad_alloc&) {} // the note about dropped records follows later
    if (next) {
        hand_over(*next);
    }
    return next.has_value();
}

void log_queue::hand_over(const log_record& record) const noexcept {
    try {
        handler_(record);
    } catch (...) {
        try {
            fallback_(record);
        } catch (...) {} // out of memory
    }
}

/// Removes the next record. Without a record, or without memory for the note about dropped records, schedules
/// no turn.
std::optional<log_record> log_queue::take() {
    const std::lock_guard lock(mutex_);
    is_scheduled_ = false;
    std::optional<log_record> next;
    if (!records_.empty()) {
        next.emplace(std::move(records_.front()));
        records_.pop_front();
        bytes_ -= size_of(*next);
    } else if (dropped_ > 0) {
        next.emplace(omission());
        dropped_ = 0;
    }
    is_scheduled_ = next.has_value();
    return next;
}

log_record log_queue::omission() const {
    log_record note;
    note.time = last_drop_;
    note.level = log_level::warning;
    note.pool = pool_;
    note.text = std::to_string(dropped_) + " log records were dropped: config.log_handler is too slow";
    return note;
}

} // namespace skep
