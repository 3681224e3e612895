// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "session/session_table.hpp"
#include <skep/session_backend.hpp>

#include <boost/asio/awaitable.hpp>

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace skep {

/// Sessions in this process, in parts with a lock each, so that threads seldom meet and only a small table
/// has to grow. An operation waits only for such a lock.
class memory_backend final : public session_backend {
public:
    static constexpr std::size_t default_parts = 16;

    /// Reserves room for about `expected` sessions.
    explicit memory_backend(std::size_t expected, std::size_t parts = default_parts);

    awaitable<session_insertion> insert(std::string id, session_data data, session::wall_time created_at,
                                        std::size_t quota) override;
    awaitable<std::optional<session>> find(std::string id, session_access access) override;
    awaitable<session_replacement> replace(session old_session, session_data data) override;
    awaitable<bool> touch(std::string id) override;
    awaitable<bool> record_worker(std::string id, worker_id worker) override;
    awaitable<bool> remove(std::string id) override;
    awaitable<session_sweep> sweep(std::size_t most) override;
    awaitable<session_usage> usage() override;
    void on_expiry(expiry_handler handler) override { expiry_handler_ = std::move(handler); }

private:
    struct alignas(64) part {
        explicit part(std::size_t expected) : table(expected) {}

        std::mutex guard;
        session_table table;
    };

    /// An expired session dropped from a locked part. Reported and destroyed after the lock is released.
    class drop {
    public:
        explicit drop(const memory_backend& backend) noexcept : backend_(backend) {}
        drop(const drop&) = delete;
        drop& operator=(const drop&) = delete;
        ~drop() {
            if (entry) {
                backend_.notify_expiry(*entry);
            }
        }

        session_entry_ptr entry;

    private:
        const memory_backend& backend_;
    };

    void notify_expiry(const session_entry& expired_entry) const {
        if (expiry_handler_) {
            expiry_handler_(expired_entry.id, expired_entry.end());
        }
    }

    part& part_of(const session_key& key) noexcept { return *parts_[key.hash % parts_.size()]; }

    /// Counts one more session. Returns false if the count has reached `quota`.
    bool acquire_place(std::size_t quota) noexcept;

    /// Returns nullopt if the quota is reached.
    std::optional<session_insertion> try_insert(const session_entry_ptr& new_entry, std::size_t quota);

    /// Removes expired sessions from one part, after a look at no more than `most`. Returns true if more may
    /// be due.
    bool sweep(part& swept_part, std::vector<session_entry_ptr>& dropped_entries, std::size_t& most);
    session_sweep sweep_now(std::size_t most);

    /// Returns `function(table, entry, now)` for the entry, or `otherwise` without an entry.
    template <class Result, class Function>
    Result with_entry(const std::string& id, Result otherwise, Function function);

    expiry_handler expiry_handler_;
    std::vector<std::unique_ptr<part>> parts_;
    std::atomic<std::size_t> count_{0};      ///< sessions in all parts
    std::atomic<std::size_t> next_swept_{0}; ///< the first part for the next sweep
};

} // namespace skep
