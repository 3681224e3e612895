// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "pool/pool_sessions.hpp"

#include "core/with_detail.hpp"
#include "session/session_rules.hpp"
#include <skep/session_store.hpp>

#include <boost/asio/post.hpp>

namespace skep {

void pool_sessions::watch() {
    if (parts_.config.sessions) {
        observe(*parts_.config.sessions,
                std::shared_ptr<session_observer>(parts_.surroundings.owner.lock(), this));
    }
}

void pool_sessions::on_session_removed(const std::string& id) noexcept {
    forget_soon(id, std::nullopt);
}

/// Keeps a session that was used after `expiry_time`: it has begun anew.
void pool_sessions::on_session_expired(const std::string& id, time_point expiry_time) noexcept {
    forget_soon(id, expiry_time);
}

/// Without memory, the session expires here by its own ttl.
void pool_sessions::forget_soon(const std::string& id, std::optional<time_point> expiry_time) noexcept {
    try {
        asio::post(parts_.context.executor, [this, weak = parts_.surroundings.owner, id, expiry_time] {
            if (const auto owner = weak.lock()) {
                parts_.limit.guard([&] { parts_.calls.forget_session(id, expiry_time); });
            }
        });
    } catch (const std::exception&) {}
}

std::optional<session_binding> pool_sessions::binding_of(const std::string& id) {
    parts_.events.catch_up();
    auto known = parts_.calls.sessions().known().binding_of(id, parts_.context.now());
    if (known) {
        known->worker.pool = parts_.config.name;
        const auto* const found = parts_.workers.find_anywhere(known->worker);
        known->state = found != nullptr ? std::optional(found->life().state()) : std::nullopt;
    }
    return known;
}

void pool_sessions::bind(const std::string& id, const worker_id& target, std::optional<affinity_mode> mode) {
    check_session_id(id);
    auto* const found = parts_.workers.find(target);
    if (found == nullptr || !found->life().was_up() || found->life().departure()) {
        throw parts_.workers.no_such_worker(target);
    }
    if (!parts_.calls.bind_session(id, *found, mode.value_or(parts_.config.affinity.mode))) {
        throw parts_.failure(errc::session_quota_exceeded,
                             with_detail(parts_.calls.sessions().why_too_many()));
    }
}

} // namespace skep
