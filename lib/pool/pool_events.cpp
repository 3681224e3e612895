// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "pool/pool_events.hpp"

#include "core/visible_text.hpp"

#include <boost/asio/post.hpp>

#include <utility>

namespace skep {

namespace {

const char* text_of(condition_changed::change kind) noexcept {
    switch (kind) {
    case condition_changed::change::suspended: return "suspended";
    case condition_changed::change::resumed: return "resumed";
    case condition_changed::change::restored: return "restored: it passed its health check";
    }
    return "changed";
}

/// Returns the calls that the worker has or had, as the end of a sentence; empty without calls.
std::string calls_of(const worker& subject) {
    const auto calls = subject.calls().unanswered();
    std::string text;
    for (const auto& each : calls.named) {
        text += (text.empty() ? "; its calls: '" : ", '") + visible(each.command) + "' [" +
                visible(each.correlation_id) + "]";
    }
    const auto more = calls.count - calls.named.size();
    return more == 0 ? text : text + " and " + std::to_string(more) + " more";
}

} // namespace

void pool_events::wake() {
    asio::post(parts_.context.executor, [this, weak = parts_.surroundings.owner] {
        if (const auto owner = weak.lock()) {
            parts_.limit.guard([this] { apply_all(); });
        }
    });
}

void pool_events::apply_all() {
    while (const auto event = parts_.events.next()) {
        std::visit([&](const auto& fact) { apply(*event->subject, fact); }, event->fact);
    }
    publish_availability();
    parts_.changed.notify_all();
}

/// Publishes the availability if it has changed.
void pool_events::publish_availability() {
    if (parts_.state.phase != pool_phase::running) {
        return;
    }
    const bool is_available = !parts_.supervision.is_unavailable();
    if (std::exchange(parts_.state.was_available, is_available) == is_available) {
        return;
    }
    if (is_available) {
        parts_.log(log_level::info, "the pool is available again");
        parts_.context.publish<events::pool_available>(
            [&] { return events::pool_available{parts_.config.name}; });
    } else {
        parts_.log(log_level::warning,
                   [&] { return "the pool is unavailable: " + parts_.supervision.last_cause().detail; });
        parts_.context.publish<events::pool_unavailable>([&] {
            return events::pool_unavailable{parts_.config.name, parts_.supervision.last_cause().detail};
        });
    }
}

void pool_events::apply(worker& subject, const came_up&) {
    parts_.supervision.on_up(subject); // first: the rest may lack memory
    outcomes_.output().on_up(subject);
    parts_.log(
        log_level::info,
        [&] {
            const auto pid = subject.life().process().pid;
            return to_string(subject.id()) + " ready" + (pid != 0 ? ", pid " + std::to_string(pid) : "") +
                   (subject.node().empty() ? "" : ", node " + subject.node());
        },
        subject_of(subject));
    outcomes_.on_up(subject);
    if (parts_.suspensions.is_on()) {
        subject.suspend();
    }
    if (subject.life().is_in_service()) {
        parts_.calls.enlist(subject);
    }
}

void pool_events::apply(worker& subject, const room_changed&) {
    parts_.calls.room().serve(subject);
}

void pool_events::apply(worker& subject, const went_wrong& fact) {
    const auto log_recovery = [&](log_level level, const char* event_text) {
        parts_.log(
            level,
            [&] {
                const auto calls = fact.action > recovery_action::recycle ? calls_of(subject) : std::string();
                return to_string(subject.id()) + event_text + fact.detail + calls;
            },
            subject_of(subject));
    };
    switch (fact.action) {
    case recovery_action::degrade: log_recovery(log_level::warning, " is degraded: "); break;
    case recovery_action::probe: log_recovery(log_level::info, " is probed: "); break;
    case recovery_action::recycle: parts_.supervision.replacing().recycle(subject, fact.detail); break;
    default:
        if (fact.cause == departure_cause::failed_probes) {
            parts_.supervision.on_unhealthy();
        }
        log_recovery(log_level::warning, " is replaced: ");
        break;
    }
}

void pool_events::apply(worker& subject, const used_up&) {
    parts_.supervision.replacing().recycle(
        subject, "it has answered " + std::to_string(subject.calls().completed()) + " calls");
}

void pool_events::apply(worker& subject, const condition_changed& fact) {
    const auto describe = [&] { return to_string(subject.id()) + " is " + text_of(fact.kind); };
    parts_.log(log_level::info, describe, subject_of(subject));
}

void pool_events::apply(worker& subject, const pings_missed& fact) {
    parts_.supervision.on_missed_pings(fact.count);
    parts_.context.publish<events::heartbeat_missed>([&] {
        return events::heartbeat_missed{subject.id(), fact.count, fact.total};
    });
    const auto describe = [&] {
        return to_string(subject.id()) + " missed " + std::to_string(fact.total) +
               (fact.total == 1 ? " ping so far" : " pings so far");
    };
    parts_.log(log_level::warning, describe, subject_of(subject));
}

void pool_events::apply(worker& subject, const left_service&) {
    try {
        parts_.calls.remove(subject);
    } catch (...) { // without memory to tell its callers
        parts_.supervision.on_left_service(subject);
        throw;
    }
    parts_.supervision.on_left_service(subject);
    shutdown_.fail_queue_if_hopeless();
    parts_.refuse_cycles();
}

void pool_events::apply(worker& subject, const calls_lost&) {
    const auto end = subject.describe();
    while (const auto notice = subject.calls().take_lost()) {
        parts_.calls.answers().on_call_lost(subject, end, *notice);
    }
    parts_.calls.room().serve_all();
    parts_.refuse_cycles();
    parts_.scaling.on_waiting();
    shutdown_.fail_queue_if_hopeless(); // the lost calls may be back in a queue that no worker serves
}

void pool_events::apply(worker& subject, const ended&) {
    try {
        record_end(subject);
    } catch (...) { // without memory for the record
        parts_.supervision.on_ended(subject);
        throw;
    }
    parts_.supervision.on_ended(subject);
    parts_.scaling.on_ended();
    shutdown_.fail_queue_if_hopeless();
    parts_.refuse_cycles();
    if (parts_.state.phase == pool_phase::running && parts_.supervision.is_unavailable()) {
        parts_.fail_queue(errc::unavailable, parts_.supervision.last_cause());
    }
}

void pool_events::record_end(const worker& ended_worker) {
    log_end(ended_worker);
    publish_end(ended_worker);
    auto end = exit_of(ended_worker);
    inspection_.keep(end);
    shutdown_.on_ended(end);
    parts_.hooks.after_end(parts_.surroundings.owner.lock(), std::move(end));
}

void pool_events::publish_end(const worker& ended_worker) const {
    parts_.context.publish<events::worker_terminated>([&] {
        const auto& life = ended_worker.life();
        const auto& why = *life.departure();
        return events::worker_terminated{ended_worker.id(),
                                         life.process().pid,
                                         parts_.context.now() - ended_worker.asked_for(),
                                         ended_worker.calls().completed(),
                                         why.detail,
                                         kind_of(why.cause) == departure_kind::plan,
                                         life.state(),
                                         life.process().exists ? to_string(life.process().status)
                                                               : std::string(),
                                         ended_worker.calls().unanswered(),
                                         life.is_lost() ? ended_worker.last_output() : std::string(),
                                         ended_worker.node()};
    });
}

void pool_events::log_end(const worker& ended_worker) const {
    const auto repeated_output = outcomes_.output().on_ended(ended_worker);
    const auto& life = ended_worker.life();
    const bool is_held = life.ending().last_stage() == stop_stage::lost; // held by the kernel
    const auto level = is_held ? log_level::error : life.is_lost() ? log_level::warning : log_level::info;
    const auto describe = [&] {
        std::string text = to_string(ended_worker.id()) + " " + std::string(to_string(life.state()));
        if (life.process().exists) {
            text += ", " + to_string(life.process().status);
        }
        if (life.is_lost()) {
            text += ": " + ended_worker.describe().detail;
        }
        text += repeated_output + calls_of(ended_worker);
        if (is_held) {
            text += "; pid " + std::to_string(life.process().pid) + " does not end even after SIGKILL";
        }
        const auto account = life.is_lost() ? ended_worker.fatal_error() : std::string();
        return account.empty() ? text : text + '\n' + visible(account, line_feeds::keep);
    };
    parts_.log(level, describe, subject_of(ended_worker));
}

} // namespace skep
