// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// A pool and the store of its sessions.

#include "pool/pool_core.hpp"
#include "session/session_rules.hpp"
#include <skep/session_store.hpp>

#include <boost/asio/post.hpp>

namespace skep {

void pool_core::watch_sessions() {
    if (config_.sessions) {
        observe(*config_.sessions, weak_from_this());
    }
}

void pool_core::on_session_removed(const std::string& id) noexcept {
    forget_session_soon(id, std::nullopt);
}

/// What has used it since has begun anew.
void pool_core::on_session_expired(const std::string& id, time_point expired) noexcept {
    forget_session_soon(id, expired);
}

/// Without memory for it the session expires here by its time.
void pool_core::forget_session_soon(const std::string& id, std::optional<time_point> expired) noexcept {
    try {
        asio::post(context_.executor, [weak = weak_from_this(), id, expired] {
            if (const auto self = weak.lock()) {
                self->guard([&] { self->dispatcher_.forget_session(id, expired); });
            }
        });
    } catch (const std::exception&) {}
}

std::optional<session_binding> pool_core::session_worker(const std::string& id) {
    events_.settle();
    auto known = dispatcher_.sessions().known().binding_of(id, context_.now());
    if (known) {
        known->worker.pool = config_.name;
        const auto* const found = roster_.find_anywhere(known->worker);
        known->state = found != nullptr ? std::optional(found->life().state()) : std::nullopt;
    }
    return known;
}

void pool_core::bind_session(const std::string& id, const worker_id& to, std::optional<affinity_mode> mode) {
    require_running();
    check_session_id(id);
    auto* const found = roster_.find(to);
    if (found == nullptr || !found->life().was_up() || found->life().departure()) {
        throw roster_.no_such_worker(to);
    }
    if (!dispatcher_.bind_session(id, *found, mode.value_or(config_.affinity.mode))) {
        error_info info;
        info.detail = dispatcher_.sessions().why_too_many();
        throw failure(errc::session_quota_exceeded, std::move(info));
    }
}

} // namespace skep
