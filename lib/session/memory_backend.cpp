// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "session/memory_backend.hpp"

#include "async/checkpoint.hpp"
#include "core/clock.hpp"

#include <utility>

namespace skep {

namespace {

/// Sessions examined in one turn, to find a place for a new session.
constexpr std::size_t swept_per_insertion = 32;

} // namespace

memory_backend::memory_backend(std::size_t expected, std::size_t parts) {
    const auto share = expected / parts + 1;
    for (std::size_t i = 0; i < parts; ++i) {
        parts_.push_back(std::make_unique<part>(share));
    }
}

template <class Result, class Function>
Result memory_backend::with_entry(const std::string& id, Result otherwise, Function function) {
    const session_key key(id);
    auto& home = part_of(key);
    drop dropped(*this);
    const std::lock_guard lock(home.guard);
    const auto now = clock::now();
    auto* const entry = home.table.find(key, now, dropped.entry);
    if (dropped.entry) {
        --count_;
    }
    return entry == nullptr ? std::move(otherwise) : function(home.table, *entry, now);
}

bool memory_backend::acquire_place(std::size_t quota) noexcept {
    auto seen = count_.load();
    while (seen < quota) {
        if (count_.compare_exchange_weak(seen, seen + 1)) {
            return true;
        }
    }
    return false;
}

std::optional<session_insertion> memory_backend::try_insert(const session_entry_ptr& new_entry,
                                                            std::size_t quota) {
    const session_key key(new_entry->id);
    auto& home = part_of(key);
    drop dropped(*this);
    const std::lock_guard lock(home.guard);
    const auto now = clock::now();
    if (auto* const entry = home.table.find(key, now, dropped.entry)) {
        home.table.touch(*entry, now);
        return session_insertion{session_table::read(*entry, now), false, count_};
    }
    if (dropped.entry) {
        --count_;
    }
    if (!acquire_place(quota)) {
        return std::nullopt;
    }
    try {
        home.table.insert(new_entry, now);
    } catch (...) {
        --count_;
        throw;
    }
    return session_insertion{session_table::read(*new_entry, now), true, count_};
}

auto memory_backend::insert(std::string id, session_data data, session::wall_time created_at,
                            std::size_t quota) -> awaitable<session_insertion> {
    const session_entry_ptr added(new session_entry(std::move(id), std::move(data), created_at));
    for (;;) {
        if (auto done = try_insert(added, quota)) {
            co_return std::move(*done);
        }
        const auto swept = sweep_now(swept_per_insertion);
        if (swept.removed == 0 && swept.is_done) {
            co_return session_insertion{std::nullopt, false, count_};
        }
        if (swept.removed == 0) {
            co_await end_turn();
            const auto before_next = co_await asio::this_coro::cancellation_state;
            heed(before_next);
        }
    }
}

memory_backend::awaitable<std::optional<session>> memory_backend::find(std::string id,
                                                                       session_access access) {
    auto read = [access](session_table& table, session_entry& entry,
                         time_point now) -> std::optional<session> {
        if (access == session_access::touch) {
            table.touch(entry, now);
        }
        return session_table::read(entry, now);
    };
    co_return with_entry<std::optional<session>>(id, std::nullopt, read);
}

auto memory_backend::replace(session old_session, session_data data) -> awaitable<session_replacement> {
    session_entry_ptr changed(new session_entry(old_session.id(), std::move(data), old_session.created_at()));
    auto exchange = [&](session_table& table, session_entry& entry, time_point now) -> session_replacement {
        if (entry.version != old_session.version()) {
            return {};
        }
        auto& added = *changed;
        table.replace(entry, changed, now);
        return {session_table::read(added, now), false};
    };
    co_return with_entry(old_session.id(), session_replacement{std::nullopt, true}, exchange);
}

memory_backend::awaitable<bool> memory_backend::touch(std::string id) {
    auto access = [](session_table& table, session_entry& entry, time_point now) {
        table.touch(entry, now);
        return true;
    };
    co_return with_entry(id, false, access);
}

memory_backend::awaitable<bool> memory_backend::record_worker(std::string id, worker_id worker) {
    std::shared_ptr<const worker_id> former; // destroyed after the lock is released
    auto record = [&](session_table& table, session_entry& entry, time_point now) {
        if (!entry.last_worker || *entry.last_worker != worker) {
            former = std::make_shared<const worker_id>(std::move(worker));
            entry.last_worker.swap(former);
        }
        table.touch(entry, now);
        return true;
    };
    co_return with_entry(id, false, record);
}

memory_backend::awaitable<bool> memory_backend::remove(std::string id) {
    session_entry_ptr removed; // destroyed after the lock is released
    auto take_out = [&](session_table& table, session_entry& entry, time_point) {
        removed = table.remove(entry);
        --count_;
        return true;
    };
    co_return with_entry(id, false, take_out);
}

bool memory_backend::sweep(part& swept_part, std::vector<session_entry_ptr>& dropped_entries,
                           std::size_t& most) {
    const std::lock_guard lock(swept_part.guard);
    const auto now = clock::now();
    const auto before = dropped_entries.size();
    bool has_more = true;
    for (; most > 0 && has_more; --most) {
        session_entry_ptr one;
        has_more = swept_part.table.sweep_one(now, one);
        if (one) {
            dropped_entries.push_back(std::move(one));
        }
    }
    count_ -= dropped_entries.size() - before;
    return has_more;
}

session_sweep memory_backend::sweep_now(std::size_t most) {
    std::vector<session_entry_ptr> dropped; // destroyed without a lock held
    dropped.reserve(most);
    auto at = next_swept_.load();
    std::size_t done = 0;
    while (most > 0 && done < parts_.size()) {
        if (!sweep(*parts_[at], dropped, most)) {
            at = (at + 1) % parts_.size();
            ++done;
        }
    }
    next_swept_ = at;
    for (const auto& each : dropped) {
        notify_expiry(*each);
    }
    return {dropped.size(), done == parts_.size()};
}

memory_backend::awaitable<session_sweep> memory_backend::sweep(std::size_t most) {
    co_return sweep_now(most);
}

memory_backend::awaitable<session_usage> memory_backend::usage() {
    session_usage total;
    for (const auto& each : parts_) {
        const std::lock_guard lock(each->guard);
        const auto part = each->table.usage();
        total.count += part.count;
        total.expired += part.expired;
        total.memory_bytes += part.memory_bytes;
    }
    co_return total;
}

} // namespace skep
