// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "worker/worker_pulse.hpp"

#include "wire/host_messages.hpp"
#include "wire/protocol_violation.hpp"
#include "worker/worker.hpp"

#include <string>

namespace skep {

bool worker_pulse::begin(time_point now) {
    if (core_.config.heartbeat.enabled) {
        monitor_.emplace(core_.config.heartbeat, now);
    }
    return core_.config.heartbeat.enabled;
}

asio::awaitable<void> worker_pulse::run() {
    latch never(core_.context.executor);
    for (;;) {
        const auto next = monitor_->next_tick();
        co_await never.wait_until(next);
        ping();
    }
}

/// Sends the next ping. Without a control channel, only an idle worker gets a ping, because a busy worker
/// could not answer. Silence proves nothing while the host does not read.
void worker_pulse::ping() {
    const auto& options = core_.config.heartbeat;
    const bool is_kept_from_answering = !core_.link->has_control() && !core_.self.calls().empty();
    if (is_kept_from_answering || core_.link->is_paused()) {
        monitor_->put_off(core_.context.now());
        return;
    }
    const auto verdict = monitor_->tick(core_.context.now());
    if (verdict.new_misses > 0) {
        missed_ += static_cast<std::uint64_t>(verdict.new_misses);
        core_.announce(pings_missed{verdict.new_misses, missed_});
    }
    if (verdict.lost && options.dependent) {
        core_.self.report(
            {departure_cause::lost_heartbeat,
             "no answer to " + std::to_string(options.misses) + (options.misses == 1 ? " ping" : " pings"),
             errc::heartbeat_lost});
        return;
    }
    send_ping(verdict.ping);
}

void worker_pulse::send_ping(std::uint64_t number) {
    append_ping(core_.link->control().outbox().text(), number);
    core_.link->control().flush();
    core_.context.publish<events::ping_sent>([&] { return events::ping_sent{core_.id}; });
}

std::uint64_t worker_pulse::ping_now() {
    const auto now = core_.context.now();
    if (!monitor_) {
        monitor_.emplace(core_.config.heartbeat, now);
    }
    awaited_pong_ = monitor_->add_ping(now);
    send_ping(awaited_pong_);
    return awaited_pong_;
}

void worker_pulse::handle(const pong_message& pong) {
    const auto last = last_pong();
    if (!monitor_ || !monitor_->answered(pong.sequence)) {
        throw protocol_violation("an unexpected pong");
    }
    core_.context.publish<events::pong_received>([&] {
        return events::pong_received{core_.id, core_.context.now() - monitor_->sent_at(pong.sequence)};
    });
    if (last < awaited_pong_) {
        core_.announce_room(); // the waiting caller checks again
    }
}

} // namespace skep
