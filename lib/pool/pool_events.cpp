// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// What a pool does about what its workers tell: the hand-over between those who have workers and those who need them.

#include "pool/pool_core.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>

namespace skep {

void pool_core::wake_for_events() {
    asio::post(context_.executor, [weak = weak_from_this()] {
        if (const auto self = weak.lock()) {
            self->guard([&] { self->apply_events(); });
        }
    });
}

void pool_core::apply_events() {
    while (const auto event = events_.next()) {
        std::visit([&](const auto& fact) { apply(*event->subject, fact); }, event->fact);
    }
    tell_availability();
    changed_.notify_all();
}

/// If that has changed.
void pool_core::tell_availability() {
    if (phase_ != pool_phase::running) {
        return;
    }
    const bool is_available = !supervisor_.is_unavailable();
    if (std::exchange(was_available_, is_available) == is_available) {
        return;
    }
    if (is_available) {
        log_(log_level::info, "the pool is available again");
        context_.tell<events::pool_available>([&] { return events::pool_available{config_.name}; });
    } else {
        log_(log_level::warning, [&] { return "the pool is unavailable: " + last_cause().detail; });
        context_.tell<events::pool_unavailable>([&] {
            return events::pool_unavailable{config_.name, last_cause().detail};
        });
    }
}

void pool_core::apply(worker& subject, const came_up&) {
    log_(
        log_level::info,
        [&] { return to_string(subject.id()) + " ready, pid " + std::to_string(subject.life().pid()); },
        subject_of(subject));
    supervisor_.on_up(subject);
    streaks_.started(subject.id().slot);
    if (suspension_.is_on()) {
        subject.suspend();
    }
    if (subject.life().is_in_service()) {
        dispatcher_.room().enlist(subject);
    }
}

void pool_core::apply(worker& subject, const room_changed&) {
    dispatcher_.room().serve(subject);
}

void pool_core::apply(worker& subject, const went_wrong& fact) {
    const auto tell = [&](log_level level, const char* what) {
        log_(
            level, [&] { return to_string(subject.id()) + what + fact.detail; }, subject_of(subject));
    };
    switch (fact.action) {
    case recovery_action::degrade: tell(log_level::warning, " is degraded: "); break;
    case recovery_action::probe: tell(log_level::info, " is probed: "); break;
    case recovery_action::recycle: supervisor_.replacing().recycle(subject, fact.detail); break;
    default:
        if (fact.kind == failure_kind::probe_failed) {
            supervisor_.on_unhealthy();
        }
        tell(log_level::warning, " is replaced: ");
        break;
    }
}

void pool_core::apply(worker& subject, const used_up&) {
    supervisor_.replacing().recycle(subject, "it has answered " +
                                                 std::to_string(subject.calls().completed()) + " calls");
}

/// Who waits for that is told of every change.
void pool_core::apply(worker& subject, const was_suspended&) {
    log_change(subject, " is suspended");
}

void pool_core::apply(worker& subject, const was_resumed&) {
    log_change(subject, " is resumed");
}

void pool_core::apply(worker& subject, const was_restored&) {
    log_change(subject, " is restored: it passed its health check");
}

void pool_core::log_change(const worker& subject, const char* what) const {
    const auto describe = [&] { return to_string(subject.id()) + what; };
    log_(log_level::info, describe, subject_of(subject));
}

void pool_core::apply(worker& subject, const pings_missed& fact) {
    supervisor_.on_missed_pings(fact.count);
    context_.tell<events::heartbeat_missed>([&] {
        return events::heartbeat_missed{subject.id(), fact.count, fact.total};
    });
    log_(
        log_level::warning,
        [&] { return to_string(subject.id()) + " missed " + std::to_string(fact.total) + " pings so far"; },
        subject_of(subject));
}

void pool_core::apply(worker& subject, const left_service&) {
    dispatcher_.remove(subject);
    supervisor_.on_left_service(subject);
    give_up_queue_if_hopeless();
    refuse_circles();
}

void pool_core::apply(worker& subject, const calls_lost&) {
    while (const auto notice = subject.calls().take_lost()) {
        dispatcher_.on_call_lost(subject, *notice);
    }
    dispatcher_.room().serve_all();
    refuse_circles();
    note_waiting();
    give_up_queue_if_hopeless(); // they may have come back to a queue that nobody serves any more
}

void pool_core::apply(worker& subject, const ended&) {
    record_end(subject);
    supervisor_.on_ended(subject);
    autoscaler_.on_ended();
    give_up_queue_if_hopeless();
    refuse_circles();
    if (phase_ == pool_phase::running && supervisor_.is_unavailable()) {
        fail_queue(errc::unavailable, last_cause());
    }
}

void pool_core::record_end(const worker& gone) {
    log_end(gone);
    tell_end(gone);
    auto end = exit_of(gone);
    inspection_.keep(end);
    if (phase_ == pool_phase::stopping) {
        report_.workers.push_back(end);
    }
    hooks_.after_end(shared_from_this(), std::move(end));
}

void pool_core::tell_end(const worker& gone) const {
    context_.tell<events::worker_terminated>([&] {
        const auto& life = gone.life();
        const auto& why = *life.departure();
        return events::worker_terminated{gone.id(),
                                         life.pid(),
                                         context_.now() - gone.asked_for(),
                                         gone.calls().completed(),
                                         why.detail,
                                         kind_of(why.cause) == departure_kind::plan,
                                         life.state(),
                                         life.has_process() ? to_string(life.status()) : std::string()};
    });
}

void pool_core::log_end(const worker& gone) const {
    const auto& life = gone.life();
    const bool is_held = life.last_stage() == stop_stage::lost; // by the kernel
    const auto level = is_held ? log_level::error : life.is_lost() ? log_level::warning : log_level::info;
    const auto describe = [&] {
        std::string text = to_string(gone.id()) + " " + std::string(to_string(life.state()));
        if (life.has_process()) {
            text += ", " + to_string(life.status());
        }
        if (life.is_lost()) {
            text += ": " + life.departure()->detail;
        }
        return is_held ? text + "; pid " + std::to_string(life.pid()) + " does not end even after SIGKILL"
                       : text;
    };
    log_(level, describe, subject_of(gone));
}

} // namespace skep
